/** Styled text as data: laid out while it is still plain, so that no escape sequence is ever measured or cut. */

import type { Theme } from "../host/pi.ts";
import type { Color } from "./style.ts";
import { characters, characterWidth, textWidth } from "./width.ts";

export interface Span {
	text: string;
	color?: Color;
	bold?: boolean;
}

export type Line = readonly Span[];

const ELLIPSIS = "…";

/** Terminal control sequences: OSC and other strings, CSI, and two-character escapes. Strings first, they share a start. */
const ESCAPES =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
	/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]/g;

/** What no terminal should get from foreign text: control characters, and marks that reorder the line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text that is safe to draw: lines end with LF, tabs are spaces, control sequences are gone. */
export function plainText(text: string): string {
	return text.toWellFormed().replace(/\r\n?/g, "\n").replace(/\t/g, "   ").replace(ESCAPES, "").replace(CONTROLS, "");
}

/** The same on one line, with runs of blanks folded. */
export function oneLine(text: string): string {
	return plainText(text).replace(/\s+/g, " ").trim();
}

export function lineWidth(line: Line): number {
	return line.reduce((width, span) => width + textWidth(span.text), 0);
}

/** Cuts a line to `width` columns; what is missing shows as an ellipsis. */
export function clip(line: Line, width: number): Line {
	if (lineWidth(line) <= width) return line;
	const kept: Span[] = [];
	let room = width - 1;
	for (const span of line) {
		const text = fitting(span.text, room);
		if (text !== "") kept.push({ ...span, text });
		room -= textWidth(text);
		if (text !== span.text) break;
	}
	return width > 0 ? [...kept, { text: ELLIPSIS, color: "dim" }] : [];
}

/** The longest start of `text` that fits into `width` columns. */
export function fitting(text: string, width: number): string {
	let end = 0;
	let used = 0;
	for (const character of characters(text)) {
		used += characterWidth(character);
		if (used > width) break;
		end += character.length;
	}
	return text.slice(0, end);
}

/** What must stay together: pieces of adjacent spans without a blank between them, or blanks. */
interface Word {
	pieces: Span[];
	width: number;
	blank: boolean;
}

/** Breaks a line at blanks, and words longer than a line anywhere; lines after the first are indented by `hang`. */
export function wrap(line: Line, width: number, hang = 0): Line[] {
	const columns = Math.max(1, width);
	const indent = hang < columns - 1 ? hang : 0;
	const lines: Span[][] = [[]];
	let used = 0;
	const put = (piece: Span, pieceColumns: number) => {
		lines.at(-1)?.push(piece);
		used += pieceColumns;
	};
	const breakLine = () => {
		trimEnd(lines.at(-1));
		lines.push(indent > 0 ? [{ text: " ".repeat(indent) }] : []);
		used = indent;
	};
	/** Fills lines character by character, in one pass: a piece can be a whole answer without a blank. */
	const pour = (piece: Span) => {
		let text = "";
		let textColumns = 0;
		const flush = () => {
			if (text !== "") put({ ...piece, text }, textColumns);
			text = "";
			textColumns = 0;
		};
		for (const character of characters(piece.text)) {
			const columnsOfIt = characterWidth(character);
			// What no line has room for is left out.
			if (columnsOfIt > columns - indent) continue;
			if (used + textColumns + columnsOfIt > columns) {
				flush();
				breakLine();
			}
			text += character;
			textColumns += columnsOfIt;
		}
		flush();
	};
	for (const word of words(line)) {
		if (used + word.width <= columns) {
			if (word.blank && used <= indent && lines.length > 1) continue;
			for (const piece of word.pieces) put(piece, textWidth(piece.text));
			continue;
		}
		if (word.blank) continue;
		const mustBreak = word.width > columns - indent;
		// A word that has to be broken starts where it is, unless next to nothing of it would fit there.
		if (used > indent && !(mustBreak && columns - used >= columns / 4)) breakLine();
		for (const piece of word.pieces) pour(piece);
	}
	trimEnd(lines.at(-1));
	return lines;
}

function words(line: Line): Word[] {
	const found: Word[] = [];
	for (const span of line) {
		for (const text of span.text.match(/\s+|\S+/gu) ?? []) {
			const blank = text.trim() === "";
			const piece = { ...span, text };
			const last = found.at(-1);
			if (last && !last.blank && !blank) {
				last.pieces.push(piece);
				last.width += textWidth(text);
			} else {
				found.push({ pieces: [piece], width: textWidth(text), blank });
			}
		}
	}
	return found;
}

function trimEnd(line: Span[] | undefined): void {
	while (line && line.length > 0 && line.at(-1)?.text.trim() === "") line.pop();
}

/** Joins spans and colours them. Foreign names in a stored line fall back to no colour. */
export function paint(line: Line, theme: Pick<Theme, "fg" | "bold">): string {
	return line
		.map(({ text, color, bold }) => {
			const weighted = bold ? theme.bold(text) : text;
			return color ? theme.fg(color as "accent", weighted) : weighted;
		})
		.join("");
}

export function unstyled(line: Line): string {
	return line.map((span) => span.text).join("");
}
