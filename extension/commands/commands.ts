/**
 * Registers `/subagents`, `/stop` and the shortcuts for questions, the background and interrupted runs. The addon answers
 * the commands.
 */

import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { KeyId } from "@earendil-works/pi-tui";
import type { CommandReport, DeliveryMessage } from "../../native.js";
import type { Background } from "../background/registry.ts";
import { hostCallbacks } from "../host/callbacks.ts";
import { messageOf, reportFailure } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import { placeOptions } from "../host/options.ts";
import { openPanel } from "../panel/panel.ts";
import type { Questions } from "../questions/questions.ts";
import { SHORTCUT } from "../questions/terminal.ts";
import { cannotRunScripts, liveScripts, onWorkflowEnd, startWorkflow, stopWorkflows } from "../workflows/workflows.ts";
import { deliver, messageReport, type Report, registerReportRenderer } from "./report.ts";

/** The session state that the commands use. */
export interface Session {
	background: Background;
	questions: Questions;
	/** Waits for the runs that a command started. Without a user, pi exits right after a command. */
	drain(context: ExtensionCommandContext): Promise<void>;
}

/** The subcommand that runs if there is no terminal for a panel. */
const WITHOUT_PANEL = "list";

export function registerCommands(pi: ExtensionAPI, session: Session): void {
	const { background, questions, drain } = session;
	const answer = (runId: string) => void questions.open(`answer ${runId}`);
	registerReportRenderer(pi);
	pi.registerCommand("subagents", {
		description:
			"Sub-agents: list, run, workflow, background, stop, log, info, send, resume, diff, apply, discard, undo, answer, agents, doctor",
		getArgumentCompletions(prefix) {
			const items = background.session?.complete(prefix) ?? [];
			// A complete command gets no list, so that Enter runs it at once.
			return items.length > 0 ? items : null;
		},
		async handler(args, context) {
			const line = args.trim();
			let isPanelOpen = false;
			// The panel covers the line of a question. Runs that it resumes keep these callbacks after it has closed.
			const callbacks = hostCallbacks(context, questions, undefined, () => isPanelOpen);
			const start = ({ workflow }: Pick<CommandReport, "workflow">) => {
				if (!workflow) return undefined;
				if (!cannotRunScripts) return startWorkflow(workflow, placeOptions(pi, context));
				deliver(pi, context, messageReport("error", cannotRunScripts));
				return undefined;
			};
			const stop = ({ stops = [] }: Pick<CommandReport, "stops">) => stopWorkflows(stops);
			const follow = (report: CommandReport) => {
				reportFailure("stopping workflows", stop(report));
				void start(report);
			};
			const panel = async (opened?: string) => {
				isPanelOpen = true;
				await openPanel(context, background, callbacks, { answer, follow }, opened).finally(() => {
					isPanelOpen = false;
				});
			};
			if (line === "" && context.mode === "tui") return panel();
			// The only subcommand about this terminal instead of runs.
			const opened = questions.open(line);
			if (opened?.problem) deliver(pi, context, messageReport("info", opened.problem));
			if (opened) return;
			if (/^workflow\b/.test(line) && cannotRunScripts) {
				return deliver(pi, context, messageReport("error", cannotRunScripts));
			}
			const report = await answerOf(pi, context, session, line || WITHOUT_PANEL);
			// The end of a script is a message in every mode, and a card is only in the terminal.
			const isSaid = report.isOnCard && (context.mode === "tui" || report.stops);
			if (!isSaid) deliver(pi, context, report);
			await stop(report);
			if (report.watch && context.mode === "tui") await panel(report.watch);
			const ended = start(report);
			// Without a user, pi exits right after a command.
			if (!context.hasUI) await ended;
			if (!context.hasUI) await drain(context);
		},
	});
	pi.registerCommand("stop", {
		description: "Stop this turn and every sub-agent it has started",
		getArgumentCompletions: () => null,
		async handler(_args, context) {
			const isBusy = !context.isIdle();
			// Stop the runs before the turn ends: it ends the waiting calls too, and the report counts their runs.
			const report = background.session?.stopAll(isBusy);
			reportFailure("stopping workflows", stopWorkflows());
			if (isBusy) context.abort();
			deliver(pi, context, (await report) ?? notOpen());
		},
	});
	pi.registerShortcut(SHORTCUT, {
		description: "Answer a sub-agent's question",
		handler(context) {
			const { problem } = questions.open("answer") ?? {};
			if (problem) context.ui.notify(problem, "info");
		},
	});
}

