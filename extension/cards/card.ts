/**
 * The card of a call. Collapsed it says how its run goes, or has a line for each of several tasks; expanded it shows all
 * that is known of them.
 */

import type { CallError, SingleResult } from "../../index.js";
import { limited, type Pen } from "../ui/pen.ts";
import { counts, duration, type Mark, markNamed, markOfState } from "../ui/words.ts";
import { type Extent, headLine, INDENT, title } from "./frame.ts";
import { ANSWER_LINES, answerLines, changeLines, counted, endLines, failureLines, workLines } from "./result.ts";
import { finalBlocks, listLines, liveBlocks } from "./rows.ts";
import { type CardState, elapsedMs, sinceUpdateMs } from "./state.ts";
import {
	commonModel,
	ended,
	type Mode,
	type PlannedTask,
	planned,
	silence,
	type TaskList,
	type TaskView,
	underWay,
} from "./tasks.ts";

/** Code of an answer that came in part. */
const TRUNCATED = "SUBAGENT_OUTPUT_TRUNCATED";

/** Rows that pi needs below a card: its borders, the working line, the editor, the footer. */
const PI_ROWS = 12;
/** An expanded card where nobody knows how high the terminal is, and the most in one that is higher. */
const MOST_ROWS = 43;
const FEWEST_ROWS = 10;
/** Of one run at work, collapsed. */
const RECENT_CALLS = 3;
const LIVE_TEXT_LINES = 2;
/** Lines that sum up several tasks under way, where a narrow terminal breaks them. */
const SUMMARY_ROWS = 3;
/** Lines of an expanded live card that are not its tasks'. */
const OTHER_ROWS = 1 + SUMMARY_ROWS;

/** A call, and its text: the live text, the answer, or what went wrong. */
export interface Call extends Extent {
	mode: Mode;
	plan: readonly PlannedTask[];
	text: string;
}

/** What it is at the moment. */
export interface Card extends Call, TaskList, Pick<CardState, "phase"> {
	/** Updates tell how it goes. */
	isLive: boolean;
	failed: boolean;
	error: CallError | undefined;
	elapsedMs: number | undefined;
}

export function cardOf(call: Call, state: CardState): Card {
	const { phase, details, tasks, failed = false } = state;
	const age = sinceUpdateMs(state);
	const views =
		phase === "done"
			? (details?.results ?? []).map((result, index) => ended(result, call.plan[index]))
			: (tasks?.map((task, index) => underWay(task, call.plan[index], age)) ?? call.plan.map(planned));
	const isLive = phase !== "done" && tasks !== undefined;
	return { ...call, views, phase, isLive, failed, error: details?.error, elapsedMs: elapsedMs(state) };
}

/** First line, and what was asked: the task, or the planned tasks until an update says more of them. */
export function headLines(card: Card, pen: Pen): string[] {
	const { mode, phase, plan, views, isLive } = card;
	const isOver = phase === "done";
	const mark = markOf(card);
	if (mode === "single") {
		const [asked] = plan;
		const named = title(mark, "subagent", asked?.agent || (isOver ? "" : "…"), pen);
		const note = pen.fg(mark.color, phase === "pending" ? "" : (views[0]?.note ?? ""));
		const head = headLine([named, isHigh(card) ? "" : clock(card, pen), note], [named, note], pen);
		return [head, ...pen.indented(INDENT, (inner) => taskLines(asked?.task ?? "", card, inner))];
	}
	const short = [title(mark, "subagent", mode, pen), pen.fg("muted", progress(card))];
	// While the call goes on, the clock is in the last line: this one may be out of sight (see `mostRows`).
	const head = headLine([...short, isOver ? clock(card, pen) : ""], short, pen);
	return [head, ...(isOver || isLive ? [] : listLines(card, pen))];
}

/** What comes below: how it goes, or what came of it. */
export function bodyLines(card: Card, pen: Pen): string[] {
	const { phase, isLive, expanded } = card;
	const [view] = card.views;
	const below = (draw: (inner: Pen) => readonly string[]) => pen.indented(INDENT, draw);
	if (phase === "done" && !view?.result) {
		return below((inner) => failureLines(card.error ?? { message: card.text }, undefined, card, inner));
	}
	if (!view || (phase !== "done" && !isLive)) return [];
	if (card.mode === "single") {
		return below((inner) => (view.result ? endedLines(view.result, card, inner) : liveLines(view, card, inner)));
	}
	const blocks = () => (isLive ? liveBlocks(card, mostRows() - OTHER_ROWS, pen) : finalBlocks(card, pen));
	return [...(expanded ? blocks() : listLines(card, pen)), ...below((inner) => sumLines(card, inner))];
}

