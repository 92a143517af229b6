/** The interface of the panel's views, the interface that the panel offers them, and the lines that all views share. */

import type { BackgroundSession, RunDrawing } from "../../index.js";
import type { RunRecord } from "../background/run.ts";
import { loadAddon } from "../host/native.ts";
import type { Pen } from "../ui/pen.ts";
import { clip, widthOf } from "../ui/text.ts";
import type { Foot, Hint } from "./foot.ts";
import type { Action } from "./keys.ts";
import type { PanelRuns } from "./runs.ts";

/** One screen of the panel. A pen stays the same object while the terminal's width and the theme stay the same. */
export interface View {
	/** Returns the first line. */
	head(pen: Pen): string;
	/** Returns at most `rows` lines below the head. */
	body(pen: Pen, rows: number): readonly string[];
	hints(): readonly Hint[];
	/** Does the action of a key. Returns false if the view has no such action. */
	press(action: Action): boolean;
	/** Updates the view. Called when runs have changed, and once a second. */
	refresh?(): void;
	dispose?(): void;
}

/** The panel, as its views use it. */
export interface PanelHost {
	/** Shows messages and asks questions on the last line. */
	readonly foot: Foot;
	readonly session: BackgroundSession;
	readonly runs: PanelRuns;
	/** Requests a redraw. */
	changed(): void;
	open(view: View): void;
}

/** Returns the number of lines that a key scrolls on a screen of `rows`, or `undefined` for other keys. */
export function scrolled(action: Action, rows: number): number | undefined {
	// A page keeps one line of the page before it, for orientation.
	const page = Math.max(1, rows - 1);
	const half = Math.ceil(page / 2);
	const steps: Partial<Record<Action, number>> = {
		...{ up: -1, down: 1, pageUp: -page, pageDown: page, halfUp: -half, halfDown: half },
		...{ top: Number.NEGATIVE_INFINITY, bottom: Number.POSITIVE_INFINITY },
	};
	return steps[action];
}

/** Returns the styled title of a view. */
export function titled(title: string, pen: Pen): string {
	return pen.bold(pen.fg("toolTitle", title));
}

/** Returns a horizontal line with a name in it. */
export function rule(name: string, pen: Pen): string {
	const line = (columns: number) => pen.fg("dim", "─".repeat(Math.max(0, columns)));
	if (name === "") return line(pen.width);
	const title = clip(` ${name} `, pen.width - 6);
	return pen.clip(line(2) + pen.fg("muted", title) + line(pen.width - widthOf(title) - 2));
}

/** The drawings of runs. An update of a run is another object. */
const drawings = new WeakMap<RunRecord, RunDrawing>();

/** Returns the drawing of a run. */
export function drawingOf(run: RunRecord): RunDrawing | undefined {
	const { native } = loadAddon();
	const drawing = drawings.get(run) ?? (native && new native.RunDrawing(JSON.stringify(run)));
	if (drawing) drawings.set(run, drawing);
	return drawing;
}

/** Draws a part of a run. */
export function drawRun(run: RunRecord, part: Parameters<RunDrawing["draw"]>[2], pen: Pen): string[] {
	return pen.drawn((_native, ...on) => drawingOf(run)?.draw(...on, part, Date.now()) ?? []) ?? [];
}
