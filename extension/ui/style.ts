/** pi's theme, safe to draw with: what a theme does not know leaves the text as it is. */

import type { Theme, ThemeColor } from "@earendil-works/pi-coding-agent";

export type Color = ThemeColor;
type Emphasis = "bold" | "italic" | "underline" | "strikethrough";
/** A theme can be older or newer than these names. */
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
