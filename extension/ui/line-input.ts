/** A line of text that is being typed. */

import type { Key } from "./keys.ts";
import { plainText } from "./spans.ts";
import { characters, characterWidth, textWidth } from "./width.ts";

/** Longest text: what is pasted can be a file. */
const MAX_CHARACTERS = 8_000;

/** What to draw: the cursor stands on `under`, a blank at the end of the text. */
export interface DrawnInput {
	before: string;
	under: string;
	after: string;
}

/** Characters before the cursor, and from it on. */
interface Halves {
	before: readonly string[];
	after: readonly string[];
}

export class LineInput {
	private halves: Halves = { before: [], after: [] };

	get value(): string {
		const { before, after } = this.halves;
		return [...before, ...after].join("").trim();
	}

	/** Takes a key in; says whether it was one for a line of text. */
	press({ name, text }: Key): boolean {
		const edit = text === undefined ? EDITS[name] : inserted(text);
		if (edit) this.halves = edit(this.halves);
		return edit !== undefined;
	}

	/** The part around the cursor that fits into `columns`. */
	drawn(columns: number): DrawnInput {
		const { before, after } = this.halves;
		const [under = " ", ...rest] = after;
		const start = fits([...before].reverse(), columns - textWidth(under));
		const shown = before.slice(before.length - start);
		const end = fits(rest, columns - textWidth(shown.join("") + under));
		return { before: shown.join(""), under, after: rest.slice(0, end).join("") };
	}
}

/** How many of the characters fit. */
function fits(text: readonly string[], columns: number): number {
	let room = columns;
	const beyond = text.findIndex((character) => {
		room -= characterWidth(character);
		return room < 0;
	});
	return beyond < 0 ? text.length : beyond;
}

type Edit = (halves: Halves) => Halves;

function inserted(text: string): Edit {
	return ({ before, after }) => {
		const room = MAX_CHARACTERS - before.length - after.length;
		const fresh = [...characters(plainText(text).replace(/\s*\n\s*/g, " "))].slice(0, Math.max(0, room));
		// Split again: what is typed can become one character with the one before it.
		return { before: [...characters(before.join("") + fresh.join(""))], after };
	};
}

function placed(place: (halves: Halves) => number): Edit {
	return (halves) => {
		const text = [...halves.before, ...halves.after];
		const at = Math.max(0, Math.min(text.length, place(halves)));
		return { before: text.slice(0, at), after: text.slice(at) };
	};
}

const LEFT = placed(({ before }) => before.length - 1);
const RIGHT = placed(({ before }) => before.length + 1);
const START = placed(() => 0);
const END = placed(({ before, after }) => before.length + after.length);
const DELETE: Edit = ({ before, after }) => ({ before, after: after.slice(1) });
const DELETE_WORD: Edit = ({ before, after }) => {
	const end = before.findLastIndex((character) => character !== " ");
	const start = before.slice(0, Math.max(0, end)).lastIndexOf(" ") + 1;
	return { before: before.slice(0, start), after };
};

const EDITS: Readonly<Record<string, Edit>> = {
	left: LEFT,
	"ctrl+b": LEFT,
	right: RIGHT,
	"ctrl+f": RIGHT,
	home: START,
	"ctrl+a": START,
	end: END,
	"ctrl+e": END,
	backspace: ({ before, after }) => ({ before: before.slice(0, -1), after }),
	delete: DELETE,
	"ctrl+d": DELETE,
	"ctrl+w": DELETE_WORD,
	"alt+backspace": DELETE_WORD,
	"ctrl+u": ({ after }) => ({ before: [], after }),
	"ctrl+k": ({ before }) => ({ before, after: [] }),
};
