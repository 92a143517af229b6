/** The panel's own lines: what the view calls itself, and the keys. */

import type { Style } from "../ui/style.ts";
import { clip, widthOf } from "../ui/text.ts";
import type { PanelKeys } from "./keys.ts";
import type { Hint } from "./view.ts";

const GAP = "  ";

/** Keys in one line: the last two, and before them as many as fit. */
export function hintLine(hints: readonly Hint[], keys: PanelKeys, style: Style, columns: number): string {
	const widthOfHint = ({ action, does }: Hint) => widthOf(keys.nameOf(action)) + does.length + 1 + GAP.length;
	const always = hints.slice(-2);
	let room = columns + GAP.length - always.reduce((sum, hint) => sum + widthOfHint(hint), 0);
	const fit = hints.slice(0, -2).filter((hint) => {
		room -= widthOfHint(hint);
		return room >= 0;
	});
	const written = ({ action, does }: Hint) => style.fg("accent", keys.nameOf(action)) + style.fg("dim", ` ${does}`);
	return clip([...fit, ...always].map(written).join(GAP), columns);
}

/** Fewer rows than this are all for the view. */
const RULES_FROM_ROWS = 16;

/** Rows that a view has in a terminal of so many. */
export function bodyRows(rows: number): number {
	return Math.max(0, rows - (rows < RULES_FROM_ROWS ? 2 : 4));
}

/** Exactly `rows` lines: head, body, foot. In a terminal of one row the head is all there is. */
export function framed(head: string, body: readonly string[], foot: string, edge: string, rows: number): string[] {
	const shown = body.slice(0, bodyRows(rows));
	const blank = Array.from({ length: bodyRows(rows) - shown.length }, () => "");
	const edges = rows < RULES_FROM_ROWS ? [] : [edge];
	return [head, ...edges, ...shown, ...blank, ...edges, foot].slice(0, Math.max(1, rows));
}

/** A line across, with a name in it. */
export function rule(name: string, width: number, style: Style): string {
	if (name === "") return style.fg("dim", "─".repeat(Math.max(0, width)));
	const title = clip(` ${name} `, width - 6);
	const rest = "─".repeat(Math.max(0, width - widthOf(title) - 2));
	return clip(style.fg("dim", "──") + style.fg("muted", title) + style.fg("dim", rest), width);
}
