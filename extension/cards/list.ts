/** The rows of several tasks: which of them have one, and what is said of the others. */

import { type Line, oneLine, type Span, unstyled } from "../ui/spans.ts";
import type { Color } from "../ui/style.ts";
import { indented, remark, startOf } from "./lines.ts";
import { isActive, isAhead, isOver, isTrouble, type ShownState } from "./marks.ts";
import { type RowLayout, type RowParts, rowLayout, taskRow } from "./rows.ts";
import type { TaskView } from "./tasks.ts";

/** What an error below its row is indented by, beside the indentation that all lines have. */
const ERROR_INDENT = 4;
const ERROR_LINES = 2;

/** Tasks in input order. Steps are numbered and come one after the other. */
export interface TaskList {
	views: readonly TaskView[];
	steps: boolean;
}

/** One row per task, at most `limit`, and a line for the others. */
export function listLines(list: TaskList, limit: number, width: number): Line[] {
	const layout = listLayout(list, width);
	const shown = chosen(list.views, limit);
	return [...shown.map((index) => listRow(list, index, layout)), ...hiddenLine(list, shown, width)];
}

/** The same for tasks that are over: an error that its row has no room for stands below it. */
export function resultLines(list: TaskList, limit: number, width: number): Line[] {
	const layout = listLayout(list, width);
	const shown = chosen(list.views, limit);
	const rows = shown.flatMap((index) => {
		const row = listRow(list, index, layout);
		const view = list.views[index];
		if (!view?.error || !isTrouble(view.state) || unstyled(row).includes(oneLine(view.error))) return [row];
		const error = startOf(view.error, width - ERROR_INDENT, "muted", ERROR_LINES);
		return [listRow(list, index, layout, { errorBelow: true }), ...indented(error, ERROR_INDENT)];
	});
	return [...rows, ...hiddenLine(list, shown, width)];
}

export function listLayout({ views, steps }: TaskList, width: number): RowLayout {
	return rowLayout(views, width, steps);
}

export function listRow({ views, steps }: TaskList, index: number, layout: RowLayout, parts: RowParts = {}): Line {
	const view = views[index];
	return view ? taskRow(view, index, layout, steps && index === stepAt(views), parts) : [];
}

/** The step that a chain under way is at. */
function stepAt(views: readonly TaskView[]): number {
	const at = views.findIndex(({ state }) => !isOver(state));
	return views[at]?.state === "planned" ? -1 : at;
}

/** The tasks that get a row when not all do: what runs, what failed, what comes next, what is done; in input order. */
export function chosen(views: readonly TaskView[], limit: number): number[] {
	const all = views.map((_, index) => index);
	if (views.length <= limit) return all;
	const ranks = views.map(rank);
	return all
		.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b)
		.slice(0, limit)
		.sort((a, b) => a - b);
}

function rank({ state }: TaskView): number {
	if (isActive(state)) return 0;
	if (isAhead(state)) return 2;
	return state === "completed" || state === "skipped" ? 3 : 1;
}

/** Says how many tasks have no row. */
export function hiddenLine({ views }: TaskList, shown: readonly number[], width: number): Line[] {
	const hidden = counts(views.filter((_, index) => !shown.includes(index)));
	if (hidden.length === 0) return [];
	return [remark(hidden.map(({ count, word }) => `${count} more ${word}`).join(", "), width)];
}

const COUNTED: readonly [word: string, color: Color, states: readonly ShownState[]][] = [
	["done", "muted", ["completed"]],
	["failed", "error", ["failed", "idle_timeout", "hard_timeout", "killed", "interrupted"]],
	["over budget", "warning", ["budget"]],
	["aborted", "warning", ["aborted"]],
	["skipped", "muted", ["skipped"]],
	["running", "muted", ["starting", "running", "retrying"]],
	["queued", "muted", ["queued"]],
	["waiting", "muted", ["waiting"]],
	["planned", "muted", ["planned"]],
];

/** How many tasks are in which state. */
function counts(views: readonly TaskView[]): { count: number; word: string; color: Color }[] {
	return COUNTED.map(([word, color, states]) => {
		return { word, color, count: views.filter(({ state }) => states.includes(state)).length };
	}).filter(({ count }) => count > 0);
}

/** `3 done`, `1 failed`, … */
export function countSpans(views: readonly TaskView[]): Span[] {
	return counts(views).map(({ count, word, color }) => ({ text: `${count} ${word}`, color }));
}
