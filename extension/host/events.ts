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

export function runEvents({ events }: ExtensionAPI) {
	/** What was said last of each run under way. */
	const told = new Map<string, string>();
	let live: readonly BackgroundRun[] = [];
	let clock: NodeJS.Timeout | undefined;

	/** An extension that fails keeps no news from the others. */
	function emit(name: string, event: object): void {
		contained(WHAT, () => events.emit(name, event));
	}

	function tell(name: "subagent:started" | "subagent:update", run: BackgroundRun): void {
		const event = eventOf(run);
		told.set(run.runId, JSON.stringify(event));
		emit(name, event);
	}

	function tellNews(): void {
		for (const run of live) if (told.get(run.runId) !== JSON.stringify(eventOf(run))) tell("subagent:update", run);
	}

	/** Takes in the runs of the session. One that nothing was told of was under way when the session was opened. */
	function update(runs: readonly BackgroundRun[]): void {
		live = runs.filter((run) => isLive(run) && !run.isForeground);
		if (live.length > 0) {
			clock ??= guardedInterval(WHAT, tellNews, UPDATE_MS);
			return;
		}
		clearInterval(clock);
		clock = undefined;
	}

	return {
		started(runs: readonly BackgroundRun[]) {
			for (const run of runs) tell("subagent:started", run);
		},
		update,
		ended(runs: readonly BackgroundRun[]) {
			for (const run of runs) {
				told.delete(run.runId);
				emit("subagent:ended", eventOf(run));
			}
		},
		delivered({ runIds, deliveryIds, runs }: DeliveryMessage) {
			const result = (run: BackgroundRun) => defined({ result: run.result?.slice(0, MAX_RESULT_CHARACTERS) });
			const whole = runs.map((run) => ({ ...eventOf(run), ...result(run) }));
			emit("subagent:delivered", { runIds, deliveryIds, runs: whole });
		},
		/** Says no more: the session is closed. */
		close() {
			update([]);
			told.clear();
		},
	};
}

function eventOf(run: BackgroundRun): object {
	const { task, error, text } = run;
	const long = { error: error?.slice(0, MAX_TEXT_CHARACTERS), text: text?.slice(-MAX_TEXT_CHARACTERS) };
	return { ...picked(run, FIELDS), task: task.slice(0, MAX_TEXT_CHARACTERS), ...defined(long) };
}
