/** What a model has written: Markdown as pi draws it, and the start or the end of it where there is little room. */

import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui";
import { highlighted } from "./highlight.ts";
import type { Color, Pen } from "./pen.ts";
import { LINE_CHARACTERS, plainText } from "./text.ts";

/** A text that grows is cut in such steps, so that its lines do not break elsewhere with every word. */
const STEP = 512;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*(.*)$/;
const HEADING = /^#{1,6}\s+/;
/** Stands where the addon has cut the beginning of a text off. */
const CUT = "…";

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

/** The end of a text that grows: its last `limit` lines, blank ones left out. */
export function endOfProse(source: string, limit: number, pen: Pen): string[] {
	const start = Math.floor((source.length - (limit + 2) * Math.max(pen.width, 1)) / STEP) * STEP;
	const lineEnd = source.slice(0, start + STEP).indexOf("\n", Math.max(0, start));
	const from = start <= 0 ? 0 : lineEnd < 0 ? start : lineEnd + 1;
	const lines = compactProse(openFence(source, from) + source.slice(from), pen);
	// Code under way gets no end.
	if (openFence(source, source.length) !== "") lines.pop();
	return lines.slice(-limit);
}

/** The start of what is said, on one line, which stays as it is while more is added: a heading only without other words. */
export function gist(source: string): string {
	const lines = plainText(source.slice(0, LINE_CHARACTERS))
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "" && !FENCE.test(line));
	const said = lines.filter((line) => !HEADING.test(line));
	const text = said.length > 0 ? said.join(" ") : lines.join(" ").replace(HEADING, "");
	return text.replace(/\*\*([^*]+)\*\*|`([^`]+)`/g, "$1$2").replace(/\s+/g, " ");
}

/** The line that opens the code in which a text is at `end`. */
function openFence(source: string, end: number): string {
	let open = source.startsWith(CUT) && beginsInCode(source) ? "```\n" : "";
	for (const line of source.slice(0, end).split("\n")) {
		const [, marks = "", language = ""] = FENCE.exec(line) ?? [];
		if (marks === "") continue;
		if (open === "") open = `${line}\n`;
		else if (language === "" && open.trimStart().startsWith(marks)) open = "";
	}
	return open;
}

/** Whether the first fence of a text whose beginning is missing closes one: it names no language and nothing stands below. */
function beginsInCode(source: string): boolean {
	const lines = source.split("\n");
	const at = lines.findIndex((line) => FENCE.test(line));
	if (at < 0 || FENCE.exec(lines[at] ?? "")?.[2] !== "") return false;
	return lines[at - 1]?.trim() !== "" && (lines[at + 1] ?? "").trim() === "";
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
		highlightCode: (code, language) => highlighted(code, language, pen),
	};
}
