/** The rows of several tasks: which of them have one, and what is said of the others. */

import { remark, startOf } from "../ui/lines.ts";
import type { Color, Style } from "../ui/style.ts";
import { indented, oneLine, plainText } from "../ui/text.ts";
import { type RowLayout, type RowParts, rowLayout, taskRow } from "./rows.ts";
import { isActive, isAhead, isOver, isTrouble, type ShownState } from "./states.ts";
import type { TaskView } from "./tasks.ts";

/** Where remarks stand, and where an error below its row does. */
const INDENT = 2;
const ERROR_INDENT = 6;
const ERROR_LINES = 2;

/** Tasks in input order. Steps are numbered and come one after the other. */
export interface TaskList {
	views: readonly TaskView[];
	steps: boolean;
}

/** One row per task, at most `limit`, and a line for the others. An error that a row has no room for stands below it. */
export function listLines(list: TaskList, limit: number, width: number, style: Style): string[] {
	const layout = listLayout(list, width);
	const shown = chosen(list.views, limit);
	const rows = shown.flatMap((index) => {
		const row = listRow(list, index, layout, style);
		const { error, state, result } = list.views[index] ?? {};
		if (!error || !result || !state || !isTrouble(state) || plainText(row).includes(oneLine(error))) return [row];
		const below = startOf(error, width - ERROR_INDENT, style, "muted", ERROR_LINES);
		return [listRow(list, index, layout, style, { errorBelow: true }), ...indented(below, ERROR_INDENT)];
	});
	return [...rows, ...hiddenLine(list, shown, width, style)];
}

export function listLayout({ views, steps }: TaskList, width: number): RowLayout {
	return rowLayout(views, width, steps);
}

export function listRow(list: TaskList, index: number, layout: RowLayout, style: Style, parts: RowParts = {}): string {
	const view = list.views[index];
	return view ? taskRow(view, index, layout, list.steps && index === stepAt(list.views), parts, style) : "";
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
export function hiddenLine({ views }: TaskList, shown: readonly number[], width: number, style: Style): string[] {
	const hidden = counts(views.filter((_, index) => !shown.includes(index)));
	if (hidden.length === 0) return [];
	const text = hidden.map(({ count, word }) => `${count} more ${word}`).join(", ");
	return indented([remark(text, width - INDENT, style)], INDENT);
}

const COUNTED: readonly [word: string, color: Color, states: readonly ShownState[]][] = [
	["done", "muted", ["completed"]],
	["failed", "error", ["failed", "idle_timeout", "hard_timeout", "killed", "interrupted"]],
	["over budget", "warning", ["budget"]],
	["stopped", "warning", ["aborted"]],
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
export function countParts(views: readonly TaskView[], style: Style): string[] {
	return counts(views).map(({ count, word, color }) => style.fg(color, `${count} ${word}`));
}
