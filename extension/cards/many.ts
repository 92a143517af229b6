/** The card of several runs: one line per task or step, and what they come to together. */

import { figures, paragraph, partLines } from "../ui/lines.ts";
import { counts } from "../ui/states.ts";
import type { Style } from "../ui/style.ts";
import { indented } from "../ui/text.ts";
import { duration, type Mark, markNamed, markOfState } from "../ui/words.ts";
import { type CardInput, headLine, INDENT, TASK_ROWS, TRUNCATED, title } from "./frame.ts";
import { finalBlocks, listLines, liveBlocks } from "./list.ts";
import { ANSWER_LINES, answerLines, changeLines, failureLines } from "./result.ts";
import type { TaskList } from "./rows.ts";
import { type CardState, elapsedMs } from "./state.ts";
import { commonModel, type TaskView, taskViews } from "./tasks.ts";

/** Lines that sum up a call under way, where a narrow terminal breaks them. */
const SUMMARY_ROWS = 3;
/** Lines of an expanded live card that are not its tasks'. */
const OTHER_ROWS = 1 + SUMMARY_ROWS;

/** First line, and the planned tasks until an update says more of them. */
export function headLines(input: CardInput, state: CardState, width: number, style: Style): string[] {
	const list = taskList(input, state);
	// While the call goes on, the clock is in the last line: this one may be out of sight (see `expandedRows`).
	const elapsed = state.phase === "done" ? elapsedMs(state) : undefined;
	const time = style.fg("muted", elapsed === undefined ? "" : duration(elapsed, false));
	const named = title(callMark(state, list.views), "subagent", input.mode, style);
	const short = [named, style.fg("muted", extentWords(list, state))];
	const planned = state.phase !== "done" && !state.tasks ? listLines(list, TASK_ROWS, width, style) : [];
	return [headLine([...short, time], short, width, style), ...planned];
}

/** What comes below: how the tasks go, or what came of them. */
export function bodyLines(input: CardInput, state: CardState, width: number, style: Style): string[] {
	const list = taskList(input, state);
	const inner = width - INDENT;
	const last = indented(summary(list, state, input, inner, style), INDENT);
	if (state.phase !== "done") {
		if (!state.tasks) return [];
		const rows = input.expanded
			? liveBlocks(list, input.rows - OTHER_ROWS, width, style)
			: listLines(list, TASK_ROWS, width, style);
		return [...rows, ...last];
	}
	const error = state.details?.error;
	if (list.views.length === 0) {
		return indented(failureLines(error ?? { message: input.text }, undefined, input, inner, style), INDENT);
	}
	const remarks = error?.code === TRUNCATED ? paragraph(error.message, inner, style, "warning") : [];
	if (input.expanded) return [...finalBlocks(list, input, width, style), ...indented(remarks, INDENT), ...last];
	// The answer of a chain is that of its last step; of parallel tasks each has its own.
	const answer = list.steps && list.views.every(isCompleted) ? list.views.at(-1)?.text : undefined;
	const changes = new Set(list.views.flatMap(({ result }) => result?.changes ?? []));
	const below = [
		...(answer ? answerLines(answer, input, inner, style, ANSWER_LINES) : []),
		...remarks,
		...changeLines([...changes], input, inner, style),
	];
	return [...listLines(list, TASK_ROWS, width, style), ...indented(below, INDENT), ...last];
}

function taskList(input: CardInput, state: CardState): TaskList {
	return { views: taskViews(input.tasks, state), steps: input.mode === "chain" };
}

function callMark(state: CardState, views: readonly TaskView[]): Mark {
	if (state.phase === "pending") return markOfState({ state: "planned" });
	if (state.phase === "running") return markOfState({ state: "running" });
	if (views.some((view) => view.state === "aborted")) return markOfState({ state: "aborted" });
	if (state.failed || views.length === 0) return markOfState({ state: "failed" });
	return views.every(isCompleted) && !state.details?.error ? markOfState({ state: "completed" }) : markNamed("warning");
}

function extentWords({ views, steps }: TaskList, state: CardState): string {
	const count = views.length;
	if (count === 0) return "";
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
function summary({ views }: TaskList, state: CardState, input: CardInput, width: number, style: Style): string[] {
	const done = state.phase === "done";
	const elapsed = done ? undefined : elapsedMs(state);
	const hint = done && !input.expanded && input.expandKey !== "" ? `${input.expandKey} to expand` : "";
	const parts = [
		...counts(views.map(({ state }) => state)).map(({ count, word, color }) => style.fg(color, `${count} ${word}`)),
		style.fg("muted", elapsed === undefined ? "" : duration(elapsed, true)),
		...figures(
			views.flatMap(({ usage }) => usage ?? []),
			commonModel(views),
			style,
		),
		style.fg("dim", hint),
	];
	const lines = partLines(parts, width, style);
	return done ? lines : lines.slice(0, SUMMARY_ROWS);
}

function isCompleted(view: TaskView): boolean {
	return view.state === "completed";
}
