/** `/subagents agents` and `/subagents doctor`. */

import { deliver, registerReportRenderer } from "./deliver.ts";
import { doctorOptions, surfaceOptions } from "./host.ts";
import type { Native } from "./native.ts";
import { loadAddon } from "./native.ts";
import type { CompletionItem, PiApi, PiContext } from "./pi.ts";
import { agentsReport, doctorReport, messageReport, type Report } from "./report.ts";

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

export function registerCommands(pi: PiApi): void {
	registerReportRenderer(pi);
	pi.registerCommand("subagents", {
		description: "Sub-agents: agents, doctor",
		getArgumentCompletions: completions,
		handler: async (args, context) => deliver(pi, context, await answer(args, pi, context)),
	});
}

/** Completes a subcommand; one that is complete gets no list, so that Enter runs it at once. */
export function completions(prefix: string): CompletionItem[] | null {
	const items = Object.entries(SUBCOMMANDS)
		.filter(([name]) => name !== prefix && name.startsWith(prefix))
		.map(([name, { description }]) => ({ value: name, label: name, description }));
	return items.length > 0 ? items : null;
}

async function answer(args: string, pi: PiApi, context: PiContext): Promise<Report> {
	const name = args.trim();
	const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
	if (!subcommand) return usage(name);
	const { native, problem } = loadAddon();
	if (!native) return messageReport("error", problem);
	try {
		return await subcommand.run(native, pi, context);
	} catch (error) {
		return messageReport("error", `/subagents ${name} failed: ${error instanceof Error ? error.message : error}`);
	}
}

function usage(name: string): Report {
	const said = name === "" ? "Say what to show" : `Unknown subcommand \`${name}\``;
	const list = Object.entries(SUBCOMMANDS).map(([known, { description }]) => `/subagents ${known}: ${description}`);
	return messageReport(name === "" ? "info" : "error", `${said}:`, list);
}
