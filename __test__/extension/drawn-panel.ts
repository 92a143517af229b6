/** The panel as pi holds and draws it, without pi. */

import { mock } from "node:test";
import type { ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { KeybindingsManager, Markdown, type TUI, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { guardedComponent } from "../../extension/host/guarded.ts";
import type { Screen } from "../../extension/host/pi.ts";
import { openPanel } from "../../extension/panel/panel.ts";
import { Pen } from "../../extension/ui/pen.ts";
import { plainText } from "../../extension/ui/text.ts";
import type { CommandReport } from "../../native.js";
import type { BackgroundDouble } from "./background-double.ts";
import { HostDouble } from "./package-copy.ts";
import { standingIn } from "./standing-in.ts";

/** Keys as a terminal sends them. */
export const KEYS = {
	up: "\u001b[A",
	down: "\u001b[B",
	left: "\u001b[D",
	pageUp: "\u001b[5~",
	pageDown: "\u001b[6~",
	home: "\u001b[H",
	end: "\u001b[F",
	enter: "\r",
	escape: "\u001b",
	backspace: "\u007f",
};

let lines = 0;
const { drawn } = Pen.prototype;
Pen.prototype.drawn = function (draw) {
	const made = drawn.call(this, draw);
	lines += made?.length ?? 0;
	return made;
};

let laidOut = 0;
const { render } = Markdown.prototype;
Markdown.prototype.render = function (width) {
	const made = render.call(this, width);
	laidOut += made.length;
	return made;
};

export class PanelDouble {
	columns = 100;
	rows = 30;
	/** The number of redraws requested from pi. */
	requests = 0;
	isClosed = false;
	/** The number of times pi was told to close the panel. */
	dones = 0;
	/** The runs whose questions were to be opened. */
	answered: string[] = [];
	/** The user's own keys. */
	readonly bound = new KeybindingsManager({
		...TUI_KEYBINDINGS,
		"app.tools.expand": { defaultKeys: "ctrl+o" },
	});
	private readonly host = new HostDouble();
	private screen: Screen | undefined;
	/** Gets the reports of commands, whose scripts it would start or end. */
	follow: (report: CommandReport) => unknown = () => {};

	/** `opened` is the key of the run whose transcript opens first. */
	constructor(background: BackgroundDouble, opened?: string) {
		const theme = standingIn<Theme>({
			fg: (_color, text) => text,
			bold: (text) => text,
		});
		const panel = this;
		const terminal = standingIn<TUI>({
			requestRender: () => {
				this.requests += 1;
			},
			get terminal() {
				return { rows: panel.rows };
			},
		});
		this.host.user = {
			custom: (factory) =>
				new Promise((resolve) => {
					const done = (result: unknown) => {
						this.dones += 1;
						resolve(result);
					};
					const screen = factory(terminal, theme, this.bound, done);
					this.screen = guardedComponent("the screen", screen);
					this.screen.focused = true;
				}),
		};
		const context: ExtensionContext = this.host.context();
		void openPanel(
			context,
			background.background,
			{},
			{ answer: (run) => this.answered.push(run), follow: (report) => this.follow(report) },
			opened,
		).then(() => {
			this.isClosed = true;
		});
	}

	/** The number of lines that the addon has drawn so far; tests count these instead of time. */
	get painted(): number {
		return lines;
	}

	/** The number of lines of Markdown that have been laid out so far, whether they are visible or not. */
	get laidOut(): number {
		return laidOut;
	}

	get notes(): string[] {
		return this.host.notes;
	}

	get component(): Screen {
		if (!this.screen) throw new Error("the panel is not open");
		return this.screen;
	}

	/** The lines as they are drawn. */
	raw(): string[] {
		return this.component.render(this.columns);
	}

	lines(): string[] {
		return this.raw().map((line) => plainText(line).trimEnd());
	}

	get text(): string {
		return this.lines().join("\n");
	}

	/** Returns the line of keys and notices. */
	get foot(): string {
		return this.lines().at(-1)?.trim() ?? "";
	}

	/** Presses keys one after the other, and lets answers arrive after each; like pi, it draws after each. */
	async press(...keys: string[]): Promise<void> {
		for (const key of keys) {
			this.component.handleInput(key);
			await settle();
			this.raw();
		}
	}

	async type(text: string): Promise<void> {
		await this.press(...text);
	}
}

/** Lets settled promises run their handlers. */
export async function settle(): Promise<void> {
	for (let round = 0; round < 12; round++) await Promise.resolve();
}

/** Advances time in small steps, and lets handlers run in each. */
export async function passing(ms: number): Promise<void> {
	for (let passed = 0; passed < ms; passed += 50) {
		mock.timers.tick(50);
		await settle();
	}
}
