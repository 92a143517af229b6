/** How a person comes to the questions: a key, `/subagents answer`, and what shows them in each mode of pi. */

import type { Background } from "../background/registry.ts";
import { contained } from "../host/guard.ts";
import type { PiApi, PiContext } from "../host/pi.ts";
import { Dialogs } from "./dialogs.ts";
import type { Questions } from "./questions.ts";
import { SHORTCUT, TerminalQuestions } from "./terminal.ts";

export const NO_QUESTION = "No sub-agent waits for an answer";

export function registerQuestions(pi: PiApi, questions: Questions): void {
	const openOr = (context: PiContext) => {
		if (!questions.open()) context.ui.notify(NO_QUESTION, "info");
	};
	pi.registerShortcut(SHORTCUT, {
		description: "Answer a sub-agent's question",
		handler: (context) => contained("opening a question", () => openOr(context), undefined),
	});
}

/** Asks the questions of the session that has been opened. */
export function askIn(context: PiContext, questions: Questions, background: Background): void {
	if (!context.hasUI) return;
	const label = (runId: string) => background.runs.find((run) => run.runId === runId)?.label;
	const presenter = context.mode === "tui" ? new TerminalQuestions(context.ui, label) : new Dialogs(context);
	questions.attach(context.sessionManager.getSessionId(), presenter);
}

/** `/subagents answer`: the question that waits longest, one by its place in the row, or that of a run. */
export function openQuestion(which: string, questions: Questions, background: Background): boolean {
	if (which === "") return questions.open();
	const waiting = questions.list();
	const number = /^[1-9]\d?$/.test(which) ? waiting[Number(which) - 1] : undefined;
	const runs = new Set(background.runs.filter(({ label }) => label === which).map(({ runId }) => runId));
	const isOf = ({ runId, agent }: (typeof waiting)[number]) =>
		runId.startsWith(which) || runs.has(runId) || agent === which;
	const found = number ?? waiting.find(isOf);
	return found !== undefined && questions.open(found.id);
}
