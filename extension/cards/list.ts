/** The rows of several tasks, and what stands below each of them in an expanded card. */

import { paragraph, remark, startOf } from "../ui/lines.ts";
import { PREVIEW_CHARACTERS } from "../ui/prose.ts";
import { counts, isActive, isOver } from "../ui/states.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine, plainText } from "../ui/text.ts";
import { type Extent, INDENT, TASK_ROWS } from "./frame.ts";
import { endLines } from "./result.ts";
import { type TaskList, taskRows } from "./rows.ts";
import type { TaskView } from "./tasks.ts";
import { workLines } from "./work.ts";

/** What an error below its row is indented by, and what a task did. */
const ERROR_INDENT = 6;
const ERROR_LINES = 2;
const BLOCK_INDENT = 4;
/** With less room than this a task at work has its row only. */
const FEWEST_BLOCK_ROWS = 2;

/** One row per task, at most `limit`, and a line for the others. An error that a row has no room for stands below it. */
export function listLines(list: TaskList, limit: number, width: number, style: Style): string[] {
	const draw = taskRows(list, width, style);
	const shown = chosen(list.views, limit);
	const rows = shown.flatMap((index) => {
		const row = draw(index);
		const view = list.views[index];
		const error = oneLine(view?.error ?? "");
		const isTrouble = view?.result && view.state !== "aborted" && rank(view) === 1;
		if (!isTrouble || error === "" || plainText(row).includes(error)) return [row];
		const below = startOf(error, width - ERROR_INDENT, style, "muted", ERROR_LINES);
		return [draw(index, "error"), ...indented(below, ERROR_INDENT)];
	});
	return [...rows, ...hiddenLine(list, shown, width, style)];
}

/** The tasks that get a row when not all do: what runs, what failed, what comes next, what is done; in input order. */
function chosen(views: readonly TaskView[], limit: number): number[] {
	const all = views.map((_, index) => index);
	const ranked = all.sort((a, b) => rank(views[a]) - rank(views[b]) || a - b);
	return ranked.slice(0, limit).sort((a, b) => a - b);
}

function rank(view: TaskView | undefined): number {
	if (!view || view.state === "completed" || view.state === "skipped") return 3;
	if (isActive(view.state)) return 0;
	return isOver(view.state) ? 1 : 2;
}

/** Says how many tasks have no row. */
function hiddenLine({ views }: TaskList, shown: readonly number[], width: number, style: Style): string[] {
	const states = views.filter((_, index) => !shown.includes(index)).map(({ state }) => state);
	if (states.length === 0) return [];
	const hidden = counts(states).map(({ count, word }) => `${count} more ${word}`);
	return indented([remark(hidden.join(", "), width - INDENT, style)], INDENT);
}

/** While tasks run: in `room` lines their rows, and below those at work what they have done. */
export function liveBlocks(list: TaskList, room: number, width: number, style: Style): string[] {
	const { views } = list;
	const draw = taskRows(list, width, style);
	// Where not all have a row, one line says so.
	const shown = chosen(views, Math.min(TASK_ROWS, views.length > TASK_ROWS ? room - 1 : room));
	const hidden = hiddenLine(list, shown, width, style);
	const atWork = new Set(shown.filter((index) => views[index] && isActive(views[index].state)));
	const share = Math.floor((room - shown.length - hidden.length) / Math.max(1, atWork.size));
	const lines = shown.flatMap((index) => {
		const view = views[index];
		if (!view || !atWork.has(index) || share < FEWEST_BLOCK_ROWS) return [draw(index)];
		return [draw(index, "work"), ...indented(liveBlock(view, share, width - BLOCK_INDENT, style), BLOCK_INDENT)];
	});
	return [...lines, ...hidden];
}

/** At most `room` lines of one task: what was asked, the newest calls, the end of what is being said. */
function liveBlock(view: TaskView, room: number, width: number, style: Style): string[] {
	const asked = oneLine(view.task.slice(0, PREVIEW_CHARACTERS));
	const task = asked === "" ? [] : [style.fg("muted", clip(asked, width))];
	const text = Math.max(1, Math.floor(room / 4));
	// One line says how many calls came before.
	const calls = room - task.length - text - 1;
	return [...task, ...workLines(view, { calls, text, withWords: false }, width, style)].slice(0, room);
}

/** When all is over: everything that is known of each task. */
export function finalBlocks(list: TaskList, extent: Extent, width: number, style: Style): string[] {
	const draw = taskRows(list, width, style);
	return list.views.flatMap((view, index) => {
		const block = finalBlock(view, extent, width - BLOCK_INDENT, style);
		return [draw(index, "work"), ...indented(block, BLOCK_INDENT), ""];
	});
}

function finalBlock(view: TaskView, extent: Extent, width: number, style: Style): string[] {
	if (!view.result) return [];
	const failed = view.state !== "completed";
	const end = { failed, error: failed ? { message: view.error ?? "" } : undefined };
	return [...paragraph(view.task, width, style, "muted"), ...endLines(view.result, end, extent, width, style)];
}
