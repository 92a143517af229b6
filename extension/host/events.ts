/**
 * Tells other extensions about background runs, over `pi.events`. What each event carries is written down in
 * `docs/events.md`; it is sanitized by the addon and bounded here.
 */

import type { DeliveryMessage } from "../../index.js";
import type { BackgroundRun } from "../background/run.ts";
import { guardedTimeout } from "./guard.ts";
import type { PiApi } from "./pi.ts";
import { defined, picked } from "./stored.ts";

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
	private readonly events: PiApi["events"];
	/** What was said last of each run under way. */
	private readonly told = new Map<string, { at: number; what: string }>();
	private newest: readonly BackgroundRun[] = [];
	private timer: NodeJS.Timeout | undefined;

	constructor({ events }: PiApi) {
		this.events = events;
	}

	started(runs: readonly BackgroundRun[]): void {
		for (const run of runs) this.tell("subagent:started", run);
	}

	ended(runs: readonly BackgroundRun[]): void {
		for (const run of runs) {
			this.told.delete(run.runId);
			this.events.emit("subagent:ended", eventOf(run));
		}
	}

	/** Tells what is new of the runs under way, of each when it is due. */
	update(runs: readonly BackgroundRun[]): void {
		this.newest = runs;
		const now = performance.now();
		let waits = false;
		for (const run of runs) {
			const last = this.told.get(run.runId);
			if (run.state === "ended" || last?.what === JSON.stringify(eventOf(run))) continue;
			// One that is not known yet was under way when the session was opened.
			if (!last || now - last.at >= UPDATE_MS) this.tell("subagent:update", run);
			else waits = true;
		}
		if (waits && !this.timer) {
			const update = () => {
				this.timer = undefined;
				this.update(this.newest);
			};
			this.timer = guardedTimeout("telling other extensions of runs", update, UPDATE_MS);
		}
	}

	delivered({ runIds, deliveryIds, runs }: DeliveryMessage): void {
		const result = (run: BackgroundRun) => defined({ result: run.result?.slice(0, MAX_RESULT_CHARACTERS) });
		const told = runs.map((run) => ({ ...eventOf(run), ...result(run) }));
		this.events.emit("subagent:delivered", { runIds, deliveryIds, runs: told });
	}

	/** Says no more: the session is closed. */
	close(): void {
		clearTimeout(this.timer);
		this.timer = undefined;
		this.newest = [];
		this.told.clear();
	}

	private tell(name: "subagent:started" | "subagent:update", run: BackgroundRun): void {
		const event = eventOf(run);
		this.told.set(run.runId, { at: performance.now(), what: JSON.stringify(event) });
		this.events.emit(name, event);
	}
}

function eventOf(run: BackgroundRun): object {
	const { task, error, text } = run;
	const long = { error: error?.slice(0, MAX_TEXT_CHARACTERS), text: text?.slice(-MAX_TEXT_CHARACTERS) };
	return { ...picked(run, FIELDS), task: task.slice(0, MAX_TEXT_CHARACTERS), ...defined(long) };
}
