/** The panel as pi holds it: the views on top of each other, the keys that all have, and when it is drawn. */

import type { HostCallbacks } from "../../index.js";
import type { Background } from "../background/registry.ts";
import type { BackgroundSession } from "../background/types.ts";
import type { Keybindings, MouseEvent, Screen, Terminal, Theme } from "../host/pi.ts";
import { type Key, keysOf } from "../ui/keys.ts";
import { LineInput } from "../ui/line-input.ts";
import { clip, fitting, type Line, lineWidth, paint } from "../ui/spans.ts";
import { textWidth } from "../ui/width.ts";
import { PanelActions } from "./actions.ts";
import { bodyRows, framed, hintLine } from "./frame.ts";
import { keysReport } from "./keys.ts";
import { ListView } from "./list.ts";
import { ReportView } from "./report.ts";
import { PanelRuns } from "./runs.ts";
import type { PanelHost, View } from "./view.ts";

/** It is drawn at most ten times a second, and once a second for its clocks. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1_000;
/** How long something is said in the place of the keys. */
const SAID_FOR_MS = 6_000;
/** Where nobody tells how high the terminal is. */
const ROWS = 24;

/** Where pi puts the terminal's own cursor: input methods open their windows there. */
const CURSOR = "\u001b_pi:c\u0007";
const REVERSED = "\u001b[7m";
const NOT_REVERSED = "\u001b[27m";

export interface PanelOptions {
	terminal: Terminal;
	theme: Theme;
	keybindings: Keybindings;
	background: Background;
	session: BackgroundSession;
	callbacks: HostCallbacks;
	/** Takes the panel off the screen. */
	done(result: undefined): void;
	/** Says that it is off the screen, whoever took it away. */
	gone(): void;
}

/** What stands in the place of the keys. */
type Foot =
	| { kind: "said"; line: Line; until: number }
	| { kind: "again"; key: string; question: Line; then: () => void }
	| { kind: "text"; label: string; input: LineInput; then: (text: string) => void };

export class Panel implements Screen, PanelHost {
	private readonly options: PanelOptions;
	private readonly views: View[];
	private readonly runs: PanelRuns;
	private readonly unsubscribe: () => void;
	private readonly tick: NodeJS.Timeout;
	private foot: Foot | undefined;
	/** What is said when the foot is free again. */
	private waiting: Line | undefined;
	private drawn: { columns: number; rows: number; lines: string[] } | undefined;
	private redrawn = Number.NEGATIVE_INFINITY;
	private timer: NodeJS.Timeout | undefined;
	private hasFocus = false;
	private isDisposed = false;

	constructor(options: PanelOptions) {
		this.options = options;
		const { background, session, callbacks } = options;
		this.runs = new PanelRuns(background, session, () => this.changed());
		const actions = new PanelActions(this, session, this.runs, callbacks);
		this.views = [new ListView(this.runs, actions)];
		this.unsubscribe = background.subscribe(() => this.told());
		this.tick = setInterval(() => this.ticked(), TICK_MS);
		this.tick.unref();
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
		const rows = this.rows();
		if (this.drawn?.columns !== columns || this.drawn.rows !== rows) {
			this.drawn = { columns, rows, lines: this.layout(columns, rows) };
		}
		return this.drawn.lines;
	}

	invalidate(): void {
		this.drawn = undefined;
	}

	handleInput(data: string): void {
		for (const key of keysOf(data)) this.press(this.rebound(key, data));
		this.drawn = undefined;
		this.options.terminal.requestRender();
	}

