/** The runs that are under way, above the editor: a line for each, and nothing when there are none. */

import type { Background } from "../background/registry.ts";
import type { BackgroundRun } from "../background/types.ts";
import { component } from "../cards/render.ts";
import type { PiContext, Terminal, Theme, Widget } from "../host/pi.ts";
import { isLive, runColumns, runLine } from "./run-line.ts";
import { clip, type Line } from "./spans.ts";

const WIDGET = "subagents";
const MOST_LINES = 5;
/** Of a low terminal the widget takes this share. */
const ROWS_PER_LINE = 6;
const TICK_MS = 1_000;
/** pi's own lines begin one column in. */
const MARGIN: Line = [{ text: " " }];

/** Shows the runs under way from now on. Returns what takes the widget away. */
export function showWidget(context: PiContext, background: Background): () => void {
	let live = background.runs.filter(isShown);
	let shown: RunsWidget | undefined;
	const follow = (runs: readonly BackgroundRun[]) => {
		live = runs.filter(isShown);
		if (live.length === 0) {
			if (shown) context.ui.setWidget(WIDGET, undefined);
			shown = undefined;
			return;
		}
		// pi drops widgets without a word when it replaces its extensions.
		if (!shown || shown.isDisposed) {
			context.ui.setWidget(WIDGET, (terminal, theme) => {
				shown = new RunsWidget(terminal, theme, live);
				return shown;
			});
		}
		shown?.show(live);
	};
	const unsubscribe = background.subscribe(follow);
	follow(background.runs);
	return () => {
		unsubscribe();
		follow([]);
	};
}

/** A run that a call waits for has a card. */
function isShown(run: BackgroundRun): boolean {
	return isLive(run) && !run.isForeground;
}

class RunsWidget implements Widget {
	isDisposed = false;
	private live: readonly BackgroundRun[];
	private readonly terminal: Terminal;
	private readonly lines: ReturnType<typeof component>;
	private readonly tick: NodeJS.Timeout;

	constructor(terminal: Terminal, theme: Theme, live: readonly BackgroundRun[]) {
		this.live = live;
		this.terminal = terminal;
		this.lines = component(theme, (width) => widgetLines(this.live, width, this.rows(), Date.now()));
		this.tick = setInterval(() => this.redraw(), TICK_MS);
		this.tick.unref();
	}

	show(live: readonly BackgroundRun[]): void {
		this.live = live;
		this.redraw();
	}

	render(width: number): string[] {
		return this.lines.render(width);
	}

	invalidate(): void {
		this.lines.invalidate();
	}

	dispose(): void {
		this.isDisposed = true;
		clearInterval(this.tick);
	}

	private redraw(): void {
		if (this.isDisposed) return;
		this.invalidate();
		this.terminal.requestRender();
	}

	private rows(): number {
		return this.terminal.terminal?.rows ?? process.stdout.rows ?? Number.POSITIVE_INFINITY;
	}
}

/** One line for each of the newest runs, and one that counts the others. */
export function widgetLines(live: readonly BackgroundRun[], width: number, rows: number, now: number): Line[] {
	const most = Math.max(1, Math.min(MOST_LINES, Math.floor(rows / ROWS_PER_LINE)));
	const shown = live.slice(0, most);
	const columns = { ...runColumns(shown, width, false), cost: 0 };
	const lines = shown.map((run) => runLine(run, MARGIN, 0, columns, now));
	const hidden = live.length - shown.length;
	const more: Line = [...MARGIN, { text: `+${hidden} more · /subagents shows all`, color: "dim" }];
	if (hidden > 0) lines.push(clip(more, width));
	return lines;
}
