/** The tasks of a call as a card shows them, whether they are planned, under way or over. */

import type { DisplayItem, SingleResult } from "../../index.js";
import type { TaskProgress } from "../host/details.ts";
import { isObject, isText } from "../host/stored.ts";
import type { Pen } from "../ui/pen.ts";
import {
	duration,
	isActive,
	isOver,
	type Mark,
	markOfState,
	noteOfState,
	type ShownState,
	type Standing,
} from "../ui/words.ts";

/** A shorter silence is no news; one that is longer than the second may mean trouble. */
const SILENCE_SHOWN_MS = 2_000;
const SILENCE_ODD_MS = 10_000;

/** What a call asks for. Its arguments may still be arriving: then anything can be missing. */
export interface PlannedTask {
	agent: string;
	task: string;
}

export type Mode = "single" | "parallel" | "chain";

/** The tasks of a call in input order; the steps of a chain are numbered and come one after the other. */
export interface TaskList {
	mode: Mode;
	views: readonly TaskView[];
}

export interface TaskView extends PlannedTask, Partial<Pick<TaskProgress, "retry" | "usage" | "model" | "error">> {
	state: ShownState;
	mark: Mark;
	/** How it ended, or what it waits for; nothing for one that works or has done what it should. */
	note: string;
	/** Absent when the task has not started. */
	elapsedMs?: number | undefined;
	/** Since the child was last heard of; absent when nothing is to be heard. */
	silentMs?: number;
	/** The last text so far, or the answer. */
	text: string;
	items: readonly DisplayItem[];
	result?: SingleResult;
}

/** What a call asks for, as far as it can be told of arguments that are cut, or anything. */
export function planOf(mode: Mode, args: unknown): PlannedTask[] {
	const { tasks, steps } = isObject(args) ? args : {};
	const list = mode === "single" ? [args] : mode === "chain" ? steps : tasks;
	return (Array.isArray(list) ? list : []).map((entry: unknown) => {
		const { agent, task } = isObject(entry) ? entry : {};
		return { agent: isText(agent) ? agent : "", task: isText(task) ? task : "" };
	});
}

export function planned(task: PlannedTask): TaskView {
	return { ...task, ...shown({ state: "planned" }), state: "planned", text: "", items: [] };
}

/** A task of which an update told `age` milliseconds ago. */
export function underWay(progress: TaskProgress, plan: PlannedTask | undefined, age: number): TaskView {
	const { state, position, heldForMs, attempt, retry, elapsedMs, sinceEventMs, usage, turnCount } = progress;
	const held = heldForMs === undefined ? undefined : Math.max(0, heldForMs - age);
	return {
		...progress,
		...shown({ state, position, heldForMs: held, attempt: isOver(state) ? undefined : attempt, retry }),
		agent: progress.agent || (plan?.agent ?? ""),
		task: plan?.task ?? "",
		elapsedMs: state === "waiting" || state === "queued" ? undefined : elapsedMs + (isActive(state) ? age : 0),
		silentMs: state === "running" && !retry ? sinceEventMs + age : 0,
		usage: { ...usage, turns: turnCount },
		text: progress.text ?? "",
		items: progress.displayItems ?? [],
	};
}

export function ended(result: SingleResult, plan: PlannedTask | undefined): TaskView {
	const { outcome, stopReason, signal, attempts, durationMs, output = "", displayItems = [] } = result;
	return {
		...result,
		...shown({ state: outcome, stopReason, signal, attempt: attempts }),
		task: plan?.task || result.task,
		state: outcome,
		// What was never started took no time.
		elapsedMs: attempts > 0 || durationMs > 0 ? durationMs : undefined,
		...{ text: output, items: displayItems, result },
	};
}

function shown(standing: Standing): Pick<TaskView, "mark" | "note"> {
	return { mark: markOfState(standing), note: noteOfState(standing) };
}

/** How long nothing has been heard of a child: `odd` when that may mean trouble. */
export function silence({ silentMs = 0 }: TaskView, which: "any" | "odd", pen: Pen): string {
	if (silentMs > SILENCE_ODD_MS) return pen.fg("warning", `silent for ${duration(silentMs, true)}`);
	return which === "odd" || silentMs < SILENCE_SHOWN_MS ? "" : pen.fg("dim", `${duration(silentMs, true)} ago`);
}

/** The model of all that have one, when it is the same. */
export function commonModel(views: readonly TaskView[]): string | undefined {
	const models = new Set(views.flatMap(({ model }) => model ?? []));
	return models.size === 1 ? [...models][0] : undefined;
}
