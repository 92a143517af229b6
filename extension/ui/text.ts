/** Prepares text for a terminal: makes untrusted text safe, and cuts lines with pi's own width function. */

import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

const ELLIPSIS = "…";
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
	if (widthOf(line) <= width) return line;
	const cut = truncateToWidth(line, width, ELLIPSIS);
	return cut.replace(RESET, "").replace(RESET, line.includes("\u001b") ? UNSTYLED : "");
}
