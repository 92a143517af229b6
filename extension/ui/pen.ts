/**
 * Draws with pi's theme in a given width. Cards, messages, the widget and the panel are drawn with it. Missing colours
 * and styles are skipped.
 */

import type { ThemeColor as Color, Theme } from "@earendil-works/pi-coding-agent";
import type { Keybinding } from "@earendil-works/pi-tui";
import { keyText } from "./key-text.ts";
import { clip, indented, plainText, widthOf, wrap } from "./text.ts";

export type { ThemeColor as Color } from "@earendil-works/pi-coding-agent";

type Emphasis = "bold" | "italic" | "underline" | "strikethrough";
/** A theme of an older or newer pi, which may lack some of these names. */
export type AnyTheme = Pick<Theme, "fg"> & Partial<Pick<Theme, "bg" | Emphasis>>;

export class Style {
	readonly theme: AnyTheme;

	constructor(theme: AnyTheme) {
		this.theme = theme;
	}

	fg(color: Color, text: string): string {
		return safely(text, () => this.theme.fg(color, text));
	}

	bg(ground: Parameters<Theme["bg"]>[0], text: string): string {
		return safely(text, () => this.theme.bg?.(ground, text));
	}

	bold(text: string): string {
		return this.emphasis("bold", text);
	}

	emphasis(kind: Emphasis, text: string): string {
		return safely(text, () => this.theme[kind]?.(text));
	}
}

function safely(text: string, styled: () => string | undefined): string {
	if (text === "") return text;
	try {
		return styled() ?? text;
	} catch {
		return text;
	}
}

export const SEPARATOR = " · ";

export class Pen extends Style {
	readonly width: number;
	/** Returns the user's keys for an action. Empty if there are none. */
	readonly keyText: (action: Keybinding) => string;

	constructor(theme: AnyTheme, width: number, keys: (action: Keybinding) => string = keyText) {
		super(theme);
		this.width = width;
		this.keyText = keys;
	}

	/** Returns a pen for another width. */
	resized(width: number): Pen {
		return new Pen(this.theme, width, this.keyText);
	}

	/** Draws to the right of a margin. */
	indented(columns: number, draw: (inner: Pen) => readonly string[]): string[] {
		return indented(draw(this.resized(this.width - columns)), columns);
	}

	/** Cuts a styled line. */
	clip(line: string): string {
		return clip(line, this.width);
	}

	/** Wraps styled text. The lines after the first are aligned with the end of `lead`. */
	wrap(text: string, lead = ""): string[] {
		return wrap(text, this.width, lead);
	}

	/** Draws untrusted text in one colour. */
	paragraph(text: string, color: Color): string[] {
		return this.wrap(this.fg(color, plainText(text).trim()));
	}

	/** Joins styled parts in a row and leaves out the empty ones. */
	joined(parts: readonly string[]): string {
		return parts.filter((part) => part !== "").join(this.fg("dim", SEPARATOR));
	}

	/** Joins styled parts on as many lines as they need. */
	rows(parts: readonly string[]): string[] {
		const lines: string[][] = [];
		for (const part of parts) {
			if (part === "") continue;
			const last = lines.at(-1);
			if (last && joinedWidth([...last, part]) <= this.width) last.push(part);
			else lines.push([part]);
		}
		return lines.map((line) => this.clip(this.joined(line)));
	}
}

/** Returns the width of parts joined in a row. */
export function joinedWidth(parts: readonly string[]): number {
	const widths = parts.map(widthOf).filter((width) => width > 0);
	return widths.reduce((sum, width) => sum + width, Math.max(0, widths.length - 1) * SEPARATOR.length);
}

/** Returns at most `limit` lines and a line with the number of hidden ones. A single extra line is shown instead. */
export function limited(lines: string[], limit: number, more: (rest: number) => string): string[] {
	const rest = lines.length - limit;
	return rest <= 1 ? lines : [...lines.slice(0, limit), more(rest)];
}
