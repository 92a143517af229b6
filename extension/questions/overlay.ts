/**
 * A question over pi's screen. The addon decides when an answer may be taken, and draws the question. Letters are not among
 * its keys, so a user who is typing continues in pi's editor.
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
	type TUI,
} from "@earendil-works/pi-tui";
import type { Answer, QuestionScreen } from "../../native.js";
import { loadAddon } from "../host/native.ts";
import { keyName, keyText } from "../ui/keys.ts";
import { Pen } from "../ui/pen.ts";
import { plainText } from "../ui/text.ts";
import type { Asked } from "./questions.ts";

/**
 * The time after a question opened by itself during which keys are ignored, in milliseconds. They were meant for the
 * editor.
 */
const GUARD_MS = 500;

type Key = Parameters<QuestionScreen["press"]>[0] | "confirm" | "cancel";

const KEYS: readonly (readonly [Keybinding, Key])[] = [
	["tui.select.up", "up"],
	["tui.select.down", "down"],
	["tui.select.pageUp", "pageUp"],
	["tui.select.pageDown", "pageDown"],
	["tui.select.confirm", "confirm"],
	["tui.select.cancel", "cancel"],
];
/** The keys that still control the question while an answer is written. */
const FOR_INPUT: readonly Key[] = ["pageUp", "pageDown", "confirm", "cancel"];

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
	const { heading, title, message = "", choices } = asked;
	const { native, problem } = loadAddon();
	if (!native) throw new Error(problem);
	const labels = choices.map(({ label }) => label);
	const screen = new native.QuestionScreen(heading, title, message, labels);
	/** The field for an answer of one line, once the user writes it. */
	let input: Input | undefined;
	let shownAt: number | undefined;
	let isFocused = false;

	function keyOf(data: string): Key | undefined {
		// Some lists accept letters as keys; letters typed for the editor must not select an answer here.
		if (!byHand && isText(data)) return undefined;
		const bound = KEYS.find(([binding]) => keybindings.matches(data, binding))?.[1];
		return bound ?? (["home", "end"] as const).find((key) => matchesKey(data, key));
	}

	function confirm(): void {
		const value = input?.getValue();
		const { answer } = choices[screen.chosen] ?? {};
		if (!screen.accepts(input ? value === "" : screen.chosen === 0)) return;
		if (value !== undefined) done(value === "" ? {} : { value });
		else if (answer || asked.method === "editor") done(answer);
		else write();
	}

	function write(): void {
		const placeholder = plainText(asked.placeholder ?? "").replace(/\n/g, " ");
		input = new Input({ placeholder, placeholderStyle: (text) => new Pen(theme, 0).fg("dim", text) });
		input.focused = isFocused;
	}

	function keyNames() {
		const named = KEYS.map(([binding, key]) => [key, keyText(binding, keybindings)]);
		return { ...Object.fromEntries(named), end: keyName("end") };
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
			else if (key === "confirm") confirm();
			// Consent that no one gave or refused may be asked for again. Other questions take the harmless answer.
			else if (key === "cancel") done(asked.method === "consent" ? {} : (choices[0]?.answer ?? {}));
			else if (key) screen.press(key);
		},
		invalidate() {
			input?.invalidate();
		},
		render(width) {
			// A dialog of pi's may have opened below, and would be hidden.
			if (!isFocused) return [];
			shownAt ??= performance.now();
			const line = input?.render(screen.innerWidth(width))[0];
			const pen = new Pen(theme, width, keybindings);
			return pen.drawn((_native, ...on) => screen.draw(...on, tui.terminal.rows, keyNames(), line)) ?? [];
		},
	};
}

function isText(data: string): boolean {
	return /^[^\p{Cc}]/u.test(decodeKittyPrintable(data) ?? data);
}
