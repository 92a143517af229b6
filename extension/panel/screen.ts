/** The panel as pi holds it: the views on top of each other, and when they are drawn. */

import type { HostCallbacks } from "../../index.js";
import type { Background } from "../background/registry.ts";
import type { BackgroundSession } from "../background/types.ts";
import { guardedInterval, guardedTimeout } from "../host/guard.ts";
import type { Keybindings, MouseEvent, Screen, Terminal } from "../host/pi.ts";
import { type AnyTheme, Style } from "../ui/style.ts";
import { cell, wrap } from "../ui/text.ts";
import { PanelActions } from "./actions.ts";
import { Foot } from "./foot.ts";
import { bodyRows, framed, hintLine, rule } from "./frame.ts";
import { type Action, PanelKeys } from "./keys.ts";
import { ListView } from "./list.ts";
import { ReportView } from "./report.ts";
import { PanelRuns } from "./runs.ts";
import type { PanelHost, View } from "./view.ts";

/** It is drawn at most ten times a second, and once a second for its clocks. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1_000;
/** Where nobody tells how high the terminal is. */
const ROWS = 24;
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
	readonly style: Style;
	private readonly options: PanelOptions;
	private readonly keys: PanelKeys;
	private readonly foot: Foot;
	private readonly views: View[];
	private readonly runs: PanelRuns;
	private readonly unsubscribe: () => void;
	private readonly tick: NodeJS.Timeout;
	private drawn: { columns: number; rows: number; lines: string[] } | undefined;
	private redrawn = Number.NEGATIVE_INFINITY;
	private timer: NodeJS.Timeout | undefined;
	private hasFocus = false;
	private isDisposed = false;

	constructor(options: PanelOptions) {
		this.options = options;
		const { background, session, theme, keybindings } = options;
		this.style = new Style(theme);
		this.keys = new PanelKeys(keybindings);
		this.foot = new Foot(this.style, this.keys);
		this.runs = new PanelRuns(background, session, () => this.changed());
		this.views = [new ListView(this, this.runs, new PanelActions(this, this.runs, options))];
		this.unsubscribe = background.subscribe(() => this.told());
		this.tick = guardedInterval("the clock of the panel", () => this.ticked(), TICK_MS);
		this.runs.ask(true);
	}

	/** pi says where the keys go: to a dialog that has opened over the panel, or here. */
	get focused(): boolean {
		return this.hasFocus;
	}

	set focused(focused: boolean) {
		this.hasFocus = focused;
		this.drawn = undefined;
	}

	render(columns: number): string[] {
		// A dialog stands below what covers the screen, and would not be seen.
		if (!this.hasFocus) return [];
		const rows = this.options.terminal.terminal?.rows ?? process.stdout.rows ?? ROWS;
		if (this.drawn?.columns !== columns || this.drawn.rows !== rows) {
			this.drawn = { columns, rows, lines: this.layout(columns, rows) };
		}
		return this.drawn.lines;
	}

	invalidate(): void {
		for (const view of this.views) view.invalidate?.();
		this.drawn = undefined;
	}

	handleInput(data: string): void {
		if (!this.foot.type(data)) this.press(this.keys.actionOf(data));
		this.drawn = undefined;
		this.options.terminal.requestRender();
	}

	handleMouse({ type, wheelDelta = 0 }: MouseEvent): { handled: boolean } | undefined {
		if (type !== "wheel") return { handled: true };
		for (let left = Math.min(10, Math.abs(Math.round(wheelDelta))); left > 0; left--) {
			this.view()?.press(wheelDelta < 0 ? "up" : "down");
		}
		this.drawn = undefined;
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
		// The clock may be set back.
		const wait = Math.min(DRAW_EVERY_MS, Math.max(0, this.redrawn + DRAW_EVERY_MS - Date.now()));
		const draw = () => {
			this.timer = undefined;
			this.redrawn = Date.now();
			this.drawn = undefined;
			this.options.terminal.requestRender();
		};
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

	say(line: string): void {
		this.foot.say(line);
		this.changed();
	}

	askAgain(action: Action, question: string, then: () => void): void {
		this.foot.askAgain(action, question, then);
	}

	askText(label: string, then: (text: string) => void): void {
		this.foot.askText(label, then);
	}

	private press(action: Action | undefined): void {
		if (this.foot.press(action) || action === undefined || this.view()?.press(action)) return;
		if (action === "back" || (action === "left" && this.views.length > 1)) this.back();
		else if (action === "keys") this.open(this.keysView());
	}

	private back(): void {
		this.views.pop()?.dispose?.();
		if (this.views.length === 0) this.close();
		else this.changed();
	}

	private close(): void {
		this.dispose();
		this.options.done(undefined);
	}

	/** The keys and what they do, as a page to read. */
	private keysView(): View {
		const { style } = this;
		const line = ([keys, does]: [string, string], columns: number) => {
			const lead = cell(keys, Math.min(KEY_COLUMNS, Math.floor(columns / 2)));
			return wrap(style.fg("toolOutput", does), columns, `${style.fg("accent", lead)} `);
		};
		const lines = (columns: number) => this.keys.table().flatMap((row) => line(row, columns));
		return new ReportView(this, { title: "Keys", lines });
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

	private view(): View | undefined {
		return this.views.at(-1);
	}

	private layout(columns: number, rows: number): string[] {
		const view = this.view();
		if (!view) return [];
		const inner = Math.max(1, columns - 2 * MARGIN.length);
		const body = view.body({ columns: inner, rows: bodyRows(rows) });
		const edge = rule("", inner, this.style);
		const lines = framed(view.head(inner), body, this.footLine(view, inner), edge, rows);
		return lines.map((line) => MARGIN + line);
	}

	private footLine(view: View, columns: number): string {
		const leaving = { action: "back", does: this.views.length === 1 ? "close" : "back", rank: 0 } as const;
		const hints = [...view.hints(), { action: "keys", does: "keys", rank: 0 } as const, leaving];
		return this.foot.line(columns, this.hasFocus) ?? hintLine(hints, this.keys, this.style, columns);
	}
}
