/** Draws Markdown from a model, in pi's style. */

import { Markdown, type MarkdownTheme, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { Prose } from "../../index.js";
import { loadedLibrary } from "../host/library.ts";
import type { Color, Pen } from "./pen.ts";
import { plainText } from "./text.ts";

/**
 * The maximum length of code that is highlighted. Longer code is usually a whole file, and highlighting it would delay
 * the screen.
 */
const MAX_CODE = 30_000;

/** The place of a number in a note on omitted lines. */
const REST = "{rest}";

/** Draws the Markdown of a drawing. */
export function proseBlock({ text, indent, first, last, more, isOpen }: Prose, pen: Pen): string[] {
	return pen.indented(indent, (inner) => {
		if (first === undefined && last === undefined) return prose(text, inner);
		const lines = compactProse(text, inner);
		// The code block is still growing: drop the closing fence that is not in the text.
		if (isOpen) lines.pop();
		if (last !== undefined) return lines.slice(-last);
		if (more === undefined) return lines.slice(0, first);
		const rest = lines.length - (first ?? 0);
		return rest <= 1 ? lines : [...lines.slice(0, first), inner.clip(more.replace(REST, `${rest}`))];
	});
}

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

/** Draws a text without its blank lines. */
export function compactProse(source: string, pen: Pen): string[] {
	return prose(source, pen).filter((line) => line !== "");
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
