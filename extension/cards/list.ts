/** The rows of several tasks, and what stands below each of them in an expanded card. */

import type { Pen } from "../ui/pen.ts";
import { counts, isActive, isOver } from "../ui/states.ts";
import { oneLine, plainText } from "../ui/text.ts";
import { type Extent, INDENT } from "./frame.ts";
import { endLines, workLines } from "./result.ts";
import { taskRows } from "./rows.ts";
import type { TaskList, TaskView } from "./tasks.ts";

/** Tasks that a live card has lines for, whatever the terminal. */
const TASK_ROWS = 10;
/** What an error below its row is indented by, and what a task did. */
const ERROR_INDENT = 6;
const ERROR_LINES = 2;
const BLOCK_INDENT = 4;
/** With less room than this a task at work has its row only. */
const FEWEST_BLOCK_ROWS = 2;

/** One row per task, and a line for those that get none. An error that a row has no room for stands below it. */
export function listLines(list: TaskList, pen: Pen): string[] {
	const draw = taskRows(list, pen);
	const shown = chosen(list.views, TASK_ROWS);
	const rows = shown.flatMap((view) => {
		const row = draw(view);
		const error = oneLine(view.error ?? "");
		const isTrouble = view.result && view.state !== "aborted" && rank(view) === 1;
		if (!isTrouble || error === "" || plainText(row).includes(error)) return [row];
		return [draw(view, "error"), ...pen.indented(ERROR_INDENT, (inner) => inner.start(error, "muted", ERROR_LINES))];
	});
	return [...rows, ...hiddenLine(list, shown, pen)];
}

/** The tasks that get a row when not all do: what runs, what failed, what comes next, what is done; in input order. */
function chosen(views: readonly TaskView[], limit: number): TaskView[] {
	const first = new Set(views.toSorted((a, b) => rank(a) - rank(b)).slice(0, limit));
	return views.filter((view) => first.has(view));
}

function rank({ state }: TaskView): number {
	if (state === "completed" || state === "skipped") return 3;
	if (isActive(state)) return 0;
	return isOver(state) ? 1 : 2;
}

/** Says how many tasks have no row. */
function hiddenLine({ views }: TaskList, shown: readonly TaskView[], pen: Pen): string[] {
	const states = views.filter((view) => !shown.includes(view)).map(({ state }) => state);
	if (states.length === 0) return [];
	const hidden = counts(states).map(({ count, word }) => `${count} more ${word}`);
	return pen.indented(INDENT, (inner) => [inner.remark(hidden.join(", "))]);
}

/** While tasks run: in `room` lines their rows, and below those at work what they have done. */
export function liveBlocks(list: TaskList, room: number, pen: Pen): string[] {
	const { views } = list;
	const draw = taskRows(list, pen);
	// Where not all have a row, one line says so.
	const shown = chosen(views, Math.min(TASK_ROWS, views.length > TASK_ROWS ? room - 1 : room));
	const hidden = hiddenLine(list, shown, pen);
	const atWork = shown.filter(({ state }) => isActive(state));
	const share = Math.floor((room - shown.length - hidden.length) / Math.max(1, atWork.length));
	const lines = shown.flatMap((view) => {
		if (!isActive(view.state) || share < FEWEST_BLOCK_ROWS) return [draw(view)];
		return [draw(view, "work"), ...pen.indented(BLOCK_INDENT, (inner) => liveBlock(view, share, inner))];
	});
	return [...lines, ...hidden];
}

/** At most `room` lines of one task: what was asked, the newest calls, the end of what is being said. */
function liveBlock(view: TaskView, room: number, pen: Pen): string[] {
	const task = [pen.line(view.task, "muted")].filter((line) => line !== "");
	const text = Math.max(1, Math.floor(room / 4));
	// One line says how many calls came before.
	const calls = room - task.length - text - 1;
	return [...task, ...workLines(view, { calls, text, withWords: false }, pen)].slice(0, room);
}

/** When all is over: everything that is known of each task. */
export function finalBlocks(list: TaskList, extent: Extent, pen: Pen): string[] {
	const draw = taskRows(list, pen);
	return list.views.flatMap((view) => {
		const block = pen.indented(BLOCK_INDENT, (inner) => finalBlock(view, extent, inner));
		return [draw(view, "work"), ...block, ""];
	});
}

function finalBlock(view: TaskView, extent: Extent, pen: Pen): string[] {
	if (!view.result) return [];
	const failed = view.state !== "completed";
	const end = { failed, error: failed ? { message: view.error ?? "" } : undefined };
	return [...pen.paragraph(view.task, "muted"), ...endLines(view.result, end, extent, pen)];
}
