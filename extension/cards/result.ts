/** What came of a run, as lines: its answer, its failure, where its files lie. */

import type { SingleResult } from "../../index.js";
import { type Line, plainText } from "../ui/spans.ts";
import { shortPath } from "../ui/tool-calls.ts";
import { clipped, compactProse, newsOf, PREVIEW_CHARACTERS, paragraph, prose, remark, wrapped } from "./lines.ts";

export const ANSWER_LINES = 6;
const ERROR_LINES = 6;
const PARTIAL_LINES = 3;

/** How much of it is wanted. */
export interface Extent {
	expanded: boolean;
	/** How to expand the card, when pi tells. */
	expandKey: string | undefined;
}

/** An answer as Markdown, or the start of it. */
export function answerLines(answer: string, extent: Extent, width: number, limit: number): Line[] {
	if (extent.expanded) return [[], ...prose(answer, width), []];
	const source = answer.slice(0, PREVIEW_CHARACTERS);
	const lines = compactProse(source, width);
	const rest = lines.length - limit;
	if (rest <= 1 && source === answer) return lines;
	const more = source === answer ? `${rest} more lines` : "more";
	const how = extent.expandKey ? `, ${extent.expandKey} to expand` : "";
	return [...lines.slice(0, limit), remark(`${more}${how}`, width)];
}

/** Why there is no answer, and what there is of one. */
export function failureLines(
	error: { code?: string; message: string },
	result: SingleResult | undefined,
	extent: Extent,
	width: number,
): Line[] {
	const limit = extent.expanded ? Number.POSITIVE_INFINITY : ERROR_LINES;
	// An abort and the end of a budget are what somebody asked for: no code, no alarm.
	const isWanted = result?.outcome === "aborted" || result?.outcome === "budget";
	const lines: Line[] = [];
	if (error.code && !isWanted) lines.push(clipped([{ text: error.code, color: "error", bold: true }], width));
	lines.push(...paragraph(error.message, width, isWanted ? "warning" : "error").slice(0, limit));
	// An expanded card has words that led to calls above, with the calls.
	const output = result?.output ?? "";
	const partial = extent.expanded ? newsOf(result?.displayItems ?? [], output) : output;
	if (partial !== "") lines.push(...answerLines(partial, extent, width, PARTIAL_LINES));
	return lines;
}

/** Attempts, files and notes. */
export function whereabouts(result: SingleResult, width: number): Line[] {
	const lines: Line[] = [];
	const say = (label: string, value: string) => {
		const named: Line = [
			{ text: `${label} `, color: "muted" },
			{ text: shortPath(plainText(value)), color: "dim" },
		];
		lines.push(...wrapped(named, width));
	};
	if (result.attempts > 1) say("attempts", String(result.attempts));
	if (result.sessionFile) say("session", result.sessionFile);
	if (result.fullOutputFile) say("full answer", result.fullOutputFile);
	for (const diagnostic of result.diagnostics ?? []) say("note", diagnostic);
	return lines;
}
