/** Text on its way to a terminal: foreign text made safe, lines cut and wrapped by pi's own measure. */

import { sliceByColumn, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";

export const ELLIPSIS = "…";
/** Fewer columns than this say nothing. */
export const FEWEST_COLUMNS = 6;
/** What pi puts around an ellipsis takes away the ground that a line stands on; only what is written may end there. */
const RESET = "\u001b[0m";
const UNSTYLED = "\u001b[22;23;24;29;39m";

/** Terminal control sequences: OSC and other strings, CSI, and two-character escapes. Strings first, they share a start. */
const ESCAPES =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
	/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]/g;

/** What no terminal should get from foreign text: control characters, and marks that reorder the line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** What most text is. */
const SAFE = /^[\n -~]*$/;

/** Foreign text that is safe to draw: lines end with LF, tabs are spaces, control sequences are gone. */
export function plainText(text: string): string {
	if (SAFE.test(text)) return text;
	return text.toWellFormed().replace(/\r\n?/g, "\n").replace(/\t/g, "   ").replace(ESCAPES, "").replace(CONTROLS, "");
}

/** The same on one line, with runs of blanks folded. */
export function oneLine(text: string): string {
	return plainText(text).replace(/\s+/g, " ").trim();
}

/** Colours and weights; and characters of one column each, whatever stands beside them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a style is made of
const STYLES = /\u001b\[[\d;]*m/g;
const NARROW =
	/^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2199\u21a9-\u22ff\u2500-\u25fc\u2713\u2717\u276f]*$/;

/** The columns of a styled line. Most lines can be counted, which takes a tenth of the time that measuring does. */
export function widthOf(line: string): number {
	const bare = line.includes("\u001b") ? line.replace(STYLES, "") : line;
	return NARROW.test(bare) ? bare.length : visibleWidth(line);
}

/** Cuts a styled line to `width` columns; what is missing shows as an ellipsis. */
export function clip(line: string, width: number): string {
	if (width <= 0) return "";
	return widthOf(line) <= width ? line : restyled(truncateToWidth(line, width, ELLIPSIS), line);
}

/** A styled line, cut or filled to exactly `columns`. */
export function cell(line: string, columns: number): string {
	if (columns <= 0) return "";
	const missing = columns - widthOf(line);
	if (missing >= 0) return line + " ".repeat(missing);
	return restyled(truncateToWidth(line, columns, ELLIPSIS, true), line);
}

function restyled(cut: string, line: string): string {
	return cut.replace(RESET, "").replace(RESET, line.includes("\u001b") ? UNSTYLED : "");
}

/** What stands between blanks and styles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a style is made of
const WORDS = /\u001b\[[\d;]*m|[^\s\u001b]+/g;

/** Longer words are no paths or keys, and take long. */
const LONGEST_NAME = 4096;

/** A word that is too wide, such as a path or a key, in lines that end where one of its names does. */
function brokenAtNames(word: string, columns: number): string {
	if (word.length <= columns / 2 || word.length > LONGEST_NAME) return word;
	let [done, rest] = ["", word];
	while (widthOf(rest) > columns) {
		const end = /^.*[/\\:]/.exec(sliceByColumn(rest, 0, columns, true))?.[0];
		if (!end || !rest.startsWith(end)) break;
		done += `${end}\n`;
		rest = rest.slice(end.length);
	}
	return done + rest;
}

/** Wraps styled text. What follows the first line stands below the end of `lead`, which is a mark or an indentation. */
export function wrap(text: string, width: number, lead = ""): string[] {
	const indent = widthOf(lead);
	const columns = Math.max(1, width - indent);
	const words = text.length > columns ? text.replace(WORDS, (word) => brokenAtNames(word, columns)) : text;
	const lines = wrapTextWithAnsi(words, columns);
	const margin = " ".repeat(indent);
	return lines.map((line, index) => (index === 0 ? lead : margin) + line);
}

/** Moves lines to the right; blank ones stay empty. */
export function indented(lines: readonly string[], columns: number): string[] {
	return lines.map((line) => (line === "" ? line : " ".repeat(columns) + line));
}

/** Stands around a name that could be more than one word. */
const QUOTE = "`";
const QUOTES = 2;

/** A path in so many columns: cut before a name, unless that would leave half of the room empty. */
export function fitPath(path: string, width: number): string {
	const columns = widthOf(path);
	if (columns <= width) return path;
	// Without its quotes, a part of a name could pass for words of ours.
	if (path.startsWith(QUOTE) && path.endsWith(QUOTE) && width > QUOTES) {
		return QUOTE + fitPath(path.slice(QUOTE.length, -QUOTE.length), width - QUOTES) + QUOTE;
	}
	const room = Math.max(0, width - 1);
	const end = sliceByColumn(path, columns - room, room, true);
	const name = end.search(/[/\\]/);
	return ELLIPSIS + (name > room / 2 ? end : end.slice(Math.max(0, name)));
}
