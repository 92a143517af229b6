/** Draws Markdown from a model, in pi's style. */

import { Markdown, type MarkdownTheme, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { loadedLibrary } from "../host/pi.ts";
import type { Color, Pen } from "./pen.ts";
import { plainText } from "./text.ts";

/**
 * The maximum length of code that is highlighted. Longer code is usually a whole file, and highlighting it would delay
 * the screen.
 */
const MAX_CODE = 30_000;

/** Draws a text in full. */
export function prose(source: string, pen: Pen): string[] {
	const text = plainText(source).trim();
	try {
		const lines = new Markdown(text, 0, 0, markdownTheme(pen)).render(Math.max(1, pen.width));
		// A narrow list can be wider than the pen.
		return lines.map((line) => pen.clip(line.trimEnd()));
	} catch {
		// The parser fails on some inputs, such as a thousand nested quotes. Their source is shown instead.
		return wrapTextWithAnsi(text, Math.max(1, pen.width));
	}
}

/** Returns the same theme that pi uses for its own messages. */
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

/** Returns the highlighted lines of a code block, if this pi can highlight it. */
function highlighted(code: string, language: string | undefined): string[] | undefined {
	try {
		return code.length > MAX_CODE ? undefined : loadedLibrary().highlightCode?.(code, language);
	} catch {
		// The theme may come from another release; the code is shown without colours.
		return undefined;
	}
}
