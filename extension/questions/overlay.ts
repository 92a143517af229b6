/**
 * A question over pi's screen. Enter alone approves nothing: the harmless answer is chosen until an arrow key chooses
 * another one. Letters are not its keys, so that whoever types goes on in pi's editor.
 */

import type { Theme } from "@earendil-works/pi-coding-agent";
import {
	type Component,
	decodeKittyPrintable,
	type Focusable,
	Input,
	type Keybinding,
	type KeybindingsManager,
	SelectList,
	type TUI,
	truncateToWidth,
} from "@earendil-works/pi-tui";
import type { Answer } from "../../index.js";
import { keyText } from "../ui/key-text.ts";
import { Style } from "../ui/pen.ts";
import { cell, clip, plainText, wrap } from "../ui/text.ts";
import { type Asked, asker, type Choice, choicesOf } from "./asked.ts";

/** How long keys that were on their way when it opened by itself are not taken for an answer. */
const GUARD_MS = 500;
/** As many choices are in sight. */
const CHOICES = 8;
/** Rows of the screen that stay free, those of the frame, and the least for what is asked. */
const FREE_ROWS = 4;
const FRAME_ROWS = 2;
const LEAST_ROWS = 3;
/** Columns of the frame with the blanks inside. */
const FRAME_COLUMNS = 4;

const KEYS = [
	"tui.select.up",
	"tui.select.down",
	"tui.select.pageUp",
	"tui.select.pageDown",
	"tui.select.confirm",
	"tui.select.cancel",
] as const satisfies readonly Keybinding[];
type Key = (typeof KEYS)[number];

export interface OverlayOptions {
	tui: TUI;
	theme: Theme;
	keybindings: KeybindingsManager;
	asked: Asked;
	label: string | undefined;
	/** A person has opened it, and expects it to take the keys. */
	byHand: boolean;
	/** Takes the answer; without one, it is to be written in pi's editor. */
	done(answer?: Answer): void;
}

export class QuestionOverlay implements Component, Focusable {
	private readonly options: OverlayOptions;
	private readonly style: Style;
	private readonly choices: readonly [Choice, ...Choice[]];
	private readonly list: SelectList;
	private chosen = 0;
	/** The field for an answer of one line, once it is being written. */
	private input: Input | undefined;
	/** The first line in sight of a long question. */
	private from = 0;
	private shownAt: number | undefined;
	private hasFocus = false;

	constructor(options: OverlayOptions) {
		this.options = options;
		const { asked, theme, byHand } = options;
		this.style = new Style(theme);
		this.choices = choicesOf(asked);
		const items = this.choices.map(({ label }, index) => ({ value: `${index}`, label }));
		const chosen = (text: string) => this.style.fg("accent", text);
		const dim = (text: string) => this.style.fg("dim", text);
		const styles = { selectedPrefix: chosen, selectedText: chosen, description: dim, scrollInfo: dim, noMatch: dim };
		this.list = new SelectList(items, CHOICES, styles);
		if (asked.method === "input" && byHand) this.write();
	}

	get focused(): boolean {
		return this.hasFocus;
	}

	set focused(focused: boolean) {
		this.hasFocus = focused;
		if (this.input) this.input.focused = focused;
	}

	/** Whether a key is meant for this question, and not for pi's editor. */
	takes(data: string): boolean {
		return !this.isNew() && (this.input !== undefined || this.keyOf(data) !== undefined);
	}

	/** It has opened by itself, and the keys that come now were meant for what was there before. */
	isNew(): boolean {
		if (this.options.byHand) return false;
		return this.shownAt === undefined || performance.now() - this.shownAt < GUARD_MS;
	}

	handleInput(data: string): void {
		const key = this.keyOf(data);
		if (this.input && key !== "tui.select.confirm" && key !== "tui.select.cancel") this.input.handleInput(data);
		else if (key) this.press(key);
	}

	invalidate(): void {
		this.list.invalidate();
		this.input?.invalidate();
	}

