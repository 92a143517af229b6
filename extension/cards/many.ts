/** The card of several runs: one line per task or step, and what they come to together. */

import type { Pen } from "../ui/pen.ts";
import { counts } from "../ui/states.ts";
import { type Mark, markNamed, markOfState } from "../ui/words.ts";
import { type Card, clock, refusal, TRUNCATED } from "./card.ts";
import { headLine, INDENT, title } from "./frame.ts";
import { finalBlocks, listLines, liveBlocks } from "./list.ts";
import { ANSWER_LINES, answerLines, changeLines } from "./result.ts";
import { commonModel, type TaskView } from "./tasks.ts";
import { counted } from "./work.ts";

/** Lines that sum up a call under way, where a narrow terminal breaks them. */
const SUMMARY_ROWS = 3;
/** Lines of an expanded live card that are not its tasks'. */
const OTHER_ROWS = 1 + SUMMARY_ROWS;

/** First line, and the planned tasks until an update says more of them. */
export function headLines(card: Card, pen: Pen): string[] {
	const named = title(markOf(card), "subagent", card.mode, pen);
	const short = [named, pen.fg("muted", progress(card))];
	// While the call goes on, the clock is in the last line: this one may be out of sight (see `expandedRows`).
	const isOver = card.phase === "done";
	const head = headLine([...short, isOver ? clock(card, pen) : ""], short, pen);
	return [head, ...(isOver || card.isLive ? [] : listLines(card, pen))];
}

/** What comes below: how the tasks go, or what came of them. */
export function bodyLines(card: Card, pen: Pen): string[] {
	const { views, expanded, rows, phase } = card;
	const below = (draw: (card: Card, inner: Pen) => string[]) => pen.indented(INDENT, (inner) => draw(card, inner));
	if (card.isLive) {
		return [...(expanded ? liveBlocks(card, rows - OTHER_ROWS, pen) : listLines(card, pen)), ...below(summary)];
	}
	if (phase !== "done") return [];
	if (views.length === 0) return below(refusal);
	return expanded
		? [...finalBlocks(card, card, pen), ...below(remarks), ...below(summary)]
		: [...listLines(card, pen), ...below(answer), ...below(remarks), ...below(changes), ...below(summary)];
}

/** The answer of a chain is that of its last step; of parallel tasks each has its own. */
function answer(card: Card, pen: Pen): string[] {
	const { hasSteps, views } = card;
	const text = hasSteps && views.every(isCompleted) ? views.at(-1)?.text : undefined;
	return text ? answerLines(text, card, ANSWER_LINES, pen) : [];
}

function remarks({ error }: Card, pen: Pen): string[] {
	return error?.code === TRUNCATED ? pen.paragraph(error.message, "warning") : [];
}

function changes(card: Card, pen: Pen): string[] {
	const paths = new Set(card.views.flatMap(({ result }) => result?.changes ?? []));
	return changeLines([...paths], card, pen);
}

function markOf({ phase, views, failed, error }: Card): Mark {
	if (phase === "pending") return markOfState({ state: "planned" });
	if (phase === "running") return markOfState({ state: "running" });
	if (views.some(({ state }) => state === "aborted")) return markOfState({ state: "aborted" });
	if (failed || views.length === 0) return markOfState({ state: "failed" });
	return views.every(isCompleted) && !error ? markOfState({ state: "completed" }) : markNamed("warning");
}

/** How many tasks there are, and how many of them are done or which step is next. */
function progress({ views, hasSteps, phase }: Card): string {
	const count = views.length;
	if (count === 0) return "";
	if (hasSteps) {
		const at = views.findIndex((view) => !isCompleted(view));
		if (phase === "pending" || at < 0) return counted(count, "step");
		return `${phase === "done" ? "stopped at step" : "step"} ${at + 1} of ${count}`;
	}
	const done = views.filter(isCompleted).length;
	return phase === "done" && done < count ? `${done} of ${count} done` : counted(count, "task");
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
