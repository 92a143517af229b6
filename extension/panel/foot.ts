/** The last line: a line that is being typed, else what is asked or said, else the keys. */

import { Input, type KeybindingsManager, matchesKey, setKeybindings, visibleWidth } from "@earendil-works/pi-tui";
import type { Pen } from "../ui/pen.ts";
import type { Color } from "../ui/style.ts";
import { clip, plainText } from "../ui/text.ts";
import type { Action, PanelKeys } from "./keys.ts";

/** How long something is said in the place of the keys. */
const SAID_FOR_MS = 6_000;
/** Longest text that is taken in at once: what is pasted can be a file. */
const MAX_CHARACTERS = 8_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal puts around a paste
const PASTE = /^\u001b\[200~([\s\S]*)\u001b\[201~/;

export class Foot {
	private readonly keys: PanelKeys;
	private readonly changed: () => void;
	private typed: { label: string; input: Input } | undefined;
	private asked: { action: Action; question: string; then(): void } | undefined;
	private said: { text: string; color: Color; until: number } | undefined;

	constructor(keys: PanelKeys, changed: () => void) {
		this.keys = keys;
		this.changed = changed;
	}

	/** Says something in the place of the keys, until the next key or for a while. */
	say(text: string, color: Color): void {
		this.said = { text, color, until: Date.now() + SAID_FOR_MS };
		this.changed();
	}

	hush(): void {
		this.said = undefined;
	}

	/** Asks for a key, which does it; every other one leaves it. The question goes on where the key is named. */
	askAgain(action: Action, question: string, then: () => void): void {
		this.asked = { action, question, then };
	}

	/** Asks for a line of text. */
	askText(label: string, then: (text: string) => void): void {
		// The library that is bundled with us has pi's defaults until it is told otherwise.
		setKeybindings(this.keys.bindings as KeybindingsManager);
		const input = new Input({ prompt: "" });
		const close = () => {
			this.typed = undefined;
		};
		input.onEscape = close;
		input.onSubmit = (value) => {
			close();
			if (value.trim() !== "") then(value.trim());
		};
		this.typed = { label, input };
	}

	/** Takes in what is typed; says whether somebody types. */
	type(data: string): boolean {
		if (!this.typed) return false;
		// Whatever pi's keys for this are: these leave every line of text.
		if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.typed = undefined;
		else this.typed.input.handleInput(data.replace(PASTE, (_, text: string) => pasteOf(text)));
		return true;
	}

	/** Another key was pressed: answers what was asked for. Says whether that is all it does. */
	press(action: Action | undefined): boolean {
		const { asked } = this;
		if (!asked) this.hush();
		this.asked = undefined;
		if (asked && asked.action === action) asked.then();
		return asked !== undefined && (asked.action === action || action === "back");
	}

	/** The line; nothing while there are only keys to show. */
	line(pen: Pen, hasFocus: boolean): string | undefined {
		const { typed, asked, said } = this;
		if (typed) {
			const label = clip(typed.label, Math.floor(pen.width / 2));
			typed.input.focused = hasFocus;
			return `${pen.fg("accent", label)} ${typed.input.render(pen.width - visibleWidth(label) - 1)[0] ?? ""}`;
		}
		if (asked) return pen.fg("warning", pen.clip(`${this.keys.nameOf(asked.action)} ${asked.question}`));
		return said && Date.now() < said.until ? pen.fg(said.color, pen.clip(said.text)) : undefined;
	}
}

/** What is pasted, as one line of safe text. */
function pasteOf(text: string): string {
	return `\u001b[200~${plainText(text.slice(0, MAX_CHARACTERS)).replace(/\s*\n\s*/g, " ")}\u001b[201~`;
}