function markOf({ mode, phase, views, isLive, failed, error }: Card): Mark {
	const isOne = mode === "single";
	const shown = isOne ? views.slice(0, 1) : views;
	const [view] = shown;
	if (phase === "pending") return markOfState({ state: "planned" });
	if (phase === "running") return isOne && view && isLive ? view.mark : markOfState({ state: "running" });
	if (isOne && view && !isCompleted(view)) return view.mark;
	if (shown.some(({ state }) => state === "aborted")) return markOfState({ state: "aborted" });
	const isRefused = isOne ? error && error.code !== TRUNCATED : !view;
	if (failed || isRefused) return markOfState({ state: "failed" });
	return error || !shown.every(isCompleted) ? markNamed("warning") : markOfState({ state: "completed" });
}

/** How long the call has taken, or took. */
function clock({ elapsedMs, phase }: Card, pen: Pen): string {
	return elapsedMs === undefined ? "" : pen.fg("muted", duration(elapsedMs, phase !== "done"));
}

/**
 * Lines of an expanded card whose run goes on. A pi before 1.x clears the screen, and what can be scrolled back to, to
 * redraw a line that is out of sight; what is left out can be seen when the run is over.
 */
function mostRows(): number {
	return Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, (process.stdout.rows ?? MOST_ROWS + PI_ROWS) - PI_ROWS));
}

/** An expanded card can be higher than the terminal; then its clock would tick out of sight. */
function isHigh(card: Card): boolean {
	return card.expanded && card.isLive;
}

/** Lines of an expanded card that its task, its calls or its text get. */
function share(part: number): number {
	return Math.max(1, Math.floor((mostRows() - 3) * part));
}

function taskLines(task: string, card: Card, pen: Pen): string[] {
	if (task.trim() === "") return [];
	if (!card.expanded) return [pen.line(task, "muted")];
	const lines = pen.paragraph(task, "muted");
	if (card.phase === "done") return lines;
	return limited(lines, share(0.3), (rest) => pen.remark(`${rest} more lines of the task`));
}

/** One run under way. */
function liveLines(view: TaskView, card: Card, pen: Pen): string[] {
	const limits = card.expanded
		? { calls: share(0.5), text: share(0.2), withWords: true }
		: { calls: RECENT_CALLS, text: LIVE_TEXT_LINES, withWords: false };
	const spent = view.usage ? pen.figures(view.usage, view.model) : [];
	const parts = [isHigh(card) ? clock(card, pen) : "", ...spent, silence(view, "odd", pen)];
	return [...workLines(view, limits, pen), ...pen.rows(parts)];
}

/** One run that is over. */
function endedLines(result: SingleResult, card: Card, pen: Pen): string[] {
	const failed = card.failed || (card.error !== undefined && card.error.code !== TRUNCATED);
	const output = result.output ?? (failed ? "" : card.text);
	const why = card.error ?? (failed ? { message: result.error ?? card.text } : undefined);
	return endLines({ ...result, output }, { failed, error: why }, card, pen);
}

/** How many tasks there are, and how many of them are done or which step is next. */
function progress({ mode, views, phase }: Card): string {
	const count = views.length;
	const done = views.filter(isCompleted).length;
	if (count === 0) return "";
	if (mode !== "chain") return phase === "done" && done < count ? `${done} of ${count} done` : counted(count, "task");
	const at = views.findIndex((view) => !isCompleted(view));
	if (phase === "pending" || at < 0) return counted(count, "step");
	return `${phase === "done" ? "stopped at step" : "step"} ${at + 1} of ${count}`;
}

/** What several tasks have come to together. */
function sumLines(card: Card, pen: Pen): string[] {
	const { mode, views, expanded, isLive, error } = card;
	const last = summary(card, pen);
	if (isLive) return last;
	const remark = error?.code === TRUNCATED ? pen.paragraph(error.message, "warning") : [];
	if (expanded) return [...remark, ...last];
	// The answer of a chain is that of its last step; of parallel tasks each has its own.
	const answer = (mode === "chain" && views.every(isCompleted) && views.at(-1)?.text) || "";
	const changes = new Set(views.flatMap(({ result }) => result?.changes ?? []));
	const start = answer === "" ? [] : answerLines(answer, card, ANSWER_LINES, pen);
	return [...start, ...remark, ...changeLines([...changes], card, pen), ...last];
}

/** Counts, clock and what all of them spent. */
function summary(card: Card, pen: Pen): string[] {
	const { views, expanded, expandKey } = card;
	const isOver = card.phase === "done";
	const states = counts(views.map(({ state }) => state));
	const usages = views.flatMap(({ usage }) => usage ?? []);
	const parts = [
		...states.map(({ count, word, color }) => pen.fg(color, `${count} ${word}`)),
		isOver ? "" : clock(card, pen),
		...pen.figures(usages, commonModel(views)),
		pen.fg("dim", isOver && !expanded && expandKey !== "" ? `${expandKey} to expand` : ""),
	];
	const lines = pen.rows(parts);
	return isOver ? lines : lines.slice(0, SUMMARY_ROWS);
}

function isCompleted(view: TaskView): boolean {
	return view.state === "completed";
}
