/** The runs that matter now, above the editor: those at work, and those that wait to be read. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { TUI } from "@earendil-works/pi-tui";
import type { Background } from "../background/registry.ts";
import { type BackgroundRun, isLive } from "../background/run.ts";
import { guardedInterval } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import type { Widget } from "../host/pi.ts";
import { component } from "./component.ts";
import { paint } from "./paint.ts";
import type { AnyTheme, Pen } from "./pen.ts";

const WIDGET = "subagents";
const MOST_LINES = 5;
/** Of a low terminal the widget takes this share. */
const ROWS_PER_LINE = 6;
const TICK_MS = 1_000;
/** pi's own lines begin one column in. */
const MARGIN = " ";

/** What the widget has lines for. */
export interface Shown {
	/** Newest first, without those that a call waits for, which have their card, and those that ask, which have a line. */
	live: readonly BackgroundRun[];
	unread: readonly BackgroundRun[];
}

export function shownOf({ runs, unread }: Background): Shown {
	return { live: runs.filter((run) => isLive(run) && !run.isForeground && run.asks === undefined), unread };
}

/** Shows the runs from now on. Returns what takes the widget away. */
export function showWidget(context: ExtensionContext, background: Background): () => void {
	/** The widget while it is on the screen, and how often what it shows has changed. */
	let widget: { terminal: TUI } | undefined;
	let changes = 0;
	const hide = () => {
		if (widget) context.ui.setWidget(WIDGET, undefined);
		widget = undefined;
	};
	const make = (terminal: TUI, theme: AnyTheme): Widget => {
		const made = { terminal };
		widget = made;
		const rows = () => terminal.terminal?.rows ?? process.stdout.rows ?? Number.POSITIVE_INFINITY;
		const draw = (pen: Pen) => widgetLines(shownOf(background), rows(), Date.now(), pen);
		const tick = guardedInterval("the clock of the widget", follow, TICK_MS);
		const dispose = () => {
			clearInterval(tick);
			// pi drops widgets without a word when it replaces its extensions.
			if (widget === made) widget = undefined;
		};
		return { ...component(theme, draw, () => changes), dispose };
	};
	const follow = () => {
		const { live, unread } = shownOf(background);
		changes += 1;
		if (live.length + unread.length === 0) hide();
		else if (!widget) context.ui.setWidget(WIDGET, make);
		widget?.terminal.requestRender();
	};
	const unsubscribe = background.subscribe(follow);
	follow();
	return () => {
		unsubscribe();
		hide();
	};
}

/** One line for each run, and one that counts the others. */
export function widgetLines({ live, unread }: Shown, rows: number, now: number, pen: Pen): readonly string[] {
	const most = Math.max(1, Math.min(MOST_LINES, Math.floor(rows / ROWS_PER_LINE)));
	const [working, ended] = [JSON.stringify(live), JSON.stringify(unread)];
	const drawing = loadAddon().native?.runWidget(working, ended, most, now) ?? [];
	return paint(drawing, pen.resized(pen.width - MARGIN.length)).map((line) => MARGIN + line);
}
