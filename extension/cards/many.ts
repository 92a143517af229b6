/** The card of several runs: one line per task or step, and what they come to together. */

import { duration, totalUsage } from "../ui/figures.ts";
import type { Line, Span } from "../ui/spans.ts";
import { finalBlocks, liveBlocks } from "./blocks.ts";
import { expandedRows, TASK_ROWS } from "./height.ts";
import { figures, headLine, paragraph, partLines } from "./lines.ts";
import { countSpans, listLines, resultLines, type TaskList } from "./list.ts";
import { type Mark, mark, WARNING } from "./marks.ts";
import { ANSWER_LINES, answerLines, type Extent, failureLines } from "./result.ts";
import { commonModel } from "./rows.ts";
import { type CardState, elapsedMs } from "./state.ts";
import { type PlannedTask, type TaskView, taskViews } from "./tasks.ts";

const TRUNCATED = "SUBAGENT_OUTPUT_TRUNCATED";
/** Lines that sum up a call under way, where a narrow terminal breaks them. */
const SUMMARY_ROWS = 3;
/** Lines of an expanded live card that are not its tasks'. */
const OTHER_ROWS = 1 + SUMMARY_ROWS;

export interface ManyInput extends Extent {
	mode: "parallel" | "chain";
	tasks: readonly PlannedTask[];
	/** Text of the tool result. */
	text: string;
	/** Height of the terminal, when it is known. */
	terminalRows: number | undefined;
}

/** First line, and the planned tasks until an update says more of them. */
export function headLines(input: ManyInput, state: CardState, width: number): Line[] {
	const list = taskList(input, state);
	const { text, color } = callMark(state, list.views);
	const what: Span[] = [
		{ text: `${text} `, color },
		{ text: "subagent ", color: "toolTitle", bold: true },
		{ text: input.mode, color: "accent" },
	];
	const extent = extentWords(list, state);
	const short: Span[] = extent ? [{ text: extent, color: "muted" }] : [];
	// While the call goes on, the clock is in the last line: this one may be out of sight (see `card-height.ts`).
	const elapsed = state.phase === "done" ? elapsedMs(state) : undefined;
	const time: Span[] = elapsed === undefined ? [] : [{ text: duration(elapsed, false), color: "muted" }];
	const planned = state.phase !== "done" && !state.tasks ? listLines(list, TASK_ROWS, width) : [];
	return [headLine(what, [...short, ...time], short, width), ...planned];
}

/** What comes below: how the tasks go, or what came of them. */
export function bodyLines(input: ManyInput, state: CardState, width: number): Line[] {
	const list = taskList(input, state);
	const last = summary(list, state, input, width);
	if (state.phase !== "done") {
		if (!state.tasks) return [];
		const room = expandedRows(input.terminalRows) - OTHER_ROWS;
		return [...(input.expanded ? liveBlocks(list, room, width) : listLines(list, TASK_ROWS, width)), ...last];
	}
	const error = state.details?.error;
	if (list.views.length === 0) return failureLines(error ?? { message: input.text }, undefined, input, width);
	if (input.expanded) return [...finalBlocks(list, input, width), ...remarks(state, width), ...last];
	// The answer of a chain is that of its last step; of parallel tasks each has its own.
	const answer = list.steps && list.views.every(isCompleted) ? list.views.at(-1)?.text : undefined;
	return [
		...resultLines(list, TASK_ROWS, width),
		...(answer ? answerLines(answer, input, width, ANSWER_LINES) : []),
		...remarks(state, width),
		...last,
	];
}

function taskList(input: ManyInput, state: CardState): TaskList {
	return { views: taskViews(input.tasks, state), steps: input.mode === "chain" };
}

function callMark(state: CardState, views: readonly TaskView[]): Mark {
	if (state.phase === "pending") return mark("planned");
	if (state.phase === "running") return mark("running");
	if (views.some((view) => view.state === "aborted")) return mark("aborted");
	if (state.failed || views.length === 0) return mark("failed");
	return views.every(isCompleted) && !state.details?.error ? mark("completed") : WARNING;
}

function extentWords({ views, steps }: TaskList, state: CardState): string | undefined {
	const count = views.length;
	if (count === 0) return undefined;
	if (steps) {
		const at = views.findIndex((view) => !isCompleted(view));
		if (state.phase === "pending" || at < 0) return count === 1 ? "1 step" : `${count} steps`;
		return `${state.phase === "done" ? "stopped at step" : "step"} ${at + 1} of ${count}`;
	}
	const done = views.filter(isCompleted).length;
	if (state.phase === "done" && done < count) return `${done} of ${count} done`;
	return count === 1 ? "1 task" : `${count} tasks`;
}

/** Counts, clock and what all of them spent. */
function summary({ views }: TaskList, state: CardState, extent: Extent, width: number): Line[] {
	const parts: Span[] = countSpans(views);
	const elapsed = state.phase === "done" ? undefined : elapsedMs(state);
	if (elapsed !== undefined) parts.push({ text: duration(elapsed, true), color: "muted" });
	parts.push(...figures(totalUsage(views.flatMap((view) => view.usage ?? [])), commonModel(views)));
	if (state.phase === "done" && !extent.expanded && extent.expandKey) {
		parts.push({ text: `${extent.expandKey} to expand`, color: "dim" });
	}
	const lines = partLines(parts, width);
	return state.phase === "done" ? lines : lines.slice(0, SUMMARY_ROWS);
}

function remarks(state: CardState, width: number): Line[] {
	const error = state.details?.error;
	return error?.code === TRUNCATED ? paragraph(error.message, width, "warning") : [];
}

function isCompleted(view: TaskView): boolean {
	return view.state === "completed";
}
