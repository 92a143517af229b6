/** What the panel does with a run: the commands of `/subagents`, by one key each. */

import type { CommandReport, HostCallbacks } from "../../index.js";
import { type BackgroundRun, isLive } from "../background/run.ts";
import { messageReport, type Report, reportLines } from "../commands/report.ts";
import { messageOf, unwaited } from "../host/guard.ts";
import { Pen } from "../ui/pen.ts";
import { nameOf } from "../ui/run-words.ts";
import { clip, oneLine } from "../ui/text.ts";
import type { Action } from "./keys.ts";
import { type Page, reportView } from "./report.ts";
import type { Hint, PanelHost } from "./view.ts";

/** How much of a conversation `log` shows: the most that the command takes. */
const LOG_LIMIT = 200;
const LONGEST_NAME = 40;

export type RunActions = ReturnType<typeof runActions>;

/** `answer` opens the question of a run. */
export function runActions(host: PanelHost, callbacks: HostCallbacks, answer?: (runId: string) => void) {
	const { foot, runs, session } = host;
	/** A report is on its way. */
	let isAsking = false;
	const asks = ({ question }: BackgroundRun) => question !== undefined && answer !== undefined;
	const command = async ({ key }: BackgroundRun, name: string, rest: string): Promise<CommandReport> =>
		await session.command([name, key, rest].filter(Boolean).join(" "), callbacks);
	/** Does it, and says in a line what came of it. */
	const act = (run: BackgroundRun, name: string, rest = "") => {
		foot.say(`${name} ${quoted(run)} …`, "muted");
		const done = command(run, name, rest).then(
			(report) => foot.say(summary(report), report.isError ? "error" : "success"),
			(error: unknown) => foot.say(failure(name, error), "error"),
		);
		unwaited(
			"the panel",
			done.then(() => runs.ask(true)),
		);
	};
	/** Asks for a report, and opens it. */
	const show = (run: BackgroundRun, name: string, rest = "") => {
		// One at a time: keys can come faster than answers.
		if (isAsking) return;
		isAsking = true;
		foot.say(`${name} …`, "muted");
		const ask = async () => {
			try {
				return pageOf(await command(run, name, rest));
			} catch (error) {
				return pageOf(messageReport("error", failure(name, error)));
			}
		};
		const shown = ask().then((page) => {
			isAsking = false;
			host.open(reportView(host, page, ask, name === "log"));
		});
		unwaited("the panel", shown);
	};
	return {
		hints: (run: BackgroundRun): Hint[] => [
			...(asks(run) ? [{ action: "answer", does: "question" } as const] : []),
			isLive(run) ? { action: "stop", does: "stop" } : { action: "resume", does: "resume" },
			{ action: "message", does: "message" },
			{ action: "info", does: "info" },
			{ action: "log", does: "log" },
		],
		/** Does what a key asks for; says whether there is something of that name. */
		press(action: Action, run: BackgroundRun): boolean {
			const name = quoted(run);
			const isAtWork = isLive(run);
			const question = `again stops ${name} and everything it started, any other key leaves it`;
			if (action === "answer") {
				if (asks(run)) answer?.(run.runId);
			} else if (action === "stop") {
				if (isAtWork) foot.askAgain("stop", question, () => act(run, "stop"));
				else foot.say(`${name} has ended already`, "warning");
			} else if (action === "resume") {
				if (isAtWork) foot.say(`${name} has not ended: a message reaches it`, "warning");
				else act(run, "resume");
			} else if (action === "message") {
				foot.askText(`${isAtWork ? "Message to" : "Continue"} ${name}`, (text) => act(run, "send", text));
			} else if (action === "log") show(run, "log", `${LOG_LIMIT} tools`);
			else if (action === "info") show(run, "info");
			else return false;
			return true;
		},
	};
}

/** A report below the head of the panel, which has its title. */
function pageOf({ title, lines }: Report): Page {
	return { title, lines: (columns, style) => reportLines(lines, new Pen(style.theme, columns)) };
}

function quoted(run: BackgroundRun): string {
	return `“${clip(nameOf(run), LONGEST_NAME)}”`;
}

/** The first thing that a report says. */
function summary({ title, lines: [first] }: CommandReport): string {
	return oneLine(first ? [first.name, first.text].filter(Boolean).join(" ") : title);
}

function failure(command: string, error: unknown): string {
	return oneLine(`${command} failed: ${messageOf(error)}`);
}
