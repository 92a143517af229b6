/**
 * Monitors background runs. pi's footer shows their number and cost, and `~/subagent-journal.tsv` gets a line for each
 * ended run. Load it next to pi-subagent-native with `pi -e examples/subagent-events`, or copy it to
 * `~/.pi/agent/extensions/`.
 */

import { appendFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The fields of an event used here. `docs/events.md` lists all of them. */
interface RunEvent {
	runId: string;
	label?: string;
	agent: string;
	status?: string;
	startedMs?: number;
	endedMs?: number;
	usage: { cost: number };
	transcript?: string;
}

/** The part of pi's extension API used here. */
interface Pi {
	on(event: "session_start" | "session_shutdown", handler: (event: unknown, context: Context) => void): unknown;
	events: { on(channel: string, handler: (data: unknown) => void): () => void };
}

interface Context {
	ui: { setStatus(key: string, text: string | undefined): void };
}

const KEY = "subagent-events";

export default function subagentEvents(pi: Pi): void {
	const live = new Map<string, RunEvent>();
	let spent = 0;
	let context: Context | undefined;
	pi.on("session_start", (_event, current) => {
		context = current;
		live.clear();
		spent = 0;
	});
	// Listeners on the event bus outlive the session, so they must not use its context.
	pi.on("session_shutdown", () => {
		context = undefined;
	});

	const show = () => {
		const cost = [...live.values()].reduce((sum, { usage }) => sum + usage.cost, spent);
		const text = `${live.size} in the background, $${cost.toFixed(2)}`;
		context?.ui.setStatus(KEY, live.size > 0 ? text : undefined);
	};
	const note = (data: unknown) => {
		const run = data as RunEvent;
		live.set(run.runId, run);
		show();
	};
	pi.events.on("subagent:started", note);
	pi.events.on("subagent:update", note);
	pi.events.on("subagent:ended", (data) => {
		const run = data as RunEvent;
		live.delete(run.runId);
		spent += run.usage.cost;
		show();
		appendFileSync(join(homedir(), "subagent-journal.tsv"), `${journalLine(run)}\n`);
	});
}

function journalLine({ runId, label, agent, status, startedMs, endedMs, usage, transcript }: RunEvent): string {
	const ended = endedMs === undefined ? "" : new Date(endedMs).toISOString();
	const seconds = startedMs === undefined || endedMs === undefined ? "" : String((endedMs - startedMs) / 1_000);
	return [ended, runId, label ?? "", agent, status ?? "", seconds, usage.cost.toFixed(4), transcript ?? ""].join("\t");
}
