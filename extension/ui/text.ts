/** Prepares text for a terminal: makes untrusted text safe, and cuts and wraps lines with pi's own width function. */

import { sliceByColumn, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";

export const ELLIPSIS = "…";
/** The minimum width at which a cut text is still readable. */
export const MIN_COLUMNS = 6;
/**
 * pi resets all styles around an ellipsis, including the background of the line. `UNSTYLED` ends only the text styles.
 */
const RESET = "\u001b[0m";
const UNSTYLED = "\u001b[22;23;24;29;39m";

/**
 * Terminal control sequences: OSC and other strings, CSI, and two-character escapes. Strings come first, because they
 * begin like the others.
 */
const ESCAPES =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
	/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]/g;

/** Characters that are removed from untrusted text: control characters, and marks that reorder the line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text that needs no change, the common case. */
const SAFE = /^[\n -~]*$/;

/** Makes untrusted text safe to draw. Lines end with LF, tabs become spaces, control sequences are removed. */
export function plainText(text: string): string {
	if (SAFE.test(text)) return text;
	return text.toWellFormed().replace(/\r\n?/g, "\n").replace(/\t/g, "   ").replace(ESCAPES, "").replace(CONTROLS, "");
}

/** Returns safe text on one line. Each run of white space becomes a single space. */
export function oneLine(text: string): string {
	return plainText(text).replace(/\s+/g, " ").trim();
}

/**
 * `STYLES` matches colours and weights. `NARROW` matches text whose characters have one column each, in any context.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
const STYLES = /\u001b\[[\d;]*m/g;
const NARROW =
	/^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2199\u21a9-\u22ff\u2500-\u25fc\u2713\u2717\u276f]*$/;

/** Returns the columns of a styled line. Most lines are counted by length, which is ten times as fast as measuring. */
export function widthOf(line: string): number {
	const bare = line.includes("\u001b") ? line.replace(STYLES, "") : line;
	return NARROW.test(bare) ? bare.length : visibleWidth(line);
}

/** Cuts a styled line to `width` columns. An ellipsis replaces the missing part. */
export function clip(line: string, width: number): string {
	if (width <= 0) return "";
	return widthOf(line) <= width ? line : restyled(truncateToWidth(line, width, ELLIPSIS), line);
}

/** Cuts or pads a styled line to exactly `columns`. */
export function cell(line: string, columns: number): string {
	if (columns <= 0) return "";
	const missing = columns - widthOf(line);
	if (missing >= 0) return line + " ".repeat(missing);
	return restyled(truncateToWidth(line, columns, ELLIPSIS, true), line);
}

function restyled(cut: string, line: string): string {
	return cut.replace(RESET, "").replace(RESET, line.includes("\u001b") ? UNSTYLED : "");
}

/** Matches styles, and words between blanks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
const WORDS = /\u001b\[[\d;]*m|[^\s\u001b]+/g;

/** The maximum length of a word that is broken at separators. Longer words are not paths, and breaking them is slow. */
const MAX_NAME_LENGTH = 4096;

/** Breaks a word that is too wide, such as a path or a key, after its separators. */
function brokenAtNames(word: string, columns: number): string {
	if (word.length <= columns / 2 || word.length > MAX_NAME_LENGTH) return word;
	let done = "";
	let rest = word;
	while (widthOf(rest) > columns) {
		const end = /^.*[/\\:]/.exec(sliceByColumn(rest, 0, columns, true))?.[0];
		if (!end || !rest.startsWith(end)) break;
		done += `${end}\n`;
		rest = rest.slice(end.length);
	}
	return done + rest;
}

/**
 * Wraps styled text. The lines after the first are aligned with the end of `lead`, which is a mark or an indentation.
 */
export function wrap(text: string, width: number, lead = ""): string[] {
	const indent = widthOf(lead);
	const columns = Math.max(1, width - indent);
	const broken = text.length > columns ? text.replace(WORDS, (word) => brokenAtNames(word, columns)) : text;
	const lines = wrapTextWithAnsi(broken, columns);
	const margin = " ".repeat(indent);
	return lines.map((line, index) => (index === 0 ? lead : margin) + line);
}

/** Moves lines to the right; blank ones stay empty. */
export function indented(lines: readonly string[], columns: number): string[] {
	return lines.map((line) => (line === "" ? line : " ".repeat(columns) + line));
}

/** The quotes around a name that could be several words. */
const QUOTE = "`";
const QUOTES = 2;

/** Cuts a path to `width` columns. It is cut before a name, unless that leaves half of the width empty. */
export function fitPath(path: string, width: number): string {
	const columns = widthOf(path);
	if (columns <= width) return path;
	// Without its quotes, part of a name could be read as our own words.
	if (path.startsWith(QUOTE) && path.endsWith(QUOTE) && width > QUOTES) {
		return QUOTE + fitPath(path.slice(QUOTE.length, -QUOTE.length), width - QUOTES) + QUOTE;
	}
	const room = Math.max(0, width - 1);
	const end = sliceByColumn(path, columns - room, room, true);
	const name = end.search(/[/\\]/);
	return ELLIPSIS + (name > room / 2 ? end : end.slice(Math.max(0, name)));
}

/** Cuts a text to its last `width` columns. It is cut before a word, unless that leaves half of the width empty. */
export function fitEnd(text: string, width: number): string {
	const columns = widthOf(text);
	if (columns <= width) return text;
	const end = sliceByColumn(text, columns - width, width, true);
	const blank = end.indexOf(" ");
	if (blank >= 0 && blank <= width / 2) return ELLIPSIS + end.slice(blank + 1);
	const room = Math.max(0, width - 1);
	return ELLIPSIS + sliceByColumn(text, columns - room, room, true);
}
