/** The tasks of a call as a card shows them, whether they are planned, under way or over. */

import type { DisplayItem, RunUsage, SingleResult } from "../../index.js";
import type { Standing, TaskProgress } from "../host/details.ts";
import { isActive, type ShownState } from "./marks.ts";
import { type CardState, sinceUpdateMs } from "./state.ts";

/** What a call asks for. Its arguments may still be arriving: then anything can be missing. */
export interface PlannedTask {
	agent: string;
	task: string;
}

export interface TaskView extends Standing, PlannedTask {
	state: ShownState;
	/** Absent when the task has not started. */
	elapsedMs: number | undefined;
	/** Since the child was last heard of; 0 when nothing is to be heard. */
	silentMs: number;
	usage: RunUsage | undefined;
	model: string | undefined;
	error: string | undefined;
	/** The last text so far, or the answer. */
	text: string;
	items: readonly DisplayItem[];
	result: SingleResult | undefined;
}

/** What a malformed or unfinished call asks for, as far as it can be told. */
export function plannedTasks(list: unknown): PlannedTask[] {
	if (!Array.isArray(list)) return [];
	return list.map((entry: unknown) => plannedTask(entry));
}

export function plannedTask(entry: unknown): PlannedTask {
	const { agent, task } = typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : {};
	return { agent: typeof agent === "string" ? agent : "", task: typeof task === "string" ? task : "" };
}

/** The tasks in input order. */
export function taskViews(plan: readonly PlannedTask[], state: CardState): TaskView[] {
	if (state.phase === "done") {
		return (state.details?.results ?? []).map((result, index) => ended(result, plan[index]));
	}
	const age = sinceUpdateMs(state);
	if (state.tasks) return state.tasks.map((task, index) => underWay(task, plan[index], age));
	return plan.map((task) => ({ ...NOTHING_YET, ...task, state: "planned" }));
}

const NOTHING_YET = {
	elapsedMs: undefined,
	silentMs: 0,
	usage: undefined,
	model: undefined,
	error: undefined,
	text: "",
	items: [],
	result: undefined,
};

function underWay(progress: TaskProgress, plan: PlannedTask | undefined, age: number): TaskView {
	const { state, elapsedMs, sinceEventMs, usage, turnCount, heldForMs, displayItems } = progress;
	const active = isActive(state);
	return {
		...progress,
		...(heldForMs !== undefined && { heldForMs: Math.max(0, heldForMs - age) }),
		task: plan?.task ?? "",
		elapsedMs: state === "waiting" || state === "queued" ? undefined : elapsedMs + (active ? age : 0),
		silentMs: state === "running" ? sinceEventMs + age : 0,
		usage: { ...usage, turns: turnCount },
		model: progress.model,
		error: progress.error,
		text: progress.text ?? "",
		items: displayItems ?? [],
		result: undefined,
	};
}

function ended(result: SingleResult, plan: PlannedTask | undefined): TaskView {
	const { agent, outcome, attempts, durationMs, usage, model, error, output, displayItems } = result;
	return {
		agent,
		task: plan?.task || result.task,
		state: outcome,
		// What was never started took no time.
		elapsedMs: attempts > 0 || durationMs > 0 ? durationMs : undefined,
		silentMs: 0,
		usage,
		model,
		error,
		text: output ?? "",
		items: displayItems ?? [],
		result,
	};
}
