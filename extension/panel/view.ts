/** What a view of the panel is, what it can ask of the panel, and the lines that all views have. */

import type { BackgroundSession, RunDrawing } from "../../index.js";
import type { BackgroundRun } from "../background/run.ts";
import { loadAddon } from "../host/native.ts";
import type { Pen } from "../ui/pen.ts";
import { clip, widthOf } from "../ui/text.ts";
import type { Foot, Hint } from "./foot.ts";
import type { Action } from "./keys.ts";
import type { PanelRuns } from "./runs.ts";

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

/** A line across, with a name in it. */
export function rule(name: string, pen: Pen): string {
	const line = (columns: number) => pen.fg("dim", "─".repeat(Math.max(0, columns)));
	if (name === "") return line(pen.width);
	const title = clip(` ${name} `, pen.width - 6);
	return pen.clip(line(2) + pen.fg("muted", title) + line(pen.width - widthOf(title) - 2));
}

const NOTHING: RunDrawing = { name: "", head: [], question: [], above: [], said: [], below: [], end: [], saying: [] };

/** What is said of a run, at this moment. */
export function drawingOf(run: BackgroundRun): RunDrawing {
	return loadAddon().native?.runDrawing(JSON.stringify(run), Date.now()) ?? NOTHING;
}
