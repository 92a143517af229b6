/** An expanded card of several runs: below each task's row, what it did. */

import { paragraph } from "../ui/lines.ts";
import { PREVIEW_CHARACTERS } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine } from "../ui/text.ts";
import { TASK_ROWS } from "./height.ts";
import { chosen, hiddenLine, listLayout, listRow, type TaskList } from "./list.ts";
import { type Extent, endLines } from "./result.ts";
import { isActive } from "./states.ts";
import type { TaskView } from "./tasks.ts";
import { workLines } from "./work.ts";

/** What the lines below a task's row are indented by. */
const BLOCK_INDENT = 4;
/** With less room than this a task at work has its row only. */
const FEWEST_BLOCK_ROWS = 2;
/** A row whose task has its lines below. */
const BRIEF = { brief: true };

/** While tasks run: in `room` lines their rows, and below those at work what they have done. */
export function liveBlocks(list: TaskList, room: number, width: number, style: Style): string[] {
	const { views } = list;
	const layout = listLayout(list, width);
	// Where not all have a row, one line says so.
	const shown = chosen(views, Math.min(TASK_ROWS, views.length > TASK_ROWS ? room - 1 : room));
	const hidden = hiddenLine(list, shown, width, style);
	const active = shown.filter((index) => isAtWork(views[index])).length;
	const share = Math.floor((room - shown.length - hidden.length) / Math.max(1, active));
	const lines = shown.flatMap((index) => {
		const view = views[index];
		if (!view || !isAtWork(view) || share < FEWEST_BLOCK_ROWS) return [listRow(list, index, layout, style)];
		const block = indented(liveBlock(view, share, width - BLOCK_INDENT, style), BLOCK_INDENT);
		return [listRow(list, index, layout, style, BRIEF), ...block];
	});
	return [...lines, ...hidden];
}

function isAtWork(view: TaskView | undefined): boolean {
	return view !== undefined && isActive(view.state);
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
	const layout = listLayout(list, width);
	return list.views.flatMap((view, index) => [
		listRow(list, index, layout, style, BRIEF),
		...indented(finalBlock(view, extent, width - BLOCK_INDENT, style), BLOCK_INDENT),
		"",
	]);
}

function finalBlock(view: TaskView, extent: Extent, width: number, style: Style): string[] {
	if (!view.result) return [];
	const failed = view.state !== "completed";
	const end = { failed, error: failed ? { message: view.error ?? "" } : undefined };
	return [...paragraph(view.task, width, style, "muted"), ...endLines(view.result, end, extent, width, style)];
}
