/** The lines of a report, as commands and cards draw them. */

import type { CommandReport } from "../../index.js";
import type { Pen } from "./pen.ts";
import { oneLine, plainText, widthOf } from "./text.ts";
import { markNamed } from "./words.ts";

/** Columns of one step of indentation, and more of them than any report has. */
const STEP = 2;
const MAX_INDENT = 8;
/** Longer names do not widen the column of names. */
const NAME_COLUMNS = 28;
const GAP = 2;

type ReportLine = CommandReport["lines"][number];

/** Lines of a report, one column in from the left like pi's own messages. */
export function reportLines(lines: readonly ReportLine[], pen: Pen): string[] {
	const names = lines.map(({ name = "", text }) => (text === "" ? 0 : widthOf(oneLine(name))));
	const column = Math.max(0, ...names.filter((columns) => columns <= Math.min(NAME_COLUMNS, pen.width / 3)));
	return pen.indented(1, (inner) => lines.flatMap((line) => reportLine(line, column, inner)));
}

function reportLine({ mark, name = "", text, indent = 0 }: ReportLine, column: number, pen: Pen): string[] {
	const { text: sign, color } = markNamed(mark ?? "none");
	const margin = " ".repeat(STEP * Math.min(MAX_INDENT, Math.max(0, Math.floor(indent))));
	const lead = margin + (sign && pen.fg(color, `${sign} `));
	const words = pen.fg(sign ? "toolOutput" : "muted", plainText(text).replace(/\n/g, " "));
	const title = oneLine(name);
	if (title === "") return pen.wrap(words, lead);
	if (words === "") return pen.wrap(pen.fg("accent", pen.bold(title)), lead);
	const head = pen.fg("accent", title) + " ".repeat(Math.max(0, column - widthOf(title)) + GAP);
	// What follows a name that fits into the column stands below the words, and not below the name.
	return widthOf(title) <= column ? pen.wrap(words, lead + head) : pen.wrap(head + words, lead);
}
