/** What a view of the panel is, and what it can ask of the panel. */

import type { Style } from "../ui/style.ts";
import type { Action } from "./keys.ts";

export interface Size {
	columns: number;
	rows: number;
}

/** A key and what it does. Where there is no room for all, those of a low `rank` stay. */
export interface Hint {
	action: Action;
	does: string;
	rank: number;
}

/** One screen of the panel. */
export interface View {
	/** The first line. */
	head(columns: number): string;
	/** At most `rows` lines below it. */
	body(size: Size): readonly string[];
	hints(): readonly Hint[];
	/** Does what a key asks for; says whether there is something of that name. */
	press(action: Action): boolean;
	/** Looks at what is new: called when runs have changed, and every second. */
	refresh?(): void;
	/** Forgets what is laid out: the theme has changed. */
	invalidate?(): void;
	dispose?(): void;
}

/** What a view can ask of the panel. */
export interface PanelHost {
	readonly style: Style;
	/** Something that is shown has changed. */
	changed(): void;
	open(view: View): void;
	/** Says something in the place of the hints, until the next key or for a while. */
	say(line: string): void;
	/** Asks for a key, which does it; every other one leaves it. The question goes on where the key is named. */
	askAgain(action: Action, question: string, then: () => void): void;
	/** Asks for a line of text. */
	askText(label: string, then: (text: string) => void): void;
}

/** How far a key scrolls on a screen of `rows`: lines, or infinitely far. */
export function scrolled(action: Action, rows: number): number | undefined {
	// A page keeps a line of what was there, as a bridge.
	const page = Math.max(1, rows - 1);
	switch (action) {
		case "up":
			return -1;
		case "down":
			return 1;
		case "pageUp":
			return -page;
		case "pageDown":
			return page;
		case "halfUp":
			return -Math.ceil(page / 2);
		case "halfDown":
			return Math.ceil(page / 2);
		case "top":
			return Number.NEGATIVE_INFINITY;
		case "bottom":
			return Number.POSITIVE_INFINITY;
		default:
			return undefined;
	}
}