	handleMouse({ type, wheelDelta = 0 }: MouseEvent): { handled: boolean } | undefined {
		if (type !== "wheel") return { handled: true };
		for (let left = Math.min(10, Math.abs(Math.round(wheelDelta))); left > 0; left--) {
			this.view()?.press({ name: wheelDelta < 0 ? "up" : "down" });
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
		this.timer = setTimeout(() => {
			this.timer = undefined;
			this.redrawn = Date.now();
			this.drawn = undefined;
			this.options.terminal.requestRender();
		}, wait);
		this.timer.unref();
	}

	open(view: View): void {
		if (this.isDisposed) {
			view.dispose?.();
			return;
		}
		if (this.foot?.kind === "said") this.foot = undefined;
		this.views.push(view);
		this.changed();
	}

	back(): void {
		this.views.pop()?.dispose?.();
		if (this.views.length === 0) this.close();
		else this.changed();
	}

	say(line: Line): void {
		// A question, and text that is being typed, stay where they are.
		if (this.foot && this.foot.kind !== "said") this.waiting = line;
		else this.foot = { kind: "said", line, until: Date.now() + SAID_FOR_MS };
		this.changed();
	}

	askAgain(key: string, question: Line, then: () => void): void {
		this.foot = { kind: "again", key, question, then };
	}

	askText(label: string, then: (text: string) => void): void {
		this.foot = { kind: "text", label, input: new LineInput(), then };
	}

	private close(): void {
		this.dispose();
		this.options.done(undefined);
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
		if (this.foot?.kind === "said" && Date.now() > this.foot.until) this.foot = undefined;
		this.changed();
	}

	private press(key: Key): void {
		const { foot } = this;
		if (foot?.kind === "text") {
			this.type(foot, key);
			return;
		}
		this.clearFoot();
		if (foot?.kind === "again" && key.name === foot.key) foot.then();
		else if (foot?.kind === "again" && isLeaving(key)) return;
		else if (this.view()?.press(key)) return;
		else if (isLeaving(key) || (key.name === "left" && this.views.length > 1)) this.back();
		else if (key.name === "?") this.openKeys();
	}

	private clearFoot(): void {
		this.foot = undefined;
		const { waiting } = this;
		this.waiting = undefined;
		if (waiting) this.say(waiting);
	}

	private openKeys(): void {
		const view = new ReportView(this, async () => keysReport(), { isFixed: true });
		void view.load().then(() => this.open(view));
	}

	/** A key while text is typed. */
	private type({ input, then }: Extract<Foot, { kind: "text" }>, key: Key): void {
		if (input.press(key)) return;
		if (key.name === "escape" || key.name === "ctrl+c") this.clearFoot();
		if (key.name !== "enter") return;
		this.clearFoot();
		if (input.value !== "") then(input.value);
	}

	/** The user's own keys for lists mean here what they mean there. */
	private rebound(key: Key, data: string): Key {
		const name = Object.keys(REBOUND).find((binding) => this.options.keybindings.matches(data, binding));
		const text = this.foot?.kind === "text" || key.name === "ctrl+c";
		return name === undefined || text ? key : { name: REBOUND[name] ?? key.name };
	}

	private view(): View | undefined {
		return this.views.at(-1);
	}

	private rows(): number {
		return this.options.terminal.terminal?.rows ?? process.stdout.rows ?? ROWS;
	}

	private layout(columns: number, rows: number): string[] {
		const view = this.view();
		if (!view) return [];
		const inner = Math.max(1, columns - 2);
		const body = view.body({ columns: inner, rows: bodyRows(rows) });
		const lines = framed(view.head(inner), body, this.footLine(view, inner), inner, rows);
		const { theme } = this.options;
		const painted = lines.map((line) => (columns > 2 ? ` ${paint(line, theme)}` : paint(clip(line, columns), theme)));
		if (this.foot?.kind === "text" && rows > 1) painted[painted.length - 1] = this.typed(this.foot, columns);
		return painted;
	}

	private footLine(view: View, columns: number): Line {
		const { foot } = this;
		if (foot?.kind === "said") return clip(foot.line, columns);
		if (foot?.kind === "again") return clip(foot.question, columns);
		return hintLine(view.hints(), this.views.length === 1 ? "close" : "back", columns);
	}

	/** The line that is being typed, with the cursor in it. */
	private typed({ label, input }: Extract<Foot, { kind: "text" }>, columns: number): string {
		const { theme } = this.options;
		const said: Line = clip([{ text: label, color: "accent" }], Math.floor(columns / 2));
		const room = columns - lineWidth(said) - 3;
		if (room < 1) return "";
		const { before, under, after } = input.drawn(room);
		const cursor = `${this.hasFocus ? CURSOR : ""}${REVERSED}${under}${NOT_REVERSED}`;
		return ` ${paint(said, theme)} ${before}${cursor}${fitting(after, room - textWidth(before + under))}`;
	}
}

/** pi's names for keys in lists, and ours. */
const REBOUND: Readonly<Record<string, string>> = {
	"tui.select.up": "up",
	"tui.select.down": "down",
	"tui.select.pageUp": "pageUp",
	"tui.select.pageDown": "pageDown",
	"tui.select.confirm": "enter",
	"tui.select.cancel": "escape",
};

function isLeaving({ name }: Key): boolean {
	return name === "escape" || name === "q" || name === "ctrl+c";
}
