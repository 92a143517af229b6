/** An entry of a transcript as lines. */

import type { Transcript } from "../../index.js";
import { limited, type Pen } from "../ui/pen.ts";
import { prose } from "../ui/prose.ts";
import { clip, fitCall, oneLine, PREVIEW_CHARACTERS, plainText } from "../ui/text.ts";

/** What a tool has answered is a file or a listing: its start tells what it is. */
const RESULT_LINES = 6;
const INDENT = 2;
const ASKED = "❯ ";
const CALLED = "→ ";

export type TranscriptEntry = Transcript["entries"][number];

/** The lines of an entry. What is said has a blank line above it, calls and their answers stay together. */
export function entryLines({ role, name, isError, ...entry }: TranscriptEntry, pen: Pen): string[] {
	const text = typeof entry.text === "string" ? entry.text : "";
	const below = (draw: (inner: Pen) => string[]) => pen.indented(INDENT, draw);
	switch (role) {
		case "user":
			return ["", ...pen.wrap(pen.fg("accent", plainText(text).trim()), pen.fg("accent", ASKED))];
		case "assistant":
			return ["", ...below((inner) => (isError ? inner.paragraph(text, "error") : prose(text, inner)))];
		case "toolCall":
			return below((inner) => [callOf(oneLine(text.slice(0, PREVIEW_CHARACTERS)) || (name ?? "…"), inner)]);
		case "toolResult":
			return pen.indented(2 * INDENT, (inner) => resultLines(text, isError === true, inner));
		default:
			return below((inner) => inner.start(text, "dim", 1));
	}
}

/** A tool call in one line. */
export function callOf(words: string, pen: Pen): string {
	const room = pen.width - CALLED.length;
	return pen.fg("dim", CALLED) + pen.fg("toolOutput", clip(fitCall(words, room), room));
}

function resultLines(text: string, isError: boolean, pen: Pen): string[] {
	const lines = plainText(text).trimEnd().split("\n");
	const drawn = lines.map((line) => pen.fg(isError ? "error" : "dim", pen.clip(line)));
	return limited(drawn, RESULT_LINES, (rest) => pen.remark(`${rest} more lines`));
}
