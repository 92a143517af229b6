/** The panel's own lines: what the view calls itself, and the keys. */

import { visibleWidth } from "@earendil-works/pi-tui";
import type { Style } from "../ui/style.ts";
import { clip } from "../ui/text.ts";
import type { PanelKeys } from "./keys.ts";
import type { Hint } from "./view.ts";

const GAP = "  ";

/** The keys in one line: as many as fit, the most important of them. */
export function hintLine(hints: readonly Hint[], keys: PanelKeys, style: Style, columns: number): string {
	const written = hints.map(({ action, does, rank }) => ({ key: keys.nameOf(action), does, rank }));
	const byRank = [...written].sort((a, b) => a.rank - b.rank);
	let room = columns + GAP.length;
	const fit = byRank.findIndex(({ key, does }) => {
		room -= visibleWidth(`${key} ${does}${GAP}`);
		return room < 0;
	});
	const kept = new Set(fit < 0 ? byRank : byRank.slice(0, Math.max(1, fit)));
	const shown = written.filter((hint) => kept.has(hint));
	return clip(shown.map(({ key, does }) => style.fg("accent", key) + style.fg("dim", ` ${does}`)).join(GAP), columns);
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
	const rest = "─".repeat(Math.max(0, width - visibleWidth(title) - 2));
	return clip(style.fg("dim", "──") + style.fg("muted", title) + style.fg("dim", rest), width);
}
