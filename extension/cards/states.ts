/** How far a run is: what its state means for how it is drawn. */

import type { RunOutcome, TaskState } from "../host/details.ts";

/** `planned`: the call is not under way yet. */
export type ShownState = TaskState | "planned";

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
