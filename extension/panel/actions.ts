/** The panel's actions on a run. Each key runs a command of `/subagents`. */

import type { CommandReport, HostCallbacks } from "../../index.js";
import { isLive, type RunRecord } from "../background/run.ts";
import { messageReport, type Report, reportLines } from "../commands/report.ts";
import { messageOf, reportFailure } from "../host/guard.ts";
import { clip, oneLine } from "../ui/text.ts";
import type { Hint } from "./foot.ts";
import type { Action } from "./keys.ts";
import { type Page, reportView } from "./report.ts";
import { drawingOf, type PanelHost } from "./view.ts";

/** The number of conversation entries that `log` shows, which is the maximum of the command. */
const LOG_LIMIT = 200;
const MAX_NAME_LENGTH = 40;

export type RunActions = ReturnType<typeof runActions>;

/** Returns the actions of the panel. `answer` opens the question of a run. */
export function runActions(host: PanelHost, callbacks: HostCallbacks, answer?: (runId: string) => void) {
	const { foot, runs, session } = host;
	/** True while a report is requested. */
	let isAsking = false;
	/** Returns a command's report. An error becomes the report's text. */
	const command = async ({ key }: RunRecord, name: string, rest: string): Promise<CommandReport> => {
		try {
			return await session.command([name, key, rest].filter(Boolean).join(" "), callbacks);
		} catch (error) {
			return { ...messageReport("error", `${name} failed: ${messageOf(error)}`), isError: true };
		}
	};
	/** Runs a command and shows its result on the last line. */
	const act = async (run: RunRecord, name: string, rest = "") => {
		foot.show(`${name} ${quoted(run)} …`, "muted");
		const report = await command(run, name, rest);
		foot.show(summary(report), report.isError ? "error" : "success");
		runs.ask(true);
	};
	/** Runs a command and opens its report. */
	const show = async (run: RunRecord, name: string, rest = "") => {
		// One at a time: keys can arrive faster than answers.
		if (isAsking) return;
		isAsking = true;
		foot.show(`${name} …`, "muted");
		const ask = async () => pageOf(await command(run, name, rest));
		const page = await ask();
		isAsking = false;
		host.open(reportView(host, page, ask, name === "log"));
	};
	const canAnswer = (run: RunRecord) => run.pendingQuestion !== undefined && answer !== undefined;
	const table: Partial<Record<Action, (run: RunRecord, name: string) => Promise<void> | void>> = {
		answer: (run) => {
			if (canAnswer(run)) answer?.(run.runId);
		},
		stop: (run, name) => {
			const question = `again stops ${name} and everything it started; any other key cancels`;
			if (isLive(run)) foot.askAgain("stop", question, () => reportFailure("the panel", act(run, "stop")));
			else foot.show(`${name} has already ended`, "warning");
		},
		background: (run) => act(run, "background"),
		resume: (run, name) =>
			isLive(run) ? foot.show(`${name} has not ended. Send it a message instead`, "warning") : act(run, "resume"),
		message: (run, name) =>
			foot.askText(`${isLive(run) ? "Message to" : "Continue"} ${name}`, (text) =>
				reportFailure("the panel", act(run, "send", text)),
			),
		info: (run) => show(run, "info"),
		diff: (run) => show(run, "diff"),
		log: (run) => show(run, "log", `${LOG_LIMIT} tools`),
	};
	return {
		hints: (run: RunRecord): Hint[] => [
			...(canAnswer(run) ? [["answer", "question"] as const] : []),
			isLive(run) ? ["stop", "stop"] : ["resume", "resume"],
			...(isLive(run) && run.isForeground ? [["background", "background"] as const] : []),
			...(!isLive(run) && run.isIsolated ? [["diff", "diff"] as const] : []),
			["message", "message"],
			["info", "info"],
			["log", "log"],
		],
		/** Does the action of a key. Returns false if there is no such action. */
		press(action: Action, run: RunRecord): boolean {
			const done = table[action]?.(run, quoted(run));
			if (done) reportFailure("the panel", done);
			return action in table;
		},
	};
}

/** Returns a report as a page. The head of the panel shows its title. */
function pageOf({ title, exact, ...report }: Report): Page {
	return { title, draw: (pen) => reportLines({ ...report, ...exact, title: "" }, pen) ?? [] };
}

function quoted(run: RunRecord): string {
	return `“${clip(drawingOf(run)?.name ?? "", MAX_NAME_LENGTH)}”`;
}

/** Returns the first line of a report, or its title. */
function summary({ title, lines: [first] }: CommandReport): string {
	return oneLine(first ? [first.name, first.text].filter(Boolean).join(" ") : title);
}
