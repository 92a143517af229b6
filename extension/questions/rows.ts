/**
 * Breaks the text of a question into rows without hiding a character of it: the end of a row stands for a blank, and a row that
 * ends within a word says so.
 */

import { visibleWidth } from "@earendil-works/pi-tui";
import { widthOf } from "../ui/text.ts";

export interface QuestionRow {
	text: string;
	/** The word goes on in the next row: there is no blank between them. */
	isBroken: boolean;
}

/** The start of a line. A wrapped line continues below its end, so that it cannot pass for a line of its own. */
const LEAD = /^(?:[a-z][a-z ]{0,15}: |[-+|·] | +)/;
/** The indentation below a start that would take too much of the width. */
const INDENT = 2;
/** Each of these characters has one column. */
const ASCII = /^[ -~]*$/;
const WORDS = / +|[^ ]+/g;
/** A long word ends a row after one of these, if the row is at least half full then. */
const NAME_END = /[/\\:]/;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The rows of a text. No row is wider than `width` in any terminal. */
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

/** The rows of one line, of which the first one may have another width. */
function brokenRows(line: string, first: number, width: number): QuestionRow[] {
	const rows: QuestionRow[] = [];
	let [text, columns] = ["", 0];
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
		const wordColumns = widestOf(word);
		if (columns + wordColumns <= room) {
			add(word, wordColumns);
			continue;
		}
		// A word that fits into a row is not broken. A longer one begins in this row only if half of it is free.
		if (!isBlank && columns > 0 && (wordColumns <= width || columns > room / 2)) end(false);
		for (const letter of lettersOf(word)) {
			const letterColumns = widestOf(letter);
			if (columns + letterColumns > room && columns > 0) {
				const rest = isBlank ? "" : cutAtName(text, room);
				text = text.slice(0, text.length - rest.length);
				end(!isBlank);
				// The end of the row stands for this blank.
				if (isBlank) continue;
				add(rest, widestOf(rest));
			}
			add(letter, letterColumns);
		}
	}
	end(false);
	return rows;
}

/** The part of a row after the last name of a path, if the row is at least half full before it. */
function cutAtName(text: string, room: number): string {
	for (let at = text.length; at > room / 2; at--) {
		if (NAME_END.test(text[at - 1] ?? "")) return text.slice(at);
	}
	return "";
}

function lettersOf(word: string): Iterable<string> {
	return ASCII.test(word) ? word : [...graphemes.segment(word)].map(({ segment }) => segment);
}

/**
 * The columns that a text takes at most. Some terminals draw the parts of an emoji or of a flag side by side. Many of them
 * would push the words after them off the screen.
 */
function widestOf(text: string): number {
	if (ASCII.test(text)) return text.length;
	let columns = 0;
	for (const { segment } of graphemes.segment(text)) {
		const apart = [...segment].reduce((sum, letter) => sum + visibleWidth(letter), 0);
		columns += Math.max(apart, visibleWidth(segment));
	}
	return columns;
}
