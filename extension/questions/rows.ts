/**
 * Breaks the text of a question into rows without hiding a character. The end of a row replaces a blank. A row that
 * ends within a word is marked.
 */

import { visibleWidth } from "@earendil-works/pi-tui";
import { widthOf } from "../ui/text.ts";

export interface QuestionRow {
	text: string;
	/** True if the word continues in the next row, without a blank. */
	isBroken: boolean;
}

/** The start of a line. A wrapped line continues to the right of it, so that it cannot pass for a separate line. */
const LEAD = /^(?:[a-z][a-z ]{0,15}: |[-+|·] | +)/;
/** The indentation used if the start would take too much of the width. */
const INDENT = 2;
/** Text of one-column characters. */
const ASCII = /^[ -~]*$/;
const WORDS = / +|[^ ]+/g;
/** The characters after which a long word may end a row, if the row is at least half full. */
const NAME_END = /[/\\:]/;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Returns the rows of a text. No row is wider than `width` in any terminal. */
export function questionRows(text: string, width: number): QuestionRow[] {
	return text.split("\n").flatMap((line) => {
		const [found = ""] = LEAD.exec(line) ?? [];
		const lead = widthOf(found) * 3 > width ? "" : found;
		const columns = found === "" ? 0 : lead === "" ? INDENT : widthOf(lead);
		const indent = " ".repeat(Math.min(columns, Math.max(0, width - 1)));
		const rows = brokenRows(line.slice(lead.length), width - widthOf(lead), Math.max(1, width - indent.length));
		return rows.map(({ text, isBroken }, index) => ({ text: (index === 0 ? lead : indent) + text, isBroken }));
	});
}

/** Returns the rows of one line. The first row may have another width. */
function brokenRows(line: string, first: number, width: number): QuestionRow[] {
	const rows: QuestionRow[] = [];
	let text = "";
	let columns = 0;
	let room = first;
	const end = (isBroken: boolean) => {
		rows.push({ text, isBroken });
		[text, columns] = ["", 0];
		room = width;
	};
	const add = (part: string, partColumns: number) => {
		text += part;
		columns += partColumns;
	};
	for (const [word] of line.matchAll(WORDS)) {
		const isBlank = word.startsWith(" ");
		const wordColumns = maxColumnsOf(word);
		if (columns + wordColumns <= room) {
			add(word, wordColumns);
			continue;
		}
		// A word that fits into a row is not broken. A longer word starts in this row only if half of the row is free.
		if (!isBlank && columns > 0 && (wordColumns <= width || columns > room / 2)) end(false);
		for (const letter of graphemesOf(word)) {
			const letterColumns = maxColumnsOf(letter);
			if (columns + letterColumns > room && columns > 0) {
				const rest = isBlank ? "" : cutAtName(text, room);
				text = text.slice(0, text.length - rest.length);
				end(!isBlank);
				// The end of the row replaces this blank.
				if (isBlank) continue;
				add(rest, maxColumnsOf(rest));
			}
			add(letter, letterColumns);
		}
	}
	end(false);
	return rows;
}

/** Returns the part of a row after the last separator of a path, if the row is at least half full before it. */
function cutAtName(text: string, room: number): string {
	for (let at = text.length; at > room / 2; at--) {
		if (NAME_END.test(text[at - 1] ?? "")) return text.slice(at);
	}
	return "";
}

function graphemesOf(word: string): Iterable<string> {
	return ASCII.test(word) ? word : [...graphemes.segment(word)].map(({ segment }) => segment);
}

/**
 * Returns the maximum number of columns of a text. Some terminals draw the parts of an emoji or a flag side by side,
 * and several of these would push the following words off the screen.
 */
function maxColumnsOf(text: string): number {
	if (ASCII.test(text)) return text.length;
	let columns = 0;
	for (const { segment } of graphemes.segment(text)) {
		const apart = [...segment].reduce((sum, letter) => sum + visibleWidth(letter), 0);
		columns += Math.max(apart, visibleWidth(segment));
	}
	return columns;
}
