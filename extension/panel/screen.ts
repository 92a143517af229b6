/** The panel as pi holds it: the views on top of each other, and when they are drawn. */

import type { HostCallbacks } from "../../index.js";
import type { Background } from "../background/registry.ts";
import type { BackgroundSession } from "../background/types.ts";
import { guardedInterval, guardedTimeout } from "../host/guard.ts";
import type { Keybindings, MouseEvent, Screen, Terminal } from "../host/pi.ts";
import { type AnyTheme, Style } from "../ui/style.ts";
import { cell, wrap } from "../ui/text.ts";
import { runActions } from "./actions.ts";
import { Foot } from "./foot.ts";
import { bodyRows, framed, hintLine, rule } from "./frame.ts";
import { type Action, PanelKeys } from "./keys.ts";
import { listView } from "./list.ts";
import { reportView } from "./report.ts";
import { PanelRuns } from "./runs.ts";
import type { Hint, PanelHost, View } from "./view.ts";

/** It is drawn at most ten times a second, and once a second for its clocks. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1_000;
/** Where nobody tells how high the terminal is. */
const ROWS = 24;
/** Lines that one turn of a wheel scrolls at most. */
const WHEEL_LINES = 10;
/** `pageDown ctrl+f space` and the like. */
const KEY_COLUMNS = 22;
/** pi's own lines begin one column in. */
const MARGIN = " ";

export interface PanelOptions {
	terminal: Terminal;
	theme: AnyTheme;
	keybindings: Keybindings;
	background: Background;
	session: BackgroundSession;
	callbacks: HostCallbacks;
	/** Opens the question of a run. */
	answer?: ((runId: string) => void) | undefined;
	/** Takes the panel off the screen. */
	done(result: undefined): void;
	/** Says that it is off the screen, whoever took it away. */
	gone(): void;
}

export class Panel implements Screen, PanelHost {
	/** Set by pi: whether keys come here, and not to a dialog that has opened since. */
	focused = false;
	style: Style;
	readonly foot: Foot;
	readonly session: BackgroundSession;
	readonly runs: PanelRuns;
	readonly actions: PanelHost["actions"];
	private readonly options: PanelOptions;
	private readonly keys: PanelKeys;
	private readonly views: View[];
	private readonly unsubscribe: () => void;
	private readonly tick: NodeJS.Timeout;
	/** What was drawn, and for which screen. */
	private drawn: { screen: string; lines: string[] } | undefined;
	private drawnAt = Number.NEGATIVE_INFINITY;
	private timer: NodeJS.Timeout | undefined;
	private isDisposed = false;

	constructor(options: PanelOptions) {
		this.options = options;
		const { background, session, theme, keybindings, callbacks, answer } = options;
		this.session = session;
		this.style = new Style(theme);
		this.keys = new PanelKeys(keybindings);
		this.foot = new Foot(this.keys, () => this.changed());
		this.runs = new PanelRuns(background, session, () => this.changed());
		this.actions = runActions(this, callbacks, answer);
		this.views = [listView(this)];
		this.unsubscribe = background.subscribe(() => this.told());
		this.tick = guardedInterval("the clock of the panel", () => this.ticked(), TICK_MS);
		this.runs.ask(true);
	}

	render(columns: number): string[] {
		// A dialog stands below what covers the screen, and would not be seen.
		if (!this.focused) return [];
		const rows = this.options.terminal.terminal?.rows ?? process.stdout.rows ?? ROWS;
		const screen = `${columns}x${rows}`;
		if (this.drawn?.screen !== screen) this.drawn = { screen, lines: this.layout(columns, rows) };
		return this.drawn.lines;
	}

	invalidate(): void {
		this.style = new Style(this.options.theme);
		this.drawn = undefined;
	}

	handleInput(data: string): void {
		if (!this.foot.type(data)) this.press(this.keys.actionOf(data));
		this.drawn = undefined;
		this.options.terminal.requestRender();
	}

	handleMouse({ type, wheelDelta = 0 }: MouseEvent): { handled: boolean } {
		const lines = type === "wheel" ? Math.min(WHEEL_LINES, Math.abs(Math.round(wheelDelta))) : 0;
		for (let line = 0; line < lines; line++) this.views.at(-1)?.press(wheelDelta < 0 ? "up" : "down");
		if (lines > 0) this.drawn = undefined;
		return { handled: true };
	}

	dispose(): void {
		if (this.isDisposed) return;
		this.isDisposed = true;
		this.unsubscribe();
		clearInterval(this.tick);
		clearTimeout(this.timer);
		for (const view of this.views) view.dispose?.();
		this.options.gone();
	}

	/** Draws what has changed, soon. */
	changed(): void {
		if (this.isDisposed || this.timer !== undefined) return;
		const draw = () => {
			this.timer = undefined;
			this.drawnAt = Date.now();
			this.drawn = undefined;
			this.options.terminal.requestRender();
		};
		// The clock may be set back.
		const wait = Math.min(DRAW_EVERY_MS, Math.max(0, this.drawnAt + DRAW_EVERY_MS - Date.now()));
		this.timer = guardedTimeout("drawing the panel", draw, wait);
	}

	open(view: View): void {
		if (this.isDisposed) {
			view.dispose?.();
			return;
		}
		this.foot.hush();
		this.views.push(view);
		this.changed();
	}

	private press(action: Action | undefined): void {
		if (this.foot.press(action) || action === undefined || this.views.at(-1)?.press(action)) return;
		if (action === "back" || (action === "left" && this.views.length > 1)) this.back();
		else if (action === "keys") this.open(this.keysView());
	}

	private back(): void {
		this.views.pop()?.dispose?.();
		if (this.views.length === 0) this.close();
	}

	private close(): void {
		this.dispose();
		this.options.done(undefined);
	}

	/** The keys and what they do, as a page to read. */
	private keysView(): View {
		const table = this.keys.table();
		const lines = (columns: number, style: Style) =>
			table.flatMap(([keys, does]) => {
				const lead = cell(keys, Math.min(KEY_COLUMNS, Math.floor(columns / 2)));
				return wrap(style.fg("toolOutput", does), columns, `${style.fg("accent", lead)} `);
			});
		return reportView(this, { title: "Keys", lines });
	}

	private told(): void {
		const { background, session } = this.options;
		// The session has been left: what is listed here belongs to it.
		if (background.session !== session) {
			this.close();
			return;
		}
		this.runs.join();
		for (const view of this.views) view.refresh?.();
	}

	private ticked(): void {
		for (const view of this.views) view.refresh?.();
		this.changed();
	}

	private layout(columns: number, rows: number): string[] {
		const { style } = this;
		const view = this.views.at(-1);
		if (!view) return [];
		const inner = Math.max(1, columns - 2 * MARGIN.length);
		const body = view.body(inner, bodyRows(rows));
		const does = this.views.length === 1 ? "close" : "back";
		const hints: Hint[] = [...view.hints(), { action: "keys", does: "keys" }, { action: "back", does }];
		const foot = this.foot.line(inner, style, this.focused) ?? hintLine(hints, this.keys, style, inner);
		return framed(view.head(inner), body, foot, rule("", inner, style), rows).map((line) => MARGIN + line);
	}
}
