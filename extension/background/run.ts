/** What a run is, apart from how it is drawn. */

import { isNumber, isObject, isText } from "../host/stored.ts";
import type { BackgroundRun } from "./types.ts";

export function isLive({ state }: BackgroundRun): boolean {
	return state !== "ended";
}

/** Tells one end of a run from its other ones: it can be resumed. */
export function endOf({ key, timesResumed }: BackgroundRun): string {
	return `${key} ${timesResumed}`;
}

const TEXTS = ["key", "runId", "sessionKey", "session", "agent", "task", "cwd", "state"] as const;
const MAYBE_TEXTS = [
	...["label", "model", "outcome", "status", "error", "result", "partial", "transcript", "lastTool", "text"],
] as const;
const NUMBERS = ["createdMs", "timesResumed"] as const;
const MAYBE_NUMBERS = ["position", "startedMs", "endedMs", "archivedMs"] as const;
const SPENT = ["input", "output", "cacheRead", "cacheWrite", "cost", "turns"] as const;

/**
 * The runs that the addon tells of. After an update of the package the addon of before stays loaded until pi is started
 * again: what it does not say, or says otherwise, is empty.
 */
export function runsOf(told: unknown): BackgroundRun[] {
	return Array.isArray(told) ? told.filter(isObject).map(runOf) : [];
}

function runOf(told: Record<string, unknown>): BackgroundRun {
	const run: Record<string, unknown> = { ...told };
	for (const name of TEXTS) run[name] = isText(told[name]) ? told[name] : "";
	for (const name of NUMBERS) run[name] = isNumber(told[name]) ? told[name] : 0;
	for (const name of MAYBE_TEXTS) if (!isText(told[name])) delete run[name];
	for (const name of MAYBE_NUMBERS) if (!isNumber(told[name])) delete run[name];
	const usage = isObject(told.usage) ? told.usage : {};
	run.usage = Object.fromEntries(SPENT.map((name) => [name, isNumber(usage[name]) ? usage[name] : 0]));
	const { question, retry } = told;
	if (!isObject(retry) || !isNumber(retry.attempt) || !isNumber(retry.atMs)) delete run.retry;
	if (!isObject(question) || !isText(question.title)) delete run.question;
	return run as unknown as BackgroundRun;
}
