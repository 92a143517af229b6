/** The state of one run, without its drawing. */

import type { RetryNotice, RunRecord, RunUsage } from "../../index.js";
import { isNumber, isText, optional, shape } from "../host/stored.ts";

export type { RunRecord };

export function isLive({ state }: RunRecord): boolean {
	return state !== "ended";
}

/** Identifies one end of a run. A run has several ends if it was resumed. */
export function endOf({ key, timesResumed }: RunRecord): string {
	return `${key} ${timesResumed}`;
}

const isUsage = shape<RunUsage>([isNumber, "input", "output", "cacheRead", "cacheWrite", "cost", "turns"]);
const isRetry = shape<RetryNotice>(
	[isNumber, "attempt", "atMs"],
	[optional(isNumber), "maxAttempts"],
	[optional(isText), "error"],
);

const isRun = shape<RunRecord>(
	[isText, "key", "runId", "sessionKey", "session", "agent", "task", "cwd", "state"],
	[optional(isText), "label", "model", "outcome", "status", "error", "result", "partial"],
	[optional(isText), "transcript", "lastTool", "text", "pendingQuestion", "blockedBy"],
	[isNumber, "createdMs", "timesResumed"],
	[optional(isNumber), "position", "startedMs", "endedMs", "archivedMs"],
	[isUsage, "usage"],
	[optional(isRetry), "retry"],
);

/** Returns the runs that the addon sent, without the runs that this release cannot draw. */
export function runsOf(runs: unknown): RunRecord[] {
	return Array.isArray(runs) ? runs.filter(isRun) : [];
}
