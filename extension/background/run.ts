/** What a run is, apart from how it is drawn. */

import type { BackgroundRun, RetryNotice, RunUsage } from "../../index.js";
import { isNumber, isText, maybe, shape } from "../host/stored.ts";

export type { BackgroundRun };

export function isLive({ state }: BackgroundRun): boolean {
	return state !== "ended";
}

/** Tells one end of a run from its other ones: it can be resumed. */
export function endOf({ key, timesResumed }: BackgroundRun): string {
	return `${key} ${timesResumed}`;
}

const isUsage = shape<RunUsage>([isNumber, "input", "output", "cacheRead", "cacheWrite", "cost", "turns"]);
const isRetry = shape<RetryNotice>(
	[isNumber, "attempt", "atMs"],
	[maybe(isNumber), "maxAttempts"],
	[maybe(isText), "error"],
);

const isRun = shape<BackgroundRun>(
	[isText, "key", "runId", "sessionKey", "session", "agent", "task", "cwd", "state"],
	[maybe(isText), "label", "model", "outcome", "status", "error", "result", "partial"],
	[maybe(isText), "transcript", "lastTool", "text", "asks", "behind"],
	[isNumber, "createdMs", "timesResumed"],
	[maybe(isNumber), "position", "startedMs", "endedMs", "archivedMs"],
	[isUsage, "usage"],
	[maybe(isRetry), "retry"],
);

/** The runs that the addon tells of, as far as this release knows how to draw them. */
export function runsOf(told: unknown): BackgroundRun[] {
	return Array.isArray(told) ? told.filter(isRun) : [];
}
