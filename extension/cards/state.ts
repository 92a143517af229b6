/** What a live card remembers between two redraws, and the clock that redraws it while nothing arrives. */

import type { SingleResult } from "../../index.js";
import type { CardDetails, LiveRun, TaskProgress } from "../host/details.ts";
import type { ToolRenderContext } from "../host/pi.ts";

/** How often the clock looks whether the card shows an old second. */
const TICK_MS = 250;

export type Phase = "pending" | "running" | "done";

export interface CardState {
	phase: Phase;
	/** When the call started by the clock of this process, in ms. */
	startedAt?: number;
	/** When its result came; absent when this process did not see it run. */
	endedAt?: number;
	/** When the newest update came. */
	updatedAt?: number;
	/** When the child was last heard of. */
	heardAt?: number;
	/** The second that the card shows. */
	drawnSecond?: number;
	details?: CardDetails;
	/** The newest of each task, complete: updates leave out what has not changed. */
	tasks?: readonly TaskProgress[];
	failed?: boolean;
	tick?: NodeJS.Timeout;
}

/** Cards whose clock is running, so that a session's end can stop them. */
const ticking = new Set<CardState>();

/** The state of the card that `context` draws. */
export function cardState(context: ToolRenderContext): CardState {
	const state = context.state as CardState;
	state.phase ??= "pending";
	return state;
}

/** Takes in what pi knows about the call itself. */
export function noteCall(state: CardState, context: ToolRenderContext): void {
	if (!context.isPartial) return;
	if (!context.executionStarted || state.phase === "done") return;
	state.phase = "running";
	state.startedAt ??= Date.now();
	state.drawnSecond = second(state);
	startClock(state, context);
}

/** Takes in an update or the final result. The same one is drawn many times and counts once. */
export function noteResult(state: CardState, details: CardDetails | undefined, context: ToolRenderContext): void {
	const now = Date.now();
	const fresh = details !== state.details;
	if (details) state.details = details;
	if (!context.isPartial) {
		if (state.phase === "running") state.endedAt = now;
		state.phase = "done";
		state.failed = context.isError;
		delete state.tasks;
		stopClock(state);
		return;
	}
	if (!fresh || !details) return;
	state.updatedAt = now;
	if (Array.isArray(details.tasks)) {
		state.tasks = details.tasks.map((task, index) => complete(task, state.tasks?.[index]));
	} else if (details.streaming) {
		state.startedAt = now - details.streaming.elapsedMs;
		state.heardAt = now - details.streaming.sinceEventMs;
	}
	state.drawnSecond = second(state);
}

function complete(task: TaskProgress, before: TaskProgress | undefined): TaskProgress {
	const text = task.text ?? before?.text;
	const displayItems = task.displayItems ?? before?.displayItems;
	return { ...task, ...(text !== undefined && { text }), ...(displayItems && { displayItems }) };
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

export function silentMs(state: CardState): number {
	return state.phase === "running" && state.heardAt !== undefined ? Date.now() - state.heardAt : 0;
}

/** How old the newest update is. */
export function sinceUpdateMs(state: CardState): number {
	return state.updatedAt === undefined ? 0 : Date.now() - state.updatedAt;
}

export function finalResult(state: CardState): SingleResult | undefined {
	return state.details?.results[0];
}

export function streaming(state: CardState): LiveRun | undefined {
	return state.details?.streaming;
}

function second(state: CardState): number {
	return Math.floor((elapsedMs(state) ?? 0) / 1_000);
}

function startClock(state: CardState, context: ToolRenderContext): void {
	if (state.tick) return;
	state.tick = setInterval(() => {
		// Updates redraw too; the clock adds a redraw only for a second that none of them has shown.
		if (second(state) === state.drawnSecond) return;
		state.drawnSecond = second(state);
		context.invalidate();
	}, TICK_MS);
	state.tick.unref();
	ticking.add(state);
}

function stopClock(state: CardState): void {
	clearInterval(state.tick);
	delete state.tick;
	ticking.delete(state);
}

/** Stops the clocks of cards that will see no result any more. */
export function stopClocks(): void {
	for (const state of ticking) stopClock(state);
}
