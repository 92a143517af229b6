/** The widget above the editor: the running workflows, the other live runs, and the runs with unread results. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { TUI } from "@earendil-works/pi-tui";
import type { ShownWorkflow } from "../../native.js";
import type { Background } from "../background/registry.ts";
import { isLive, type RunRecord } from "../background/registry.ts";
import { guardedInterval } from "../host/guard.ts";
import type { Widget } from "../host/pi.ts";
import type { AnyTheme, Pen } from "./pen.ts";
import { component } from "./pen.ts";

const WIDGET = "subagents";
const MAX_LINES = 5;
/** The number of terminal rows per widget line, for low terminals. */
const ROWS_PER_LINE = 6;
const TICK_MS = 1_000;
/** pi's own lines begin in the second column. */
const MARGIN = 1;

/** The runs that the widget shows. */
export interface Shown {
	/**
	 * Live runs, newest first. Runs with a card of their call, and runs with a question, which has a line of its own, are
	 * left out.
	 */
	live: readonly RunRecord[];
	unread: readonly RunRecord[];
	/** The running workflows. Each stands for its runs. */
	workflows: readonly ShownWorkflow[];
}

type Source = Pick<Background, "runs" | "unread" | "workflows" | "withoutCard">;

export function shownOf({ runs, unread, workflows, withoutCard }: Source): Shown {
	const hasCard = ({ isForeground, runId, workflow }: RunRecord) =>
		isForeground && workflow === undefined && !withoutCard.has(runId);
	return {
		live: runs.filter((run) => isLive(run) && !hasCard(run) && run.pendingQuestion === undefined),
		unread,
		workflows,
	};
}

/** Shows the runs from now on. Returns a function that removes the widget. */
export function showWidget(context: ExtensionContext, background: Background): () => void {
	/** The widget while it is on the screen, and the number of changes to its content. */
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
			// pi drops widgets without a callback when it replaces its extensions.
			if (widget === made) widget = undefined;
		};
		return { ...component(theme, draw, () => changes), dispose };
	};
	const follow = () => {
		const { live, unread, workflows } = shownOf(background);
		changes += 1;
		if (live.length + unread.length + workflows.length === 0) hide();
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

/** Returns one line for each workflow and each other run, and a line with the number of hidden ones. */
export function widgetLines(
	{ live, unread, workflows }: Shown,
	rows: number,
	now: number,
	pen: Pen,
): readonly string[] {
	const limit = Math.max(1, Math.min(MAX_LINES, Math.floor(rows / ROWS_PER_LINE)));
	const runs = [JSON.stringify(live), JSON.stringify(unread), JSON.stringify(workflows)] as const;
	const lines = (inner: Pen) => inner.drawn((native, ...on) => native.drawWidget(...on, ...runs, limit, now)) ?? [];
	return pen.indented(MARGIN, lines);
}
