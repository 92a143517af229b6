/** `/subagents` and `/stop`. What is asked of runs the addon answers; here are only the subcommands about this pi. */

import type { BackgroundHost } from "../background/callbacks.ts";
import type { Deliveries } from "../background/deliveries.ts";
import type { Background } from "../background/registry.ts";
import type { Native } from "../host/native.ts";
import { loadAddon } from "../host/native.ts";
import { doctorOptions, surfaceOptions } from "../host/options.ts";
import type { CommandContext, CompletionItem, PiApi, PiContext } from "../host/pi.ts";
import type { Runs } from "../host/runs.ts";
import { openPanel } from "../panel/open.ts";
import { agentsReport, commandReport, doctorReport, messageReport, type Report } from "./report.ts";
import { deliver, registerReportRenderer } from "./show.ts";

/** What the commands work on. */
export interface Session {
	runs: Runs;
	background: Background;
	host: BackgroundHost;
	deliveries: Deliveries;
}

interface Subcommand {
	description: string;
	run(native: Native, pi: PiApi, context: PiContext): Promise<Report>;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
	agents: {
		description: "the agents there are, their tools, what is wrong",
		run: async (native, pi, context) => agentsReport(await native.discoverAgents(surfaceOptions(pi, context))),
	},
	doctor: {
		description: "whether sub-agents can run here, and what to do if not",
		run: async (native, pi, context) => doctorReport(await native.doctor(doctorOptions(pi, context))),
	},
};

/** What is said where there is no terminal for a panel. */
const WITHOUT_PANEL = "list";

export function registerCommands(pi: PiApi, session: Session): void {
	registerReportRenderer(pi);
	pi.registerCommand("subagents", {
		description: "Sub-agents: list, stop, log, info, send, resume, agents, doctor",
		getArgumentCompletions: (prefix) => completions(prefix, session.background),
		handler: async (args, context) => {
			const line = args.trim();
			const callbacks = session.host.callbacks(context);
			if (line === "" && context.mode === "tui") return openPanel(pi, context, session.background, callbacks);
			deliver(pi, context, await answer(line || WITHOUT_PANEL, pi, context, session));
			if (!context.hasUI) await session.deliveries.drain(() => context.waitForIdle());
		},
	});
	pi.registerCommand("stop", {
		description: "Stop this turn and every sub-agent it has started",
		getArgumentCompletions: () => null,
		handler: async (_args, context) => deliver(pi, context, await stop(context, session)),
	});
}

/** Completes a subcommand and its arguments; one that is complete gets no list, so that Enter runs it at once. */
export function completions(prefix: string, background: Background): CompletionItem[] | null {
	const own = Object.entries(SUBCOMMANDS)
		.filter(([name]) => name !== prefix && name.startsWith(prefix))
		.map(([name, { description }]) => ({ value: name, label: name, description }));
	const known = new Set(own.map(({ value }) => value));
	const others = (background.session?.complete(prefix) ?? []).filter(({ value }) => !known.has(value));
	const items = [...others, ...own];
	return items.length > 0 ? items : null;
}

async function answer(line: string, pi: PiApi, context: PiContext, session: Session): Promise<Report> {
	const { native, problem } = loadAddon();
	if (!native) return messageReport("error", problem);
	try {
		const subcommand = Object.hasOwn(SUBCOMMANDS, line) ? SUBCOMMANDS[line] : undefined;
		if (subcommand) return await subcommand.run(native, pi, context);
		const view = session.background.session;
		if (!view) return messageReport("error", "No session is open");
		return commandReport(await view.command(line, session.host.callbacks(context)));
	} catch (error) {
		return messageReport("error", `/subagents ${line} failed: ${error instanceof Error ? error.message : error}`);
	}
}

async function stop(context: CommandContext, { runs, background }: Session): Promise<Report> {
	const isBusy = !context.isIdle();
	const foreground = runs.count;
	if (isBusy) context.abort();
	runs.abort();
	const stopped = (await background.session?.stopAll()) ?? 0;
	const parts = [
		...(isBusy ? ["this turn"] : []),
		...(foreground > 0 ? [count(foreground, "sub-agent call")] : []),
		...(stopped > 0 ? [count(stopped, "background run")] : []),
	];
	if (parts.length === 0) return messageReport("info", "Nothing is running");
	return messageReport("ok", `Stopped ${parts.join(", ")}`);
}

function count(number: number, what: string): string {
	return number === 1 ? `1 ${what}` : `${number} ${what}s`;
}
