/** pi's theme, safe to draw with: a colour that a theme does not know leaves the text as it is. */

import type { Theme, ThemeColor } from "@earendil-works/pi-coding-agent";

export type Color = ThemeColor;

export class Style {
	readonly theme: Theme;

	constructor(theme: Theme) {
		this.theme = theme;
	}

	fg(color: Color, text: string): string {
		if (text === "") return text;
		try {
			return this.theme.fg(color, text);
		} catch {
			return text;
		}
	}

	bold(text: string): string {
		return this.theme.bold(text);
	}
}
