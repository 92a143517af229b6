/** What a run does and what came of it: its calls and words, an answer or why there is none, changed files, places. */

import type { CallError, DisplayItem, SingleResult } from "../../index.js";
import { limited, type Pen } from "../ui/pen.ts";
import { compactProse, endOfProse, prose } from "../ui/prose.ts";
import { fitPath, oneLine, PREVIEW_CHARACTERS, shortPath } from "../ui/text.ts";
import { callText } from "../ui/words.ts";
import { type Extent, hint } from "./frame.ts";

export const ANSWER_LINES = 6;
const ERROR_LINES = 6;
const PARTIAL_LINES = 3;
/** What a path keeps beside others. */
const FEWEST_PATH_COLUMNS = 24;

/** Why a call did not simply succeed. */
type Failure = Pick<CallError, "message"> & Partial<CallError>;

/** How a run ended: what went wrong with one that did not fail is a remark. */
interface End {
	failed: boolean;
	error: Failure | undefined;
}

/** All that a card says of a run that is over. */
export function endLines(result: SingleResult, { failed, error }: End, extent: Extent, pen: Pen): string[] {
	const { displayItems = [], usage, model, output = "", changes = [], outcome } = result;
	return [
		...(extent.expanded ? callLines(displayItems, Number.POSITIVE_INFINITY, undefined, pen) : []),
		...(failed
			? failureLines(error ?? { message: "" }, result, extent, pen)
			: answerLines(output, extent, ANSWER_LINES, pen)),
		...(error && !failed ? pen.paragraph(error.message, "warning") : []),
		...changeLines(changes, extent, pen),
		...pen.rows(pen.figures(usage, model)),
		...(extent.expanded || outcome === "interrupted" ? whereabouts(result, pen) : []),
	];
}

/** An answer as Markdown, or the start of it. */
export function answerLines(answer: string, extent: Extent, limit: number, pen: Pen): string[] {
	if (extent.expanded) return ["", ...prose(answer, pen), ""];
	// An answer can be 50 KB: no more of it is laid out than may be shown.
	const source = answer.slice(0, PREVIEW_CHARACTERS);
	const lines = compactProse(source, pen);
	if (source !== answer) return [...lines.slice(0, limit), hint("more", extent, pen)];
	return limited(lines, limit, (rest) => hint(`${rest} more lines`, extent, pen));
}

/** Why there is no answer, and what there is of one. */
export function failureLines(failure: Failure, result: SingleResult | undefined, extent: Extent, pen: Pen): string[] {
	const { code, message } = failure;
	const { output = "", displayItems = [], outcome } = result ?? {};
	// An abort and the end of a budget are what somebody asked for: no code, no alarm.
	const isWanted = outcome === "aborted" || outcome === "budget";
	// An expanded card has words that led to calls above, with the calls.
	const partial = extent.expanded ? newsOf({ items: displayItems, text: output }) : output;
	const calls = displayItems.filter(({ type }) => type === "toolCall").length;
	const why = pen.paragraph(message, isWanted ? "warning" : "error");
	return [
		...(code && !isWanted ? [pen.clip(pen.fg("error", pen.bold(oneLine(code))))] : []),
		...(extent.expanded ? why : why.slice(0, ERROR_LINES)),
		...(partial === "" ? [] : answerLines(partial, extent, PARTIAL_LINES, pen)),
		...(calls > 0 && !extent.expanded ? [hint(counted(calls, "call"), extent, pen)] : []),
	];
}

/** The files that a run has changed: on one line as many as fit, or each on its own. */
export function changeLines(changes: readonly string[], extent: Extent, pen: Pen): string[] {
	if (changes.length === 0) return [];
	const label = "changed ";
	const named = (path: string, columns: number) => pen.fg("accent", fitPath(oneLine(path), columns));
	if (extent.expanded) {
		return [pen.fg("muted", label.trimEnd()), ...changes.map((path) => `  ${named(path, pen.width - 2)}`)];
	}
	const room = pen.width - label.length;
	const count = Math.max(1, Math.min(changes.length, Math.floor(room / FEWEST_PATH_COLUMNS)));
	const more = count < changes.length ? ` +${changes.length - count}` : "";
	const columns = Math.floor((room - more.length - 2 * (count - 1)) / count);
	const shown = changes.slice(0, count).map((path) => named(path, columns));
	return [pen.clip(pen.fg("muted", label) + shown.join(pen.fg("dim", ", ")) + pen.fg("dim", more))];
}

/** Attempts, files and notes. */
function whereabouts(result: SingleResult, pen: Pen): string[] {
	const { attempts, sessionFile, fullOutputFile, diagnostics = [] } = result;
	return [
		...(attempts > 1 ? [labelled("attempts", String(attempts), pen)] : []),
		...(sessionFile ? [placeLine("session", sessionFile, pen)] : []),
		...(fullOutputFile ? [placeLine("full answer", fullOutputFile, pen)] : []),
		...diagnostics.flatMap((note) => pen.wrap(labelled("note", oneLine(note), pen))),
	];
}

/** Where a file lies, on one line. */
export function placeLine(label: string, path: string, pen: Pen): string {
	const place = fitPath(shortPath(oneLine(path)), pen.width - label.length - 1);
	return pen.clip(labelled(label, place, pen));
}

function labelled(label: string, text: string, pen: Pen): string {
	return `${pen.fg("muted", label)} ${pen.fg("dim", text)}`;
}

/** What a run has done so far, and its last text. */
interface Work {
	items: readonly DisplayItem[];
	text: string;
}

/** The last `limit` calls, with the words among them: all that led to these calls, or only those at `words`. */
export function callLines(items: readonly DisplayItem[], limit: number, words: number | undefined, pen: Pen): string[] {
	const calls = items.flatMap(({ type }, index) => (type === "toolCall" ? [index] : []));
	const hidden = Math.max(0, calls.length - limit);
	// After the last hidden call: with the words that led to the first one shown.
	const from = hidden === 0 ? 0 : (calls[hidden - 1] ?? 0) + 1;
	// Text after the last call is the answer, which stands below on its own.
	const upToLastCall = items.slice(0, (calls.at(-1) ?? -1) + 1);
	const lines = upToLastCall.flatMap((item, index) => {
		if (item.type === "toolCall") return index < from ? [] : [pen.call(callText(item.name, item.args))];
		const isShown = words === undefined ? index >= from : index === words;
		return isShown ? [pen.line(item.text, "dim")] : [];
	});
	return hidden === 0 ? lines : [pen.remark(counted(hidden, "earlier call")), ...lines];
}

/** A run's newest calls, and the end of what it says. `withWords`: each call with what was said before it. */
export function workLines(
	{ items, text }: Work,
	limits: { calls: number; text: number; withWords: boolean },
	pen: Pen,
): string[] {
	const news = newsOf({ items, text });
	const last = news === "" ? items.findLastIndex(({ type }) => type === "text") : -1;
	const calls = limits.calls < 1 ? [] : callLines(items, limits.calls, limits.withWords ? undefined : last, pen);
	return [...calls, ...endOfProse(news, limits.text, pen)];
}

/** What a run says now; nothing while calls are made that its last words have led to. */
export function newsOf({ items, text }: Work): string {
	const words = items.findLast((item) => item.type === "text");
	const isOld = items.at(-1)?.type === "toolCall" && words?.text.trim() === text.trim();
	return isOld ? "" : text.trim();
}

/** `1 call`, `2 calls`. */
export function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? "" : "s"}`;
}