	render(width: number): string[] {
		// A dialog of pi's may have opened below, and would not be seen.
		if (!this.hasFocus) return [];
		this.shownAt ??= performance.now();
		const inner = Math.max(1, width - FRAME_COLUMNS);
		const answers = (this.input ?? this.list).render(inner);
		const below = ["", ...answers, "", ...wrap(this.style.fg("dim", this.hints()), inner)];
		const rows = Math.max(LEAST_ROWS, this.options.tui.terminal.rows - FREE_ROWS - FRAME_ROWS - below.length);
		const edge = (left: string, text: string, right: string) =>
			this.style.fg("warning", left + truncateToWidth(`─${text}${"─".repeat(width)}`, inner + 2, "") + right);
		const side = this.style.fg("warning", "│");
		const lines = [...this.question(inner, rows), ...below].map((line) => `${side} ${cell(line, inner)} ${side}`);
		const framed = [edge("╭", ` ${this.heading()} `, "╮"), ...lines, edge("╰", "", "╯")];
		return framed.map((line) => clip(line, width));
	}

	private press(key: Key): void {
		if (key === "tui.select.up") this.choose(this.chosen - 1);
		else if (key === "tui.select.down") this.choose(this.chosen + 1);
		else if (key === "tui.select.pageUp") this.from -= LEAST_ROWS;
		else if (key === "tui.select.pageDown") this.from += LEAST_ROWS;
		else if (key === "tui.select.cancel") this.options.done(this.choices[0].answer);
		else this.confirm();
	}

	/** Stops at both ends: the way to a yes is always down. */
	private choose(index: number): void {
		this.chosen = Math.max(0, Math.min(index, this.choices.length - 1));
		this.list.setSelectedIndex(this.chosen);
	}

	private confirm(): void {
		const value = this.input?.getValue();
		const { answer } = this.choices[this.chosen] ?? this.choices[0];
		if (value !== undefined) this.options.done(value === "" ? this.choices[0].answer : { value });
		else if (answer || this.options.asked.method === "editor") this.options.done(answer);
		else this.write();
	}

	private write(): void {
		const { placeholder = "" } = this.options.asked;
		const placeholderStyle = (text: string) => this.style.fg("dim", text);
		this.input = new Input({ placeholder: plainText(placeholder).replace(/\n/g, " "), placeholderStyle });
		this.input.focused = this.hasFocus;
	}

	/** Title and message, as many lines as there is room for. */
	private question(width: number, rows: number): string[] {
		const { title, message = "" } = this.options.asked;
		const text = plainText(message).trim();
		const head = wrap(this.style.bold(plainText(title).trim()), width);
		const all = text === "" ? head : [...head, "", ...wrap(text, width)];
		if (all.length <= rows) return all;
		this.from = Math.max(0, Math.min(this.from, all.length - rows + 1));
		const seen = all.slice(this.from, this.from + rows - 1);
		const keys = `${this.name("tui.select.pageUp")}/${this.name("tui.select.pageDown")}`;
		const place = `lines ${this.from + 1} to ${this.from + seen.length} of ${all.length} · ${keys}`;
		return [...seen, this.style.fg("warning", place)];
	}

	private heading(): string {
		const { asked, label } = this.options;
		return asked.method === "consent" ? "? sub-agent" : `? ${asker(asked, label)} asks`;
	}

	private hints(): string {
		const [take, no] = [this.name("tui.select.confirm"), this.name("tui.select.cancel")];
		if (this.input) return `${take} sends it · ${no} gives no answer`;
		const move = `${this.name("tui.select.up")}/${this.name("tui.select.down")}`;
		return `${move} chooses · ${take} takes it · ${no} declines · what you type goes to the editor`;
	}

	private name(key: Key): string {
		return keyText(key, this.options.keybindings);
	}

	private keyOf(data: string): Key | undefined {
		// Where lists are worked with letters, a word that was on its way must not choose.
		if (!this.options.byHand && isText(data)) return undefined;
		return KEYS.find((key) => this.options.keybindings.matches(data, key));
	}
}

function isText(data: string): boolean {
	return /^[^\p{Cc}]/u.test(decodeKittyPrintable(data) ?? data);
}
