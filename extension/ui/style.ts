/** pi's theme, safe to draw with: what a theme does not know leaves the text as it is. */

import type { Theme, ThemeColor } from "@earendil-works/pi-coding-agent";

export type Color = ThemeColor;
type Ground = Parameters<Theme["bg"]>[0];
type Emphasis = "bold" | "italic" | "underline" | "strikethrough";

export class Style {
	readonly theme: Theme;

	constructor(theme: Theme) {
		this.theme = theme;
	}

	fg(color: Color, text: string): string {
		return this.safely(text, () => this.theme.fg(color, text));
	}

	bg(ground: Ground, text: string): string {
		return this.safely(text, () => this.theme.bg(ground, text));
	}

	bold(text: string): string {
		return this.emphasis("bold", text);
	}

	emphasis(kind: Emphasis, text: string): string {
		return this.safely(text, () => this.theme[kind](text));
	}

	/** A theme can be another extension's, and older or newer than these names. */
	private safely(text: string, styled: () => string): string {
		if (text === "") return text;
		try {
			return styled();
		} catch {
			return text;
		}
	}
}
