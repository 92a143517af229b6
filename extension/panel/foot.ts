/** The last line of the panel: the text input, else a question or a message, else the keys. */

import { Input, type KeybindingsManager, matchesKey, setKeybindings } from "@earendil-works/pi-tui";
import type { Color, Pen } from "../ui/pen.ts";
import { clip, plainText, widthOf } from "../ui/text.ts";
import type { Action, PanelKeys } from "./keys.ts";

/** A key and its effect. The more important keys come first. */
export type Hint = readonly [action: Action, description: string];

/** The space between hints. */
const GAP = "  ";
/** The time for which a message replaces the keys. */
const MESSAGE_MS = 6_000;
/** The maximum length of pasted text, because a user may paste a whole file. */
const MAX_CHARACTERS = 8_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
const PASTE = /^\u001b\[200~([\s\S]*)\u001b\[201~/;

export type Foot = ReturnType<typeof panelFoot>;

export function panelFoot(keys: PanelKeys, changed: () => void) {
	let typed: { label: string; input: Input } | undefined;
	let asked: { action: Action; question: string; then(): void } | undefined;
	let message: { text: string; color: Color; until: number } | undefined;
	const clear = () => {
		message = undefined;
	};
	const leave = () => {
		typed = undefined;
	};
	return {
		clear,
		/** Shows a message instead of the keys, until the next key or for a limited time. */
		show(text: string, color: Color): void {
			message = { text, color, until: Date.now() + MESSAGE_MS };
			changed();
		},
		/**
		 * Asks for a key that confirms an action; any other key cancels. The line shows the name of the key before `question`.
		 */
		askAgain(action: Action, question: string, then: () => void): void {
			asked = { action, question, then };
		},
		/** Asks for a line of text. */
		askText(label: string, then: (text: string) => void): void {
			// The bundled library uses pi's default keys until this call.
			setKeybindings(keys.bindings as KeybindingsManager);
			const input = new Input({ prompt: "" });
			input.onEscape = leave;
			input.onSubmit = (value) => {
				leave();
				if (value.trim() !== "") then(value.trim());
			};
			typed = { label, input };
		},
		/** Handles input for the text field. Returns false if no text field is open. */
		type(data: string): boolean {
			if (!typed) return false;
			// These two keys always leave the text field, regardless of the user's bindings.
			if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) leave();
			else typed.input.handleInput(data.replace(PASTE, (_, text: string) => pasteOf(text)));
			return true;
		},
		/** Handles a key that answers a question. Returns true if the key has no other effect. */
		press(action: Action | undefined): boolean {
			const question = asked;
			if (!question) clear();
			asked = undefined;
			if (question?.action === action) question?.then();
			return question !== undefined && (question.action === action || action === "back");
		},
		line(hints: readonly Hint[], pen: Pen, hasFocus: boolean): string {
			if (typed) {
				const label = clip(typed.label, Math.floor(pen.width / 2));
				typed.input.focused = hasFocus;
				return `${pen.fg("accent", label)} ${typed.input.render(pen.width - widthOf(label) - 1)[0] ?? ""}`;
			}
			if (asked) return pen.fg("warning", pen.clip(`${keys.nameOf(asked.action)} ${asked.question}`));
			if (message && Date.now() < message.until) return pen.fg(message.color, pen.clip(message.text));
			return hintLine(hints, keys, pen);
		},
	};
}

/** Returns the keys on one line: the last two, and before them as many as fit. */
function hintLine(hints: readonly Hint[], keys: PanelKeys, pen: Pen): string {
	const widths = hints.map(
		([action, description]) => widthOf(keys.nameOf(action)) + description.length + 1 + GAP.length,
	);
	const fitting = hints.length - 2;
	let room = widths.slice(fitting).reduce((remaining, width) => remaining - width, pen.width + GAP.length);
	const shown = hints.filter((_, index) => {
		if (index < fitting) room -= widths[index] ?? 0;
		return index >= fitting || room >= 0;
	});
	const written = shown.map(
		([action, description]) => pen.fg("accent", keys.nameOf(action)) + pen.fg("dim", ` ${description}`),
	);
	return pen.clip(written.join(GAP));
}

/** Returns pasted text as one line of safe text. */
function pasteOf(text: string): string {
	return `\u001b[200~${plainText(text.slice(0, MAX_CHARACTERS)).replace(/\s*\n\s*/g, " ")}\u001b[201~`;
}
