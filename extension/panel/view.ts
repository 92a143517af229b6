/** What a view of the panel is, what it can ask of the panel, and the lines that all views have. */

import type { BackgroundSession } from "../../index.js";
import type { Pen } from "../ui/pen.ts";
import { clip, widthOf } from "../ui/text.ts";
import type { Foot } from "./foot.ts";
import type { Action, PanelKeys } from "./keys.ts";
import type { PanelRuns } from "./runs.ts";

/** Between hints. */
const GAP = "  ";
/** Fewer rows than this are all for the view. */
const RULES_FROM_ROWS = 16;

/** A key and what it does; of several the most important ones come first. */
export type Hint = readonly [action: Action, does: string];

/** One screen of the panel. A pen is the same one as long as the terminal and the theme are. */
export interface View {
	/** The first line. */
	head(pen: Pen): string;
	/** At most `rows` lines below it. */
	body(pen: Pen, rows: number): readonly string[];
	hints(): readonly Hint[];
	/** Does what a key asks for; says whether there is something of that name. */
	press(action: Action): boolean;
	/** Looks at what is new: called when runs have changed, and every second. */
	refresh?(): void;
	dispose?(): void;
}

/** What a view can ask of the panel. */
export interface PanelHost {
	/** Where is said, and asked for, what has no place in a view. */
	readonly foot: Foot;
	readonly session: BackgroundSession;
	readonly runs: PanelRuns;
	/** Something that is shown has changed. */
	changed(): void;
	open(view: View): void;
}

/** How far a key scrolls on a screen of `rows`; nothing for other keys. */
export function scrolled(action: Action, rows: number): number | undefined {
	// A page keeps a line of what was there, as a bridge.
	const page = Math.max(1, rows - 1);
	const half = Math.ceil(page / 2);
	const steps: Partial<Record<Action, number>> = {
		...{ up: -1, down: 1, pageUp: -page, pageDown: page, halfUp: -half, halfDown: half },
		...{ top: Number.NEGATIVE_INFINITY, bottom: Number.POSITIVE_INFINITY },
	};
	return steps[action];
}

/** What a view is called. */
export function titled(title: string, pen: Pen): string {
	return pen.bold(pen.fg("toolTitle", title));
}

/** Keys in one line: the last two, and before them as many as fit. */
export function hintLine(hints: readonly Hint[], keys: PanelKeys, pen: Pen): string {
	const widthOfHint = ([action, does]: Hint) => widthOf(keys.nameOf(action)) + does.length + 1 + GAP.length;
	const always = hints.slice(-2);
	let room = pen.width + GAP.length - always.reduce((sum, hint) => sum + widthOfHint(hint), 0);
	const fit = hints.slice(0, -2).filter((hint) => {
		room -= widthOfHint(hint);
		return room >= 0;
	});
	const written = [...fit, ...always].map(
		([action, does]) => pen.fg("accent", keys.nameOf(action)) + pen.fg("dim", ` ${does}`),
	);
	return pen.clip(written.join(GAP));
}

/** Rows that a view has in a terminal of so many. */
export function bodyRows(rows: number): number {
	return Math.max(0, rows - (rows < RULES_FROM_ROWS ? 2 : 4));
}

/** Exactly `rows` lines: head, body, foot. In a terminal of one row the head is all there is. */
export function framed(head: string, body: readonly string[], foot: string, rows: number, pen: Pen): string[] {
	const shown = body.slice(0, bodyRows(rows));
	const blank = Array.from({ length: bodyRows(rows) - shown.length }, () => "");
	const edges = rows < RULES_FROM_ROWS ? [] : [rule("", pen)];
	return [head, ...edges, ...shown, ...blank, ...edges, foot].slice(0, Math.max(1, rows));
}

/** A line across, with a name in it. */
export function rule(name: string, pen: Pen): string {
	const line = (columns: number) => pen.fg("dim", "─".repeat(Math.max(0, columns)));
	if (name === "") return line(pen.width);
	const title = clip(` ${name} `, pen.width - 6);
	return pen.clip(line(2) + pen.fg("muted", title) + line(pen.width - widthOf(title) - 2));
}
