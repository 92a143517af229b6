/** `/subagents`, `/stop` and the key of questions. The addon answers the commands. */

import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { Deliveries } from "../background/deliveries.ts";
import type { Background } from "../background/registry.ts";
import { messageOf } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import { doctorOptions } from "../host/options.ts";
import { hostCallbacks } from "../host/refresh.ts";
import { abortRuns } from "../host/runs.ts";
import { openPanel } from "../panel/screen.ts";
import type { Questions } from "../questions/questions.ts";
import { SHORTCUT } from "../questions/terminal.ts";
import { commandReport, deliver, messageReport, type Report, registerReportRenderer } from "./report.ts";

/** What the commands work on. */
export interface Session {
	background: Background;
	deliveries: Deliveries;
	questions: Questions;
}

/** The one subcommand that is about this terminal, and not about runs. */
const ANSWER = /^answer(?:$|\s+)"?(.*?)"?$/;

const NO_QUESTION = "No sub-agent waits for an answer";

/** What is said where there is no terminal for a panel. */
const WITHOUT_PANEL = "list";

export function registerCommands(pi: ExtensionAPI, session: Session): void {
	registerReportRenderer(pi);
	pi.registerCommand("subagents", {
		description: "Sub-agents: list, stop, log, info, send, resume, answer, agents, doctor",
		getArgumentCompletions: (prefix) => completions(prefix, session),
		handler: async (args, context) => {
			const line = args.trim();
			const callbacks = hostCallbacks(context, session.questions);
			const open = (which: string) => openQuestion(which, session.questions, session.background);
			if (line === "" && context.mode === "tui") return openPanel(context, session.background, callbacks, open);
			const [, which] = ANSWER.exec(line) ?? [];
			if (which !== undefined) {
				if (!open(which)) deliver(pi, context, messageReport("info", NO_QUESTION));
				return;
			}
			deliver(pi, context, await answer(line || WITHOUT_PANEL, pi, context, session));
			if (!context.hasUI) await session.deliveries.drain(() => context.waitForIdle());
		},
	});
	pi.registerCommand("stop", {
		description: "Stop this turn and every sub-agent it has started",
		getArgumentCompletions: () => null,
		handler: async (_args, context) => deliver(pi, context, await stop(context, session)),
	});
	pi.registerShortcut(SHORTCUT, {
		description: "Answer a sub-agent's question",
		handler: (context) => {
			if (!session.questions.open()) context.ui.notify(NO_QUESTION, "info");
		},
	});
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

/** Completes a subcommand and its arguments; one that is complete gets no list, so that Enter runs it at once. */
export function completions(prefix: string, { background }: Pick<Session, "background">): AutocompleteItem[] | null {
	const items = background.session?.complete(prefix) ?? [];
	return items.length > 0 ? items : null;
}

async function answer(line: string, pi: ExtensionAPI, context: ExtensionContext, session: Session): Promise<Report> {
	const view = session.background.session;
	if (!view) return notOpen();
	try {
		return commandReport(
			await view.command(line, hostCallbacks(context, session.questions), doctorOptions(pi, context)),
		);
	} catch (error) {
		return messageReport("error", `/subagents ${line} failed: ${messageOf(error)}`);
	}
}

async function stop(context: ExtensionCommandContext, { background }: Session): Promise<Report> {
	const isBusy = !context.isIdle();
	// Before the calls are aborted: the report counts their runs.
	const report = background.session?.stopAll(isBusy);
	if (isBusy) context.abort();
	abortRuns(context.sessionManager.getSessionId());
	return report ? commandReport(await report) : notOpen();
}

function notOpen(): Report {
	return messageReport("error", loadAddon().problem ?? "No session is open");
}
