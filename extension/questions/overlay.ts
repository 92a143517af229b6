/**
 * A question over pi's screen. Enter alone approves nothing: the harmless answer is selected until the user moves to
 * another one with an arrow key, and that answer is accepted only after the question was scrolled to its end. Letters
 * are not among its keys, so a user who is typing continues in pi's editor.
 */

import type { Theme } from "@earendil-works/pi-coding-agent";
import {
	type Component,
	decodeKittyPrintable,
	type Focusable,
	Input,
	type Keybinding,
	type KeybindingsManager,
	matchesKey,
	SelectList,
	type TUI,
	truncateToWidth,
	wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import type { Answer, QuestionRow } from "../../index.js";
import { keyName, keyText } from "../ui/keys.ts";
import { Pen, Style } from "../ui/pen.ts";
import { cell, clip, oneLine, plainText } from "../ui/text.ts";
import type { Asked } from "./questions.ts";

/**
 * The time after a question opened by itself during which keys are ignored, in milliseconds. They were meant for the
 * editor.
 */
const GUARD_MS = 500;
/** The maximum number of visible choices. */
const CHOICES = 8;
/** The rows of the screen that stay free, the rows of the frame, and the minimum number of rows for the question. */
const FREE_ROWS = 4;
const FRAME_ROWS = 2;
const MIN_ROWS = 3;
/** The columns of the frame with its inner padding. */
const FRAME_COLUMNS = 4;

/** Marks the right edge of a row that ends within a word. No text of a question reaches that column. */
const BROKEN = "↩";

const KEYS = [
	"tui.select.up",
	"tui.select.down",
	"tui.select.pageUp",
	"tui.select.pageDown",
	"tui.select.confirm",
	"tui.select.cancel",
] as const satisfies readonly Keybinding[];
/** The keys for the first and the last line. */
const ENDS = ["home", "end"] as const;
type Key = (typeof KEYS)[number] | (typeof ENDS)[number];
/** The keys that still control the question while an answer is written. */
const FOR_INPUT: readonly Key[] = [
	"tui.select.pageUp",
	"tui.select.pageDown",
	"tui.select.confirm",
	"tui.select.cancel",
];

export interface OverlayOptions {
	tui: TUI;
	theme: Theme;
	keybindings: KeybindingsManager;
	asked: Asked;
	/** True if the user opened the question, and expects it to take the keys. */
	byHand: boolean;
	/** Receives the answer. Without an answer, the user writes it in pi's editor. */
	done(answer?: Answer): void;
}

export interface QuestionOverlay extends Component, Focusable {
	/** Returns true if a key is for this question, and not for pi's editor. */
	takes(data: string): boolean;
	/** Returns true shortly after the question opened by itself, while keys may still be meant for the editor. */
	isNew(): boolean;
}

export function questionOverlay(options: OverlayOptions): QuestionOverlay {
	const { tui, theme, keybindings, asked, byHand, done } = options;
	const { choices } = asked;
	/** The answer that Enter and Escape select by default. */
	const [harmless] = choices;
	let chosen = 0;
	/** The field for an answer of one line, once the user writes it. */
	let input: Input | undefined;
	/** The question's rows for one width, the first visible row, and the number of visible rows. */
	let laidOut: { width: number; rows: readonly QuestionRow[] } | undefined;
	let from = 0;
	let page = MIN_ROWS;
	/** True once the last row was visible. */
	let isRead = false;
	/** True if the last key tried to approve before that. */
	let isHurried = false;
	let shownAt: number | undefined;
	let isFocused = false;

	const style = new Style(theme);
	const accent = (text: string) => style.fg("accent", text);
	const dim = (text: string) => style.fg("dim", text);
	const warning = (text: string) => style.fg("warning", text);
	const name = (key: Keybinding) => keyText(key, keybindings);

	const items = choices.map((choice, index) => ({ value: `${index}`, label: choice.label }));
	const styles = { selectedPrefix: accent, selectedText: accent, description: dim, scrollInfo: dim, noMatch: dim };
	const list = new SelectList(items, CHOICES, styles);

	function keyOf(data: string): Key | undefined {
		// Some lists accept letters as keys; letters typed for the editor must not select an answer here.
		if (!byHand && isText(data)) return undefined;
		return KEYS.find((key) => keybindings.matches(data, key)) ?? ENDS.find((key) => matchesKey(data, key));
	}

	function press(key: Key): void {
		isHurried = false;
		if (key === "tui.select.up") choose(chosen - 1);
		else if (key === "tui.select.down") choose(chosen + 1);
		// A page keeps the last line of the page before it.
		else if (key === "tui.select.pageUp") from -= Math.max(1, page - 1);
		else if (key === "tui.select.pageDown") from += Math.max(1, page - 1);
		else if (key === "home") from = 0;
		else if (key === "end") from = Number.POSITIVE_INFINITY;
		else if (key === "tui.select.cancel") done(harmless?.answer ?? {});
		else confirm();
	}

	/** Moves the selection. It stops at both ends, so the way to a yes is always down. */
	function choose(index: number): void {
		chosen = Math.max(0, Math.min(index, choices.length - 1));
		list.setSelectedIndex(chosen);
	}

	function confirm(): void {
		const value = input?.getValue();
		const { answer } = choices[chosen] ?? {};
		const isHarmless = input ? value === "" : chosen === 0;
		isHurried = !isRead && !isHarmless;
		if (isHurried) return;
		if (value !== undefined) done(value === "" ? {} : { value });
		else if (answer || asked.method === "editor") done(answer);
		else write();
	}

	function write(): void {
		const placeholder = plainText(asked.placeholder ?? "").replace(/\n/g, " ");
		input = new Input({ placeholder, placeholderStyle: dim });
		input.focused = isFocused;
	}

	/** Returns the title, the message, and the full text of choices that the list has to cut. */
	function allRows(width: number): readonly QuestionRow[] {
		if (laidOut?.width !== width) {
			const { title, message = "" } = asked;
			const labels = choices.map(({ label }) => label);
			const pen = new Pen(theme, width, keybindings);
			const rows = pen.measured((native, ...on) => native.questionRows(...on, title, message, labels)) ?? [];
			laidOut = { width, rows };
		}
		return laidOut.rows;
	}

	/** Returns the visible rows. */
	function question(width: number, rows: number): readonly QuestionRow[] {
		const all = allRows(width);
		const isLong = all.length > rows;
		page = isLong ? rows - 1 : rows;
		from = Math.max(0, Math.min(from, all.length - page));
		const seen = all.slice(from, from + page);
		isRead ||= from + seen.length >= all.length;
		if (!isLong) return seen;
		const keys = `${name("tui.select.pageUp")}/${name("tui.select.pageDown")}/${keyName("end")}`;
		const text = warning(`lines ${from + 1} to ${from + seen.length} of ${all.length} · ${keys}`);
		return [...seen, { text, isBroken: false }];
	}

	function hints(): string {
		const take = name("tui.select.confirm");
		const no = name("tui.select.cancel");
		if (isHurried && !isRead) {
			return warning(`Scroll to the end first: ${name("tui.select.pageDown")} or ${keyName("end")} · ${no} declines`);
		}
		if (input) return dim(`${take} sends · ${no} declines`);
		const broken = laidOut?.rows.some(({ isBroken }) => isBroken) ? ` · ${BROKEN} no space here` : "";
		const move = `${name("tui.select.up")}/${name("tui.select.down")}`;
		return dim(`${move} moves · ${take} selects · ${no} declines · other keys go to the editor${broken}`);
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
			if (input && !(key && FOR_INPUT.includes(key))) input.handleInput(data);
			else if (key) press(key);
		},
		invalidate() {
			laidOut = undefined;
			list.invalidate();
			input?.invalidate();
		},
		render(width) {
			// A dialog of pi's may have opened below, and would be hidden.
			if (!isFocused) return [];
			shownAt ??= performance.now();
			const inner = Math.max(1, width - FRAME_COLUMNS);
			allRows(inner);
			const below = ["", ...(input ?? list).render(inner), "", ...wrapTextWithAnsi(hints(), inner)];
			const rows = Math.max(MIN_ROWS, tui.terminal.rows - FREE_ROWS - FRAME_ROWS - below.length);
			const edge = (left: string, text: string, right: string) =>
				warning(left + truncateToWidth(`─${text}${"─".repeat(width)}`, inner + 2, "") + right);
			const side = warning("│");
			const row = (line: string, edge = side) => `${side} ${cell(line, inner)} ${edge}`;
			const asking = question(inner, rows).map(({ text, isBroken }) => row(text, isBroken ? warning(BROKEN) : side));
			const lines = [...asking, ...below.map((line) => row(line))];
			const framed = [edge("╭", ` ? ${oneLine(asked.heading)} `, "╮"), ...lines, edge("╰", "", "╯")];
			return framed.map((line) => clip(line, width));
		},
	};
}

function isText(data: string): boolean {
	return /^[^\p{Cc}]/u.test(decodeKittyPrintable(data) ?? data);
}
