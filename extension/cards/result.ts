/** What came of a run, as lines: its answer or its failure, what it changed, where its files lie. */

import type { SingleResult } from "../../index.js";
import { figures, limited, paragraph, partLines, remark } from "../ui/lines.ts";
import { compactProse, PREVIEW_CHARACTERS, prose } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, fitPath, oneLine, wrap } from "../ui/text.ts";
import { shortPath } from "../ui/tool-calls.ts";
import type { Extent } from "./frame.ts";
import { callLines, newsOf } from "./work.ts";

export const ANSWER_LINES = 6;
const ERROR_LINES = 6;
const PARTIAL_LINES = 3;
/** What a path keeps beside others. */
const FEWEST_PATH_COLUMNS = 24;

/** Why a call did not simply succeed. */
export interface Failure {
	code?: string;
	message: string;
}

/** All that a card says of a run that is over. What went wrong with one that did not fail is a remark. */
export function endLines(
	result: SingleResult,
	{ failed, error }: { failed: boolean; error: Failure | undefined },
	extent: Extent,
	width: number,
	style: Style,
): string[] {
	const { displayItems = [], usage, model, output = "" } = result;
	return [
		...(extent.expanded ? callLines(displayItems, Number.POSITIVE_INFINITY, undefined, width, style) : []),
		...(failed
			? failureLines(error ?? { message: "" }, result, extent, width, style)
			: answerLines(output, extent, width, style, ANSWER_LINES)),
		...(error && !failed ? paragraph(error.message, width, style, "warning") : []),
		...changeLines(result.changes ?? [], extent, width, style),
		...partLines(figures(usage, model, style), width, style),
		...(extent.expanded || result.outcome === "interrupted" ? whereabouts(result, width, style) : []),
	];
}

/** An answer as Markdown, or the start of it. */
export function answerLines(answer: string, extent: Extent, width: number, style: Style, limit: number): string[] {
	if (extent.expanded) return ["", ...prose(answer, width, style), ""];
	// An answer can be 50 KB: no more of it is laid out than may be shown.
	const source = answer.slice(0, PREVIEW_CHARACTERS);
	const lines = compactProse(source, width, style);
	const more = (text: string) => hint(text, extent, width, style);
	if (source !== answer) return [...lines.slice(0, limit), more("more")];
	return limited(lines, limit, (rest) => more(`${rest} more lines`));
}

/** Why there is no answer, and what there is of one. */
export function failureLines(
	{ code, message }: Failure,
	result: SingleResult | undefined,
	extent: Extent,
	width: number,
	style: Style,
): string[] {
	const limit = extent.expanded ? Number.POSITIVE_INFINITY : ERROR_LINES;
	// An abort and the end of a budget are what somebody asked for: no code, no alarm.
	const isWanted = result?.outcome === "aborted" || result?.outcome === "budget";
	const { output = "", displayItems = [] } = result ?? {};
	// An expanded card has words that led to calls above, with the calls.
	const partial = extent.expanded ? newsOf(displayItems, output) : output;
	const calls = displayItems.filter(({ type }) => type === "toolCall").length;
	return [
		...(code && !isWanted ? [clip(style.fg("error", style.bold(oneLine(code))), width)] : []),
		...paragraph(message, width, style, isWanted ? "warning" : "error").slice(0, limit),
		...(partial === "" ? [] : answerLines(partial, extent, width, style, PARTIAL_LINES)),
		...(calls > 0 && !extent.expanded ? [hint(calls === 1 ? "1 call" : `${calls} calls`, extent, width, style)] : []),
	];
}

/** A remark on what an expanded card shows. */
export function hint(text: string, { expandKey }: Extent, width: number, style: Style): string {
	return remark(expandKey === "" ? text : `${text}, ${expandKey} to expand`, width, style);
}

/** The files that a run has changed: on one line as many as fit, or each on its own. */
export function changeLines(changes: readonly string[], extent: Extent, width: number, style: Style): string[] {
	if (changes.length === 0) return [];
	const label = style.fg("muted", "changed ");
	const room = width - "changed ".length;
	const named = (path: string, columns: number) => style.fg("accent", fitPath(oneLine(path), columns));
	if (extent.expanded) return [label.trimEnd(), ...changes.map((path) => `  ${named(path, width - 2)}`)];
	const count = Math.max(1, Math.min(changes.length, Math.floor(room / FEWEST_PATH_COLUMNS)));
	const hidden = changes.length - count;
	const more = hidden > 0 ? style.fg("dim", ` +${hidden}`) : "";
	const columns = Math.floor((room - (hidden > 0 ? ` +${hidden}`.length : 0) - 2 * (count - 1)) / count);
	const shown = changes.slice(0, count).map((path) => named(path, columns));
	return [clip(label + shown.join(style.fg("dim", ", ")) + more, width)];
}

/** Attempts, files and notes. */
function whereabouts(result: SingleResult, width: number, style: Style): string[] {
	const { attempts, sessionFile, fullOutputFile, diagnostics = [] } = result;
	const file = (label: string, path: string | undefined) => (path ? [placeLine(label, path, width, style)] : []);
	return [
		...(attempts > 1 ? [`${style.fg("muted", "attempts")} ${style.fg("dim", String(attempts))}`] : []),
		...file("session", sessionFile),
		...file("full answer", fullOutputFile),
		...diagnostics.flatMap((note) => wrap(`${style.fg("muted", "note")} ${style.fg("dim", oneLine(note))}`, width)),
	];
}

/** Where a file lies, on one line. */
export function placeLine(label: string, path: string, width: number, style: Style): string {
	const room = width - label.length - 1;
	return clip(`${style.fg("muted", label)} ${style.fg("dim", fitPath(shortPath(oneLine(path)), room))}`, width);
}
