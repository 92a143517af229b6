/** An entry of a transcript as lines. */

import type { Transcript } from "../background/types.ts";
import { clipped, indented, PREVIEW_CHARACTERS, paragraph, prose, remark, startOf } from "../cards/lines.ts";
import { clip, type Line, oneLine, plainText, type Span, wrap } from "../ui/spans.ts";

/** What a tool has answered is a file or a listing: its start tells what it is. */
const RESULT_LINES = 6;
const RESULT_INDENT = 2;
const ASKED: Span = { text: "❯ ", color: "accent" };
const CALLED: Span = { text: "→ ", color: "dim" };

/** The lines of an entry. What is said has a blank line above it, calls and their answers stay together. */
export function entryLines({ role, text, name, isError }: Transcript["entries"][number], columns: number): Line[] {
	switch (role) {
		case "user":
			return [[], ...askedLines(text, columns)];
		case "assistant":
			return [[], ...(isError ? paragraph(text, columns, "error") : prose(text, columns))];
		case "toolCall":
			return [
				clipped(
					[CALLED, { text: oneLine(text.slice(0, PREVIEW_CHARACTERS)) || name || "…", color: "toolOutput" }],
					columns,
				),
			];
		case "toolResult":
			return indented(resultLines(text, isError === true, columns - RESULT_INDENT), RESULT_INDENT);
		default:
			return startOf(text, columns, "dim", 1);
	}
}

/** What the child was asked, as it was written. */
function askedLines(text: string, columns: number): Line[] {
	const lines = plainText(text).trim().split("\n");
	return lines
		.flatMap((line) => wrap([{ text: line, color: "accent" }], columns - 2))
		.map((line, index) => [index === 0 ? ASKED : { text: "  " }, ...line]);
}

function resultLines(text: string, isError: boolean, columns: number): Line[] {
	const lines = plainText(text).trimEnd().split("\n");
	const hidden = lines.length - RESULT_LINES;
	// One more line is no longer than saying so.
	const shown = hidden > 1 ? lines.slice(0, RESULT_LINES) : lines;
	const drawn = shown.map((line) => clipped([{ text: line, color: isError ? "error" : "dim" }], columns));
	return hidden > 1 ? [...drawn, remark(`${hidden} more lines`, columns)] : drawn;
}

/** A remark between entries. */
export function note(text: string, columns: number): Line {
	return clip([{ text: `  ${text}`, color: "dim" }], columns);
}
