/** A call as its card shows it at the moment: what was asked, and how far that is. */

import type { CallError } from "../../index.js";
import { isObject } from "../host/stored.ts";
import type { Pen } from "../ui/pen.ts";
import { duration } from "../ui/words.ts";
import { type Extent, expandedRows } from "./frame.ts";
import { failureLines } from "./result.ts";
import type { TaskList } from "./rows.ts";
import { type CardState, elapsedMs, type Phase, sinceUpdateMs } from "./state.ts";
import { ended, type PlannedTask, planned, plannedTask, plannedTasks, underWay } from "./tasks.ts";

/** Code of an answer that came in part. */
export const TRUNCATED = "SUBAGENT_OUTPUT_TRUNCATED";

export type Mode = "single" | "parallel" | "chain";

/** What is known of a call before it runs, and its text: the live text, the answer, or what went wrong. */
export interface Call extends Extent {
	mode: Mode;
	plan: readonly PlannedTask[];
	text: string;
}

export interface Card extends Call, TaskList {
	phase: Phase;
	/** Updates tell how it goes. */
	isLive: boolean;
	failed: boolean;
	error: CallError | undefined;
	elapsedMs: number | undefined;
	/** Lines that it may have while its run goes on and it is expanded. */
	rows: number;
}

/** What the arguments of a call ask for; they may be cut, or anything. */
export function planOf(mode: Mode, args: unknown): PlannedTask[] {
	const { tasks, steps } = isObject(args) ? args : {};
	return mode === "single" ? [plannedTask(args)] : plannedTasks(mode === "chain" ? steps : tasks);
}

export function cardOf(call: Call, state: CardState): Card {
	const { phase, details, tasks, failed = false } = state;
	const { plan, mode } = call;
	const age = sinceUpdateMs(state);
	const views =
		phase === "done"
			? (details?.results ?? []).map((result, index) => ended(result, plan[index]))
			: (tasks?.map((task, index) => underWay(task, plan[index], age)) ?? plan.map(planned));
	return {
		...{ ...call, views, hasSteps: mode === "chain", phase, failed, error: details?.error },
		...{ isLive: phase !== "done" && tasks !== undefined, elapsedMs: elapsedMs(state) },
		rows: expandedRows(process.stdout.rows),
	};
}

/** How long the call has taken, or took. */
export function clock({ elapsedMs, phase }: Card, pen: Pen): string {
	return elapsedMs === undefined ? "" : pen.fg("muted", duration(elapsedMs, phase !== "done"));
}

/** A call that has come to nothing. */
export function refusal(card: Card, pen: Pen): string[] {
	return failureLines(card.error ?? { message: card.text }, undefined, card, pen);
}
