/** One mark and one word for each state of a run. The mark alone has to do where there is no colour. */

import type { RetryNotice, SingleResult } from "../../index.js";
import type { RunOutcome, Standing, TaskState } from "../host/details.ts";
import { duration } from "../ui/figures.ts";
import type { Color } from "../ui/style.ts";
import { oneLine } from "../ui/text.ts";

export interface Mark {
	text: string;
	color: Color;
}

/** `planned`: the call is not under way yet. */
export type ShownState = TaskState | "planned";

const FAILED: Mark = { text: "✗", color: "error" };

const MARKS: Readonly<Record<ShownState, Mark>> = {
	planned: { text: "○", color: "muted" },
	waiting: { text: "○", color: "dim" },
	queued: { text: "○", color: "muted" },
	starting: { text: "◐", color: "accent" },
	running: { text: "●", color: "accent" },
	retrying: { text: "↻", color: "warning" },
	completed: { text: "✓", color: "success" },
	failed: FAILED,
	idle_timeout: FAILED,
	hard_timeout: FAILED,
	killed: FAILED,
	// What somebody asked for is no alarm.
	budget: { text: "⚠", color: "warning" },
	aborted: { text: "⚠", color: "warning" },
	interrupted: { text: "⚠", color: "warning" },
	skipped: { text: "–", color: "muted" },
};

export const WARNING: Mark = { text: "⚠", color: "warning" };

/** A stored session can name a state that only a later release knows. */
export function mark(state: ShownState): Mark {
	return Object.hasOwn(MARKS, state) ? MARKS[state] : WARNING;
}

/** Whether a child is at work, or about to be. */
export function isActive(state: ShownState): boolean {
	return state === "running" || state === "starting" || state === "retrying";
}

/** Whether nothing has been started for it yet. */
export function isAhead(state: ShownState): boolean {
	return state === "planned" || state === "waiting" || state === "queued";
}

/** Whether it has come to an end. */
export function isOver(state: ShownState): state is RunOutcome {
	return !isActive(state) && !isAhead(state);
}

/** Whether something went wrong with it; an abort is what somebody wanted. */
export function isTrouble(state: ShownState): boolean {
	return isOver(state) && state !== "completed" && state !== "aborted" && state !== "skipped";
}

function retryWords({ attempt, maxAttempts, atMs, error = "" }: RetryNotice): string {
	const count = maxAttempts === undefined ? `retry ${attempt}` : `retry ${attempt} of ${maxAttempts}`;
	const inMs = atMs - Date.now();
	const when = inMs > 0 ? ` in ${duration(Math.ceil(inMs / 1_000) * 1_000, true)}` : "";
	return count + when + (error === "" ? "" : ` · ${oneLine(error)}`);
}

/** What a run without an outcome waits for or is about to do; nothing for one that simply runs. */
export function standingWords(
	state: ShownState,
	{ position, heldForMs, attempt = 1, retry }: Standing & { retry?: RetryNotice },
): string | undefined {
	if (retry && isActive(state)) return retryWords(retry);
	switch (state) {
		case "queued":
			// Its place says nothing before then: those behind may overtake it.
			if (heldForMs) return `rate limit, ${duration(heldForMs, true)} left`;
			return position === undefined ? "queued" : `queued #${position}`;
		case "retrying":
			return `retrying, attempt ${attempt}`;
		case "running":
			return attempt > 1 ? `attempt ${attempt}` : undefined;
		case "waiting":
		case "starting":
			return state;
		default:
			return undefined;
	}
}

/** How a run ended, unless it simply did what it should. */
export function outcomeWords({
	outcome,
	stopReason,
	signal,
	attempts,
}: Pick<SingleResult, "outcome" | "stopReason" | "signal"> & { attempts?: number }): string | undefined {
	if (outcome === "completed") return stopReason === "length" ? "cut at the output limit" : undefined;
	if (signal) return `killed by ${oneLine(signal)}`;
	if (outcome === "aborted" && attempts === 0) return "aborted before it started";
	return outcome === "budget" ? "over budget" : oneLine(outcome.replace("_", " "));
}
