/** What the panel does with a run: the commands of `/subagents`, by one key each. */

import type { CommandReport, HostCallbacks } from "../../index.js";
import { type BackgroundRun, isLive } from "../background/run.ts";
import { messageReport, type Report, reportRows } from "../commands/report.ts";
import { messageOf, unwaited } from "../host/guard.ts";
import { paint } from "../ui/paint.ts";
import { clip, oneLine } from "../ui/text.ts";
import type { Hint } from "./foot.ts";
import type { Action } from "./keys.ts";
import { type Page, reportView } from "./report.ts";
import { drawingOf, type PanelHost } from "./view.ts";

/** How much of a conversation `log` shows: the most that the command takes. */
const LOG_LIMIT = 200;
const LONGEST_NAME = 40;

export type RunActions = ReturnType<typeof runActions>;

/** `answer` opens the question of a run. */
export function runActions(host: PanelHost, callbacks: HostCallbacks, answer?: (runId: string) => void) {
	const { foot, runs, session } = host;
	/** A report is on its way. */
	let isAsking = false;
	/** What a command says, or why it says nothing. */
	const command = async ({ key }: BackgroundRun, name: string, rest: string): Promise<CommandReport> => {
		try {
			return await session.command([name, key, rest].filter(Boolean).join(" "), callbacks);
		} catch (error) {
			return { ...messageReport("error", `${name} failed: ${messageOf(error)}`), isError: true };
		}
	};
	/** Does it, and says in a line what came of it. */
	const act = async (run: BackgroundRun, name: string, rest = "") => {
		foot.say(`${name} ${quoted(run)} …`, "muted");
		const report = await command(run, name, rest);
		foot.say(summary(report), report.isError ? "error" : "success");
		runs.ask(true);
	};
	/** Asks for a report, and opens it. */
	const show = async (run: BackgroundRun, name: string, rest = "") => {
		// One at a time: keys can come faster than answers.
		if (isAsking) return;
		isAsking = true;
		foot.say(`${name} …`, "muted");
		const ask = async () => pageOf(await command(run, name, rest));
		const page = await ask();
		isAsking = false;
		host.open(reportView(host, page, ask, name === "log"));
	};
	const asks = (run: BackgroundRun) => run.asks !== undefined && answer !== undefined;
	const table: Partial<Record<Action, (run: BackgroundRun, name: string) => Promise<void> | void>> = {
		answer: (run) => {
			if (asks(run)) answer?.(run.runId);
		},
		stop: (run, name) => {
			const question = `again stops ${name} and everything it started, any other key leaves it`;
			if (isLive(run)) foot.askAgain("stop", question, () => unwaited("the panel", act(run, "stop")));
			else foot.say(`${name} has ended already`, "warning");
		},
		background: (run) => act(run, "background"),
		resume: (run, name) =>
			isLive(run) ? foot.say(`${name} has not ended: a message reaches it`, "warning") : act(run, "resume"),
		message: (run, name) =>
			foot.askText(`${isLive(run) ? "Message to" : "Continue"} ${name}`, (text) =>
				unwaited("the panel", act(run, "send", text)),
			),
		info: (run) => show(run, "info"),
		diff: (run) => show(run, "diff"),
		log: (run) => show(run, "log", `${LOG_LIMIT} tools`),
	};
	return {
		hints: (run: BackgroundRun): Hint[] => [
			...(asks(run) ? [["answer", "question"] as const] : []),
			isLive(run) ? ["stop", "stop"] : ["resume", "resume"],
			...(isLive(run) && run.isForeground ? [["background", "background"] as const] : []),
			...(!isLive(run) && run.isIsolated ? [["diff", "diff"] as const] : []),
			["message", "message"],
			["info", "info"],
			["log", "log"],
		],
		/** Does what a key asks for; says whether there is something of that name. */
		press(action: Action, run: BackgroundRun): boolean {
			const done = table[action]?.(run, quoted(run));
			if (done) unwaited("the panel", done);
			return action in table;
		},
	};
}

/** A report below the head of the panel, which has its title. */
function pageOf({ title, exact, ...report }: Report): Page {
	return { title, draw: (pen) => paint(reportRows({ ...report, ...exact, title: "" }) ?? [], pen) };
}

function quoted(run: BackgroundRun): string {
	return `“${clip(drawingOf(run).name, LONGEST_NAME)}”`;
}

/** The first thing that a report says. */
function summary({ title, lines: [first] }: CommandReport): string {
	return oneLine(first ? [first.name, first.text].filter(Boolean).join(" ") : title);
}
