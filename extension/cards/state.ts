/** What a live card remembers between two redraws, and the clock that redraws it while nothing arrives. */

import type { RunDetails, TaskProgress } from "../../index.js";
import { guardedTimeout } from "../host/guard.ts";
import type { ToolRenderContext } from "../host/pi.ts";
import { picked } from "../host/stored.ts";

const SECOND_MS = 1_000;
/** What stands in the place of a text that has not begun. */
const PLACEHOLDER = /^\((?:running|queued at place \d+|\d+ of \d+ tasks are over)\.\.\.\)$/;

export type Phase = "pending" | "running" | "done";

export interface CardState {
	phase: Phase;
	/** When the call started by the clock of this process, in ms. */
	startedAt?: number;
	/** When its result came; absent when this process did not see it run. */
	endedAt?: number;
	/** When the newest update came. */
	updatedAt?: number;
	details?: RunDetails;
	/** The newest of each task, complete: updates leave out what has not changed. */
	tasks?: readonly TaskProgress[];
	failed?: boolean;
	tick?: NodeJS.Timeout;
}

/** Cards that are to be drawn again, so that a session's end can stop them. */
const ticking = new Set<CardState>();

/** The state of the card that `context` draws, with what pi knows about the call itself. */
export function noteCall(context: ToolRenderContext): CardState {
	const state = context.state as CardState;
	state.phase ??= "pending";
	if (!context.isPartial || !context.executionStarted || state.phase === "done") return state;
	state.phase = "running";
	state.startedAt ??= Date.now();
	return state;
}

/** The same with an update or the final result. One is drawn many times and counts once. */
export function noteResult(details: RunDetails | undefined, text: string, context: ToolRenderContext): CardState {
	const state = context.state as CardState;
	state.phase ??= "pending";
	const now = Date.now();
	const isFresh = details !== state.details;
	if (details) state.details = details;
	if (!context.isPartial) {
		if (state.phase === "running") state.endedAt = now;
		state.phase = "done";
		state.failed = context.isError;
		delete state.tasks;
		stopClock(state);
	} else if (isFresh && details) {
		const { streaming, tasks } = details;
		state.updatedAt = now;
		if (tasks) state.tasks = tasks.map((task, index) => complete(task, state.tasks?.[index]));
		if (!streaming) return state;
		state.startedAt = now - streaming.elapsedMs;
		state.tasks = [{ ...streaming, agent: "", text: PLACEHOLDER.test(text) ? "" : text }];
	}
	return state;
}

function complete(task: TaskProgress, before: Partial<TaskProgress> = {}): TaskProgress {
	return { ...picked(before, ["text", "displayItems"]), ...task };
}

/** How long the call has taken; of a run that is over, what its result says. */
export function elapsedMs(state: CardState): number | undefined {
	const { startedAt, details } = state;
	if (state.phase !== "done") return startedAt === undefined ? undefined : Date.now() - startedAt;
	const results = details?.results ?? [];
	if (details?.mode === "single" || results.length === 0) return results[0]?.durationMs;
	if (startedAt !== undefined && state.endedAt !== undefined) return state.endedAt - startedAt;
	// Of a call from a resumed session only this is known: steps follow each other, tasks overlap.
	return details?.mode === "chain" ? results.reduce((sum, { durationMs }) => sum + durationMs, 0) : undefined;
}

/** How old the newest update is. */
export function sinceUpdateMs({ updatedAt }: CardState): number {
	return updatedAt === undefined ? 0 : Date.now() - updatedAt;
}

/**
 * The second that a card shows. Asked for whenever it is drawn: only then, and while its run goes on, it is drawn again
 * when the next second begins. So the clock of a card that pi has dropped ends by itself.
 */
export function shownSecond(state: CardState, context: ToolRenderContext): number {
	const elapsed = elapsedMs(state) ?? 0;
	if (state.phase === "running") {
		clearTimeout(state.tick);
		const redraw = () => {
			ticking.delete(state);
			context.invalidate();
		};
		state.tick = guardedTimeout("a card's clock", redraw, SECOND_MS - (elapsed % SECOND_MS));
		ticking.add(state);
	}
	return Math.floor(elapsed / SECOND_MS);
}

function stopClock(state: CardState): void {
	clearTimeout(state.tick);
	delete state.tick;
	ticking.delete(state);
}

/** Stops the clocks of cards that will see no result any more. */
export function stopClocks(): void {
	for (const state of ticking) stopClock(state);
}
