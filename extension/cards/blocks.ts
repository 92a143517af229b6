/** An expanded card of several runs: below each task's row, what it did. */

import { type Line, oneLine } from "../ui/spans.ts";
import { TASK_ROWS } from "./height.ts";
import { callLines, figures, indented, PREVIEW_CHARACTERS, paragraph, partLines, workLines } from "./lines.ts";
import { chosen, hiddenLine, listLayout, listRow, type TaskList } from "./list.ts";
import { isActive } from "./marks.ts";
import { ANSWER_LINES, answerLines, type Extent, failureLines, whereabouts } from "./result.ts";
import type { TaskView } from "./tasks.ts";

/** What the lines below a task's row are indented by, beside the indentation that all lines have. */
const BLOCK_INDENT = 2;
/** With less room than this a task at work has its row only. */
const FEWEST_BLOCK_ROWS = 2;
/** A row whose task has its lines below. */
const BRIEF = { brief: true };

/** While tasks run: in `room` lines their rows, and below those at work what they have done. */
export function liveBlocks(list: TaskList, room: number, width: number): Line[] {
	const { views } = list;
	const layout = listLayout(list, width);
	// Where not all have a row, one line says so.
	const shown = chosen(views, Math.min(TASK_ROWS, views.length > TASK_ROWS ? room - 1 : room));
	const hidden = hiddenLine(list, shown, width);
	const active = shown.filter((index) => isAtWork(views[index])).length;
	const share = Math.floor((room - shown.length - hidden.length) / Math.max(1, active));
	const lines = shown.flatMap((index) => {
		const view = views[index];
		if (!view || !isAtWork(view) || share < FEWEST_BLOCK_ROWS) return [listRow(list, index, layout)];
		return [
			listRow(list, index, layout, BRIEF),
			...indented(liveBlock(view, share, width - BLOCK_INDENT), BLOCK_INDENT),
		];
	});
	return [...lines, ...hidden];
}

function isAtWork(view: TaskView | undefined): boolean {
	return view !== undefined && isActive(view.state);
}

/** At most `room` lines of one task: what was asked, the newest calls, the end of what is being said. */
function liveBlock(view: TaskView, room: number, width: number): Line[] {
	const task = paragraph(oneLine(view.task.slice(0, PREVIEW_CHARACTERS)), width, "muted").slice(0, 1);
	const text = Math.max(1, Math.floor(room / 4));
	// One line says how many calls came before.
	const calls = room - task.length - text - 1;
	const work = workLines(view.items, view.text, { calls, text, withWords: false }, width);
	return [...task, ...work].slice(0, room);
}

/** When all is over: everything that is known of each task. */
export function finalBlocks(list: TaskList, extent: Extent, width: number): Line[] {
	const layout = listLayout(list, width);
	const inner = width - BLOCK_INDENT;
	return list.views.flatMap((view, index) => [
		listRow(list, index, layout, BRIEF),
		...indented(finalBlock(view, extent, inner), BLOCK_INDENT),
		[],
	]);
}

function finalBlock(view: TaskView, extent: Extent, width: number): Line[] {
	const { result } = view;
	if (!result) return [];
	const answer =
		view.state === "completed"
			? answerLines(view.text, extent, width, ANSWER_LINES)
			: failureLines({ message: view.error ?? "" }, result, extent, width);
	return [
		...paragraph(view.task, width, "muted"),
		...callLines(view.items, width, Number.POSITIVE_INFINITY, () => true),
		...answer,
		...partLines(figures(result.usage, result.model), width),
		...whereabouts(result, width),
	];
}
