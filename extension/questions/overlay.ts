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
import { cell, clip, oneLine, plainText, wrap } from "../ui/text.ts";
import type { Asked } from "./asked.ts";

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
	/** A person has opened it, and expects it to take the keys. */
	byHand: boolean;
	/** Takes the answer; without one, it is to be written in pi's editor. */
	done(answer?: Answer): void;
}

export interface QuestionOverlay extends Component, Focusable {
	/** Whether a key is meant for this question, and not for pi's editor. */
	takes(data: string): boolean;
	/** It has opened by itself, and the keys that come now were meant for what was there before. */
	isNew(): boolean;
}

export function questionOverlay(options: OverlayOptions): QuestionOverlay {
	const { tui, theme, keybindings, asked, byHand, done } = options;
	const { choices } = asked;
	/** What Enter and Escape take before anything else was chosen. */
	const [harmless] = choices;
	let chosen = 0;
	/** The field for an answer of one line, once it is being written. */
	let input: Input | undefined;
	/** The first line in sight of a long question. */
	let from = 0;
	let shownAt: number | undefined;
	let isFocused = false;

	const style = new Style(theme);
	const accent = (text: string) => style.fg("accent", text);
	const dim = (text: string) => style.fg("dim", text);
	const warning = (text: string) => style.fg("warning", text);
	const name = (key: Key) => keyText(key, keybindings);

	const items = choices.map((choice, index) => ({ value: `${index}`, label: choice.label }));
	const styles = { selectedPrefix: accent, selectedText: accent, description: dim, scrollInfo: dim, noMatch: dim };
	const list = new SelectList(items, CHOICES, styles);

	function keyOf(data: string): Key | undefined {
		// Where lists are worked with letters, a word that was on its way must not choose.
		if (!byHand && isText(data)) return undefined;
		return KEYS.find((key) => keybindings.matches(data, key));
	}

	function press(key: Key): void {
		if (key === "tui.select.up") choose(chosen - 1);
		else if (key === "tui.select.down") choose(chosen + 1);
		else if (key === "tui.select.pageUp") from -= LEAST_ROWS;
		else if (key === "tui.select.pageDown") from += LEAST_ROWS;
		else if (key === "tui.select.cancel") done(harmless?.answer ?? {});
		else confirm();
	}

	/** Stops at both ends: the way to a yes is always down. */
	function choose(index: number): void {
		chosen = Math.max(0, Math.min(index, choices.length - 1));
		list.setSelectedIndex(chosen);
	}

	function confirm(): void {
		const value = input?.getValue();
		const { answer } = choices[chosen] ?? {};
		if (value !== undefined) done(value === "" ? {} : { value });
		else if (answer || asked.method === "editor") done(answer);
		else write();
	}

	function write(): void {
		const placeholder = plainText(asked.placeholder ?? "").replace(/\n/g, " ");
		input = new Input({ placeholder, placeholderStyle: dim });
		input.focused = isFocused;
	}

	/** Title and message, as many lines as there is room for. */
	function question(width: number, rows: number): string[] {
		const text = plainText(asked.message ?? "").trim();
		const head = wrap(style.bold(plainText(asked.title).trim()), width);
		const all = text === "" ? head : [...head, "", ...wrap(text, width)];
		if (all.length <= rows) return all;
		from = Math.max(0, Math.min(from, all.length - rows + 1));
		const seen = all.slice(from, from + rows - 1);
		const keys = `${name("tui.select.pageUp")}/${name("tui.select.pageDown")}`;
		return [...seen, warning(`lines ${from + 1} to ${from + seen.length} of ${all.length} · ${keys}`)];
	}

	function hints(): string {
		const [take, no] = [name("tui.select.confirm"), name("tui.select.cancel")];
		if (input) return `${take} sends it · ${no} gives no answer`;
		const move = `${name("tui.select.up")}/${name("tui.select.down")}`;
		return `${move} chooses · ${take} takes it · ${no} declines · what you type goes to the editor`;
	}

	const isNew = () => !byHand && (shownAt === undefined || performance.now() - shownAt < GUARD_MS);
	if (asked.method === "input" && byHand) write();
	return {
		isNew,
		takes: (data) => !isNew() && (input !== undefined || keyOf(data) !== undefined),
		get focused() {
			return isFocused;
		},
		set focused(focused) {
			isFocused = focused;
			if (input) input.focused = focused;
		},
		handleInput(data) {
			const key = keyOf(data);
			if (input && key !== "tui.select.confirm" && key !== "tui.select.cancel") input.handleInput(data);
			else if (key) press(key);
		},
		invalidate() {
			list.invalidate();
			input?.invalidate();
		},
		render(width) {
			// A dialog of pi's may have opened below, and would not be seen.
			if (!isFocused) return [];
			shownAt ??= performance.now();
			const inner = Math.max(1, width - FRAME_COLUMNS);
			const below = ["", ...(input ?? list).render(inner), "", ...wrap(dim(hints()), inner)];
			const rows = Math.max(LEAST_ROWS, tui.terminal.rows - FREE_ROWS - FRAME_ROWS - below.length);
			const edge = (left: string, text: string, right: string) =>
				warning(left + truncateToWidth(`─${text}${"─".repeat(width)}`, inner + 2, "") + right);
			const side = warning("│");
			const lines = [...question(inner, rows), ...below].map((line) => `${side} ${cell(line, inner)} ${side}`);
			const framed = [edge("╭", ` ? ${oneLine(asked.heading)} `, "╮"), ...lines, edge("╰", "", "╯")];
			return framed.map((line) => clip(line, width));
		},
	};
}

function isText(data: string): boolean {
	return /^[^\p{Cc}]/u.test(decodeKittyPrintable(data) ?? data);
}
