/** The tasks of a call as a card shows them, whether they are planned, under way or over. */

import type { DisplayItem, SingleResult } from "../../index.js";
import type { TaskProgress } from "../host/details.ts";
import { isObject } from "../host/stored.ts";
import { isActive, isOver, type ShownState } from "../ui/states.ts";
import type { Style } from "../ui/style.ts";
import { duration, type Mark, markOfState, noteOfState, type Standing } from "../ui/words.ts";
import { type CardState, sinceUpdateMs } from "./state.ts";

/** A shorter silence is no news; one that is longer than the second may mean trouble. */
const SILENCE_SHOWN_MS = 2_000;
const SILENCE_ODD_MS = 10_000;

/** What a call asks for. Its arguments may still be arriving: then anything can be missing. */
export interface PlannedTask {
	agent: string;
	task: string;
}

type Told = Pick<TaskProgress, "attempt" | "position" | "heldForMs" | "retry" | "usage" | "model" | "error">;

export interface TaskView extends PlannedTask, Partial<Told> {
	state: ShownState;
	/** Absent when the task has not started. */
	elapsedMs?: number | undefined;
	/** Since the child was last heard of; absent when nothing is to be heard. */
	silentMs?: number;
	/** The last text so far, or the answer. */
	text: string;
	items: readonly DisplayItem[];
	result?: SingleResult;
}

/** What a malformed or unfinished call asks for, as far as it can be told. */
export function plannedTasks(list: unknown): PlannedTask[] {
	return Array.isArray(list) ? list.map(plannedTask) : [];
}

export function plannedTask(entry: unknown): PlannedTask {
	const { agent, task } = isObject(entry) ? entry : {};
	return { agent: typeof agent === "string" ? agent : "", task: typeof task === "string" ? task : "" };
}

/** The tasks in input order. */
export function taskViews(plan: readonly PlannedTask[], state: CardState): TaskView[] {
	if (state.phase === "done") {
		return (state.details?.results ?? []).map((result, index) => ended(result, plan[index]));
	}
	const age = sinceUpdateMs(state);
	if (state.tasks) return state.tasks.map((task, index) => underWay(task, plan[index], age));
	return plan.map((task) => ({ ...task, state: "planned", text: "", items: [] }));
}

function underWay(progress: TaskProgress, plan: PlannedTask | undefined, age: number): TaskView {
	const { state, elapsedMs, sinceEventMs, usage, turnCount, heldForMs, displayItems, text, retry } = progress;
	return {
		...progress,
		...(heldForMs !== undefined && { heldForMs: Math.max(0, heldForMs - age) }),
		agent: progress.agent || (plan?.agent ?? ""),
		task: plan?.task ?? "",
		elapsedMs: state === "waiting" || state === "queued" ? undefined : elapsedMs + (isActive(state) ? age : 0),
		silentMs: state === "running" && !retry ? sinceEventMs + age : 0,
		usage: { ...usage, turns: turnCount },
		text: text ?? "",
		items: displayItems ?? [],
	};
}

function ended(result: SingleResult, plan: PlannedTask | undefined): TaskView {
	const { outcome, attempts, durationMs, output = "", displayItems = [] } = result;
	return {
		...result,
		task: plan?.task || result.task,
		state: outcome,
		// What was never started took no time.
		elapsedMs: attempts > 0 || durationMs > 0 ? durationMs : undefined,
		...{ text: output, items: displayItems, result },
	};
}

export function markOf(view: TaskView): Mark {
	return markOfState(standingOf(view));
}

/** How a run ended, or what it waits for; nothing for one that works or has done what it should. */
export function stateWords(view: TaskView): string | undefined {
	return noteOfState(standingOf(view));
}

function standingOf({ state, result, position, heldForMs, attempt, retry }: TaskView): Standing {
	if (!result) return { state, position, heldForMs, attempt: isOver(state) ? undefined : attempt, retry };
	const { outcome, stopReason, signal, attempts } = result;
	return { state: outcome, stopReason, signal, attempt: attempts };
}

/** How long nothing has been heard of a child: `odd` when that may mean trouble. */
export function silence({ silentMs = 0 }: TaskView, which: "any" | "odd", style: Style): string {
	if (silentMs > SILENCE_ODD_MS) return style.fg("warning", `silent for ${duration(silentMs, true)}`);
	return which === "odd" || silentMs < SILENCE_SHOWN_MS ? "" : style.fg("dim", `${duration(silentMs, true)} ago`);
}

/** The model of all that have one, when it is the same. */
export function commonModel(views: readonly TaskView[]): string | undefined {
	const models = new Set(views.flatMap(({ model }) => model ?? []));
	return models.size === 1 ? [...models][0] : undefined;
}
