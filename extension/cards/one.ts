/** The card of one run. Collapsed it says how the run goes; expanded it shows all that is known of it. */

import type { SingleResult } from "../../index.js";
import { limited, type Pen } from "../ui/pen.ts";
import { type Mark, markNamed, markOfState } from "../ui/words.ts";
import { type Card, clock, refusal, TRUNCATED } from "./card.ts";
import { headLine, INDENT, title } from "./frame.ts";
import { endLines } from "./result.ts";
import { silence, type TaskView } from "./tasks.ts";
import { workLines } from "./work.ts";

const RECENT_CALLS = 3;
const LIVE_TEXT_LINES = 2;

/** First line and task: what was asked of whom. */
export function headLines(card: Card, pen: Pen): string[] {
	const [asked] = card.plan;
	const [view] = card.views;
	const mark = markOf(card, view);
	const note = pen.fg(mark.color, card.phase === "pending" ? "" : (view?.note ?? ""));
	const named = title(mark, "subagent", asked?.agent || (card.phase === "done" ? "" : "…"), pen);
	const head = headLine([named, isHigh(card) ? "" : clock(card, pen), note], [named, note], pen);
	return [head, ...pen.indented(INDENT, (inner) => taskLines(asked?.task ?? "", card, inner))];
}

/** What comes below: the run so far, or its result. */
export function bodyLines(card: Card, pen: Pen): string[] {
	return pen.indented(INDENT, (inner) => {
		const [view] = card.views;
		if (card.phase === "done") return view?.result ? endedLines(view.result, card, inner) : refusal(card, inner);
		return view && card.isLive ? liveLines(view, card, inner) : [];
	});
}

function endedLines(result: SingleResult, card: Card, pen: Pen): string[] {
	const failed = card.failed || (card.error !== undefined && card.error.code !== TRUNCATED);
	const output = result.output ?? (failed ? "" : card.text);
	const why = card.error ?? (failed ? { message: result.error ?? card.text } : undefined);
	return endLines({ ...result, output }, { failed, error: why }, card, pen);
}

function markOf({ phase, isLive, failed, error }: Card, view: TaskView | undefined): Mark {
	if (phase === "pending") return markOfState({ state: "planned" });
	if (phase === "running") return view && isLive ? view.mark : markOfState({ state: "running" });
	if (view && view.state !== "completed") return view.mark;
	if (failed || (error && error.code !== TRUNCATED)) return markOfState({ state: "failed" });
	return error ? markNamed("warning") : (view?.mark ?? markOfState({ state: "completed" }));
}

/** An expanded card can be higher than the terminal; then its clock would tick out of sight (see `expandedRows`). */
function isHigh(card: Card): boolean {
	return card.expanded && card.isLive;
}

function taskLines(task: string, card: Card, pen: Pen): string[] {
	if (task.trim() === "") return [];
	if (!card.expanded) return [pen.line(task, "muted")];
	const lines = pen.paragraph(task, "muted");
	if (card.phase === "done") return lines;
	return limited(lines, share(card, 0.3), (rest) => pen.remark(`${rest} more lines of the task`));
}

/** Lines of an expanded card that its task, its calls or its text get. */
function share({ rows }: Card, part: number): number {
	return Math.max(1, Math.floor((rows - 3) * part));
}

function liveLines(view: TaskView, card: Card, pen: Pen): string[] {
	const limits = card.expanded
		? { calls: share(card, 0.5), text: share(card, 0.2), withWords: true }
		: { calls: RECENT_CALLS, text: LIVE_TEXT_LINES, withWords: false };
	const spent = view.usage ? pen.figures(view.usage, view.model) : [];
	const parts = [isHigh(card) ? clock(card, pen) : "", ...spent, silence(view, "odd", pen)];
	return [...workLines(view, limits, pen), ...pen.rows(parts)];
}
