/**
 * Tells other extensions about background runs, over `pi.events`. What each event carries is written down in
 * `docs/events.md`; it is sanitized by the addon and bounded here.
 */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { DeliveryMessage } from "../../index.js";
import { type BackgroundRun, isLive } from "../background/run.ts";
import { contained, guardedInterval } from "./guard.ts";
import { defined, picked } from "./stored.ts";

const WHAT = "telling other extensions of runs";

/** A run is told about at most this often while it works. */
const UPDATE_MS = 1_000;
/** Characters of a task or of the text that is being written. */
const MAX_TEXT_CHARACTERS = 500;
/** Characters of a result. */
const MAX_RESULT_CHARACTERS = 4_000;

/** What an event says of its run. */
const FIELDS = [
	...(["runId", "sessionKey", "label", "agent", "task", "state", "position", "status", "outcome", "error"] as const),
	...(["model", "createdMs", "startedMs", "endedMs", "usage", "lastTool", "text", "transcript"] as const),
];

export class RunEvents {
	private readonly events: ExtensionAPI["events"];
	/** What was said last of each run under way. */
	private readonly told = new Map<string, string>();
	private live: readonly BackgroundRun[] = [];
	private clock: NodeJS.Timeout | undefined;

	constructor({ events }: ExtensionAPI) {
		this.events = events;
	}

	started(runs: readonly BackgroundRun[]): void {
		for (const run of runs) this.tell("subagent:started", run);
	}

	ended(runs: readonly BackgroundRun[]): void {
		for (const run of runs) {
			this.told.delete(run.runId);
			this.emit("subagent:ended", eventOf(run));
		}
	}

	/** Takes in the runs of the session. One that nothing was told of was under way when the session was opened. */
	update(runs: readonly BackgroundRun[]): void {
		this.live = runs.filter((run) => isLive(run) && !run.isForeground);
		if (this.live.length === 0) this.stop();
		else this.clock ??= guardedInterval(WHAT, () => this.tellNews(), UPDATE_MS);
	}

	delivered({ runIds, deliveryIds, runs }: DeliveryMessage): void {
		const result = (run: BackgroundRun) => defined({ result: run.result?.slice(0, MAX_RESULT_CHARACTERS) });
		const told = runs.map((run) => ({ ...eventOf(run), ...result(run) }));
		this.emit("subagent:delivered", { runIds, deliveryIds, runs: told });
	}

	/** Says no more: the session is closed. */
	close(): void {
		this.stop();
		this.told.clear();
	}

	private stop(): void {
		clearInterval(this.clock);
		this.clock = undefined;
	}

	private tellNews(): void {
		for (const run of this.live) {
			if (this.told.get(run.runId) !== JSON.stringify(eventOf(run))) this.tell("subagent:update", run);
		}
	}

	private tell(name: "subagent:started" | "subagent:update", run: BackgroundRun): void {
		const event = eventOf(run);
		this.told.set(run.runId, JSON.stringify(event));
		this.emit(name, event);
	}

	/** An extension that fails keeps no news from the others. */
	private emit(name: string, event: object): void {
		contained(WHAT, () => this.events.emit(name, event));
	}
}

function eventOf(run: BackgroundRun): object {
	const { task, error, text } = run;
	const long = { error: error?.slice(0, MAX_TEXT_CHARACTERS), text: text?.slice(-MAX_TEXT_CHARACTERS) };
	return { ...picked(run, FIELDS), task: task.slice(0, MAX_TEXT_CHARACTERS), ...defined(long) };
}
