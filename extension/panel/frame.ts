/** The panel's own lines: what the view calls itself, and the keys. */

import { clip, type Line, lineWidth, type Span } from "../ui/spans.ts";
import type { Hint } from "./view.ts";

/** Keys that every view has. */
const ALWAYS: readonly Hint[] = [{ keys: "?", does: "keys", rank: 0 }];
const GAP: Span = { text: "  " };

/** The keys in one line: as many as fit, the most important of them. */
export function hintLine(hints: readonly Hint[], leaves: string, columns: number): Line {
	const all = [...hints, ...ALWAYS, { keys: "esc", does: leaves, rank: 0 }];
	const byRank = [...all].sort((a, b) => a.rank - b.rank);
	for (let count = byRank.length; count > 0; count--) {
		const kept = new Set(byRank.slice(0, count));
		const line = all.filter((hint) => kept.has(hint)).flatMap((hint, index) => hintSpans(hint, index === 0));
		if (lineWidth(line) <= columns) return line;
	}
	return clip(hintSpans({ keys: "esc", does: leaves, rank: 0 }, true), columns);
}

function hintSpans({ keys, does }: Hint, isFirst: boolean): Span[] {
	return [...(isFirst ? [] : [GAP]), { text: keys, color: "accent" }, { text: ` ${does}`, color: "dim" }];
}

/** Fewer rows than this are all for the view. */
const RULES_FROM_ROWS = 16;

/** Rows that a view has in a terminal of so many. */
export function bodyRows(rows: number): number {
	return Math.max(0, rows - (rows < RULES_FROM_ROWS ? 2 : 4));
}

/** Exactly `rows` lines: head, body, foot. In a terminal of one row the head is all there is. */
export function framed(head: Line, body: readonly Line[], foot: Line, columns: number, rows: number): Line[] {
	const shown = body.slice(0, bodyRows(rows));
	const blank = Array.from({ length: bodyRows(rows) - shown.length }, (): Line => []);
	const edge = rows < RULES_FROM_ROWS ? [] : [rule("", columns)];
	const lines = [head, ...edge, ...shown, ...blank, ...edge, foot].slice(0, Math.max(1, rows));
	// Views lay out for the width that they get, but what is indented does not fit into a few columns.
	return lines.map((line) => clip(line, columns));
}

/** A line across, with a name in it. */
export function rule(name: string, width: number): Line {
	const title = name === "" ? [] : clip([{ text: ` ${name} `, color: "muted" }], Math.max(0, width - 6));
	const rest = "─".repeat(Math.max(0, width - lineWidth(title) - 2));
	return clip([{ text: "──", color: "dim" }, ...title, { text: rest, color: "dim" }], width);
}
