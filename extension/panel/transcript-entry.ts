/** An entry of a transcript as lines. */

import type { Transcript } from "../../index.js";
import { paragraph, remark, startOf } from "../ui/lines.ts";
import { fitCall } from "../ui/paths.ts";
import { prose } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine, PREVIEW_CHARACTERS, plainText, wrap } from "../ui/text.ts";

/** What a tool has answered is a file or a listing: its start tells what it is. */
const RESULT_LINES = 6;
const INDENT = 2;
const ASKED = "❯ ";
const CALLED = "→ ";

export type TranscriptEntry = Transcript["entries"][number];

/** The lines of an entry. What is said has a blank line above it, calls and their answers stay together. */
export function entryLines(entry: TranscriptEntry, columns: number, style: Style): string[] {
	const { role, name, isError } = entry;
	const text = typeof entry.text === "string" ? entry.text : "";
	const width = columns - INDENT;
	switch (role) {
		case "user":
			return ["", ...wrap(style.fg("accent", plainText(text).trim()), columns, style.fg("accent", ASKED))];
		case "assistant":
			return ["", ...indented(isError ? paragraph(text, width, style, "error") : prose(text, width, style), INDENT)];
		case "toolCall": {
			const room = width - CALLED.length;
			const call = clip(fitCall(oneLine(text.slice(0, PREVIEW_CHARACTERS)) || (name ?? "…"), room), room);
			return indented([style.fg("dim", CALLED) + style.fg("toolOutput", call)], INDENT);
		}
		case "toolResult":
			return indented(resultLines(text, isError === true, width - INDENT, style), 2 * INDENT);
		default:
			return indented(startOf(text, width, style, "dim", 1), INDENT);
	}
}

function resultLines(text: string, isError: boolean, width: number, style: Style): string[] {
	const lines = plainText(text).trimEnd().split("\n");
	const hidden = lines.length - RESULT_LINES;
	// One more line is no longer than saying so.
	const shown = hidden > 1 ? lines.slice(0, RESULT_LINES) : lines;
	const drawn = shown.map((line) => style.fg(isError ? "error" : "dim", clip(line, width)));
	return hidden > 1 ? [...drawn, remark(`${hidden} more lines`, width, style)] : drawn;
}
