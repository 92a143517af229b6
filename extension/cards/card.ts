/** The card of one run. Collapsed it says how the run goes; expanded it shows all that is known of it. */

import { figures, limited, paragraph, partLines, remark } from "../ui/lines.ts";
import { PREVIEW_CHARACTERS } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine } from "../ui/text.ts";
import { duration, type Mark, markNamed, markOfState } from "../ui/words.ts";
import { type CardInput, headLine, INDENT, TRUNCATED, title } from "./frame.ts";
import { endLines, failureLines } from "./result.ts";
import { type CardState, elapsedMs } from "./state.ts";
import { markOf, silence, stateWords, type TaskView, taskViews } from "./tasks.ts";
import { workLines } from "./work.ts";

const RECENT_CALLS = 3;
const LIVE_TEXT_LINES = 2;

/** First line and task: what was asked of whom. */
export function headLines(input: CardInput, state: CardState, width: number, style: Style): string[] {
	const [planned] = input.tasks;
	const [view] = taskViews(input.tasks, state);
	const its = callMark(state, view);
	const words = style.fg(its.color, (view && state.phase !== "pending" && stateWords(view)) || "");
	const time = clockIsBelow(input, state) ? "" : clock(state, style);
	const agent = planned?.agent || (state.phase === "done" ? "" : "…");
	const named = title(its, "subagent", agent, style);
	const head = headLine([named, time, words], [named, words], width, style);
	return [head, ...indented(taskLines(planned?.task ?? "", input, state, width - INDENT, style), INDENT)];
}

/** What comes below: the run so far, or its result. */
export function bodyLines(input: CardInput, state: CardState, width: number, style: Style): string[] {
	return indented(inner(input, state, width - INDENT, style), INDENT);
}

function inner(input: CardInput, state: CardState, width: number, style: Style): string[] {
	const [view] = taskViews(input.tasks, state);
	const error = state.details?.error;
	if (state.phase !== "done") return view && state.tasks ? runningLines(view, input, state, width, style) : [];
	if (!view?.result) return failureLines(error ?? { message: input.text }, undefined, input, width, style);
	const failed = state.failed === true || (error !== undefined && error.code !== TRUNCATED);
	const result = { ...view.result, output: view.result.output ?? (failed ? "" : input.text) };
	const why = error ?? (failed ? { message: view.error ?? input.text } : undefined);
	return endLines(result, { failed, error: why }, input, width, style);
}

function callMark(state: CardState, view: TaskView | undefined): Mark {
	if (state.phase === "pending") return markOfState({ state: "planned" });
	if (state.phase === "running") return view && state.tasks ? markOf(view) : markOfState({ state: "running" });
	const code = state.details?.error?.code;
	if (view && view.state !== "completed") return markOf(view);
	if (state.failed || (code && code !== TRUNCATED)) return markOfState({ state: "failed" });
	return code ? markNamed("warning") : view ? markOf(view) : markOfState({ state: "completed" });
}

/** An expanded card can be higher than the terminal; then its clock would tick out of sight (see `expandedRows`). */
function clockIsBelow(input: CardInput, state: CardState): boolean {
	return input.expanded && state.phase === "running" && state.tasks !== undefined;
}

function clock(state: CardState, style: Style): string {
	const elapsed = elapsedMs(state);
	return elapsed === undefined ? "" : style.fg("muted", duration(elapsed, state.phase === "running"));
}

function taskLines(task: string, input: CardInput, state: CardState, width: number, style: Style): string[] {
	if (task.trim() === "") return [];
	if (!input.expanded) return [style.fg("muted", clip(oneLine(task.slice(0, PREVIEW_CHARACTERS)), width))];
	const lines = paragraph(task, width, style, "muted");
	const more = (rest: number) => remark(`${rest} more lines of the task`, width, style);
	return state.phase === "done" ? lines : limited(lines, share(input, 0.3), more);
}

/** Lines of an expanded card that its task, its calls or its text get. */
function share({ rows }: CardInput, part: number): number {
	return Math.max(1, Math.floor((rows - 3) * part));
}

function runningLines(view: TaskView, input: CardInput, state: CardState, width: number, style: Style): string[] {
	const limits = input.expanded
		? { calls: share(input, 0.5), text: share(input, 0.2), withWords: true }
		: { calls: RECENT_CALLS, text: LIVE_TEXT_LINES, withWords: false };
	const parts = [
		clockIsBelow(input, state) ? clock(state, style) : "",
		...(view.usage ? figures(view.usage, view.model, style) : []),
		silence(view, "odd", style),
	];
	return [...workLines(view, limits, width, style), ...partLines(parts, width, style)];
}