/** Reports the ends of workflows in this session from now on. */
export function reportWorkflows(pi: ExtensionAPI, context: ExtensionContext, background: Background): void {
	onWorkflowEnd(async (end) => {
		const report = await background.session?.workflowEnded(end);
		if (report) deliver(pi, context, report);
	});
}

/**
 * Continues the workflows of the project that ended with an earlier pi, if the user has allowed the present text of their
 * scripts. Names the others, with the command that continues them.
 */
export async function continueWorkflows(
	pi: ExtensionAPI,
	context: ExtensionContext,
	background: Background,
): Promise<void> {
	if (cannotRunScripts) return;
	const found = (await background.session?.interruptedWorkflows(liveScripts())) ?? [];
	for (const { text, script } of found) {
		if (script) void startWorkflow(script, placeOptions(pi, context));
		deliver(pi, context, messageReport("info", text));
	}
}

/** Registers the key that moves waiting calls to the background, like `/subagents background`. */
export function registerBackgroundKey(pi: ExtensionAPI, session: Session, key: KeyId): void {
	pi.registerShortcut(key, {
		description: "Move waiting sub-agents to the background",
		handler: async (context) => deliver(pi, context, await answerOf(pi, context, session, "background")),
	});
}

/** Returns the addon's answer to a command. */
async function answerOf(
	pi: ExtensionAPI,
	context: ExtensionContext,
	{ background, questions }: Session,
	line: string,
): Promise<Report & Pick<CommandReport, "watch" | "isOnCard" | "workflow" | "stops">> {
	let isAwaited = true;
	const callbacks = hostCallbacks(context, questions, undefined, () => isAwaited);
	const answer = background.session?.command(line, callbacks, placeOptions(pi, context), liveScripts());
	const failed = (error: unknown) => messageReport("error", `/subagents ${line} failed: ${messageOf(error)}`);
	const report = await answer?.catch(failed);
	isAwaited = false;
	return report ?? notOpen();
}

function notOpen(): Report {
	return messageReport("error", loadAddon().problem ?? "No session is open");
}

const KEY = "alt+r";

/** The interrupted runs in one message. */
type Interrupted = NonNullable<DeliveryMessage["restart"]>;

/** Registers the key. Returns a function that handles the interrupted runs of a message. */
export function registerRestarts(pi: ExtensionAPI, session: Session) {
	let offered: readonly string[] = [];

	async function resume(keys: readonly string[], context: ExtensionContext): Promise<void> {
		const callbacks = hostCallbacks(context, session.questions);
		const failed = (error: unknown) => messageReport("error", `Resuming interrupted runs failed: ${messageOf(error)}`);
		const report = await session.background.session?.restartRuns([...keys], callbacks).catch(failed);
		if (report) deliver(pi, context, report);
	}

	pi.registerShortcut(KEY, {
		description: "Resume interrupted sub-agents",
		async handler(context) {
			const keys = offered;
			offered = [];
			if (keys.length > 0) await resume(keys, context);
			else context.ui.notify("No interrupted run was offered. `/subagents resume` continues an ended run", "info");
		},
	});

	return ({ mode, keys }: Interrupted, context: ExtensionContext): void => {
		if (mode === "resume") return void resume(keys, context);
		offered = [...offered, ...keys];
		const runs = offered.length === 1 ? "1 run was" : `${offered.length} runs were`;
		if (context.hasUI)
			context.ui.notify(
				`${runs} interrupted by a restart: ${KEY} resumes ${offered.length === 1 ? "it" : "them"}`,
				"info",
			);
	};
}
