/** A line of columns: for what is compared from line to line, and beside that as far as the terminal reaches. */

import type { Color, Pen } from "./pen.ts";
import { cell, widthOf } from "./text.ts";

/** Fewer columns than this say nothing. */
export const FEWEST_COLUMNS = 6;
const GAP = "  ";

export interface Column {
	text: string;
	color: Color;
	/** A column of none is left out. */
	width: number;
	/** It is compared by its end. */
	isRight?: boolean;
}

/** Parts side by side; a function draws in the room that the columns leave. */
export function columnLine(lead: string, parts: readonly (Column | ((inner: Pen) => string))[], pen: Pen): string {
	// Widths are known by column: to measure styled text is what drawing would cost most.
	const used = parts.map((part) => (typeof part === "function" || part.width <= 0 ? 0 : part.width + GAP.length));
	const room = pen.width - used.reduce((sum, columns) => sum + columns, widthOf(lead));
	const drawn = parts.map((part) => {
		if (typeof part === "function") return part(pen.resized(room));
		const { text, color, width, isRight } = part;
		return width <= 0 ? "" : pen.fg(color, cell(isRight ? text.padStart(width) : text, width));
	});
	const line = lead + drawn.filter((part) => part !== "").join(GAP);
	return (room < 0 ? pen.clip(line) : line).trimEnd();
}

/** The columns of the longest of these texts, at most `most`. */
export function longest(texts: readonly string[], most: number): number {
	return Math.min(most, Math.max(1, ...texts.map((text) => widthOf(text.slice(0, most)))));
}
