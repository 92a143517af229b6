/** What a view of the panel is, and the words they share. */

import type { Key } from "../ui/keys.ts";
import type { Line, Span } from "../ui/spans.ts";

export interface Size {
	columns: number;
	rows: number;
}

/** A key and what it does. Where there is no room for all, those of a low `rank` stay. */
export interface Hint {
	keys: string;
	does: string;
	rank: number;
}

/** One screen of the panel. */
export interface View {
	/** The first line. */
	head(columns: number): Line;
	/** At most `rows` lines below it. */
	body(size: Size): readonly Line[];
	hints(): readonly Hint[];
	/** Takes a key in; says whether it knows it. */
	press(key: Key): boolean;
	/** Looks at what is new: called when runs have changed, and every second. */
	refresh?(): void;
	dispose?(): void;
}

/** What a view can ask of the panel. */
export interface PanelHost {
	/** Something that is shown has changed. */
	changed(): void;
	open(view: View): void;
	back(): void;
	/** Says something in the place of the hints, until the next key or for a while. */
	say(line: Line): void;
	/** Asks for a key: pressed again it does it, every other key leaves it. */
	askAgain(key: string, question: Line, then: () => void): void;
	/** Asks for a line of text. */
	askText(label: string, then: (text: string) => void): void;
}

export function titled(title: string): Span {
	return { text: title, color: "toolTitle", bold: true };
}

/** How far a key scrolls: lines, pages, or to an end. */
export function scrolling(key: Key): { lines?: number; pages?: number; end?: "top" | "bottom" } | undefined {
	switch (key.name) {
		case "up":
		case "k":
			return { lines: -1 };
		case "down":
		case "j":
			return { lines: 1 };
		case "pageUp":
		case "ctrl+b":
			return { pages: -1 };
		case "pageDown":
		case "ctrl+f":
		case " ":
			return { pages: 1 };
		case "ctrl+u":
			return { pages: -0.5 };
		case "ctrl+d":
			return { pages: 0.5 };
		case "home":
		case "g":
			return { end: "top" };
		case "end":
		case "G":
			return { end: "bottom" };
		default:
			return undefined;
	}
}

/** How many lines that are, on a screen of `rows`. */
export function scrolledBy({ lines = 0, pages = 0 }: { lines?: number; pages?: number }, rows: number): number {
	// A page keeps a line of what was there, as a bridge.
	return lines + Math.trunc(pages * Math.max(1, rows - 1));
}
