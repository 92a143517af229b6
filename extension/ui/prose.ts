/** What a model has written: Markdown as pi draws it. */

import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui";
import { loadedLibrary } from "../host/library.ts";
import type { Color, Pen } from "./pen.ts";
import { plainText } from "./text.ts";

/** Longer code is drawn in one colour: it is a file, and somebody waits for the screen. */
const MOST_CODE = 30_000;

/** A text in full. */
export function prose(source: string, pen: Pen): string[] {
	const text = plainText(source).trim();
	try {
		const lines = new Markdown(text, 0, 0, markdownTheme(pen)).render(Math.max(1, pen.width));
		// A narrow list can come out wider than it may.
		return lines.map((line) => pen.clip(line.trimEnd()));
	} catch {
		// What the parser gives up on, such as a thousand nested quotes, can still be read.
		return pen.wrap(text);
	}
}

/** The same without its blank lines. */
export function compactProse(source: string, pen: Pen): string[] {
	return prose(source, pen).filter((line) => line !== "");
}

/** As pi makes it for its own messages. */
function markdownTheme(pen: Pen): MarkdownTheme {
	const colored = (color: Color) => (text: string) => pen.fg(color, text);
	return {
		heading: colored("mdHeading"),
		link: colored("mdLink"),
		linkUrl: colored("mdLinkUrl"),
		code: colored("mdCode"),
		codeBlock: colored("mdCodeBlock"),
		codeBlockBorder: colored("mdCodeBlockBorder"),
		quote: colored("mdQuote"),
		quoteBorder: colored("mdQuoteBorder"),
		hr: colored("mdHr"),
		listBullet: colored("mdListBullet"),
		bold: (text) => pen.emphasis("bold", text),
		italic: (text) => pen.emphasis("italic", text),
		underline: (text) => pen.emphasis("underline", text),
		strikethrough: (text) => pen.emphasis("strikethrough", text),
		highlightCode: (code, language) => highlighted(code, language) ?? code.split("\n").map(colored("mdCodeBlock")),
	};
}

/** The lines of a block of code, if this pi has colours for it. */
function highlighted(code: string, language: string | undefined): string[] | undefined {
	try {
		return code.length > MOST_CODE ? undefined : loadedLibrary().highlightCode?.(code, language);
	} catch {
		// A theme of another release: the code can still be read.
		return undefined;
	}
}
