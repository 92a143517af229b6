/** How far a run is: what its state means for how it is drawn and counted. */

import type { RunOutcome, TaskState } from "../host/details.ts";
import type { Color } from "./style.ts";

/** `planned`: the call is not under way yet. */
export type ShownState = TaskState | "planned";

/** Whether a child is at work, or about to be. */
export function isActive(state: ShownState): boolean {
	return state === "running" || state === "starting" || state === "retrying";
}

/** Whether it has come to an end. */
export function isOver(state: ShownState): state is RunOutcome {
	return !isActive(state) && state !== "planned" && state !== "waiting" && state !== "queued";
}

const COUNTED: readonly [word: string, color: Color, states: readonly ShownState[]][] = [
	["done", "muted", ["completed"]],
	["failed", "error", ["failed", "idle_timeout", "hard_timeout", "killed"]],
	["interrupted", "warning", ["interrupted"]],
	["over budget", "warning", ["budget"]],
	["stopped", "warning", ["aborted"]],
	["skipped", "muted", ["skipped"]],
	["running", "muted", ["starting", "running", "retrying"]],
	["queued", "muted", ["queued"]],
	["waiting", "muted", ["waiting"]],
	["planned", "muted", ["planned"]],
];

/** How many runs are in which state. */
export function counts(states: readonly ShownState[]): { count: number; word: string; color: Color }[] {
	return COUNTED.map(([word, color, counted]) => {
		return { word, color, count: states.filter((state) => counted.includes(state)).length };
	}).filter(({ count }) => count > 0);
}
