/** What a model has written: Markdown as pi draws it, and the start or the end of it where there is little room. */

import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui";
import { highlighted } from "./highlight.ts";
import type { Color, Style } from "./style.ts";
import { clip, LINE_CHARACTERS, plainText, wrap } from "./text.ts";

/** A text that grows is cut in such steps, so that its lines do not break elsewhere with every word. */
const STEP = 512;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*(.*)$/;
const HEADING = /^#{1,6}\s+/;
/** Stands where the addon has cut the beginning of a text off. */
const CUT = "…";

/** A text in full. */
export function prose(source: string, width: number, style: Style): string[] {
	const text = plainText(source).trim();
	try {
		const lines = new Markdown(text, 0, 0, markdownTheme(style)).render(Math.max(1, width));
		// A narrow list can come out wider than it may.
		return lines.map((line) => clip(line.trimEnd(), width));
	} catch {
		// What the parser gives up on, such as a thousand nested quotes, can still be read.
		return wrap(text, width);
	}
}

/** The same without its blank lines. */
export function compactProse(source: string, width: number, style: Style): string[] {
	return prose(source, width, style).filter((line) => line !== "");
}

/** The end of a text that grows: its last `limit` lines, blank ones left out. */
export function endOfProse(source: string, width: number, style: Style, limit: number): string[] {
	const start = Math.floor((source.length - (limit + 2) * Math.max(width, 1)) / STEP) * STEP;
	const lineEnd = source.slice(0, start + STEP).indexOf("\n", Math.max(0, start));
	const from = start <= 0 ? 0 : lineEnd < 0 ? start : lineEnd + 1;
	const lines = compactProse(openFence(source, from) + source.slice(from), width, style);
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
function markdownTheme(style: Style): MarkdownTheme {
	const colored = (color: Color) => (text: string) => style.fg(color, text);
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
		bold: (text) => style.emphasis("bold", text),
		italic: (text) => style.emphasis("italic", text),
		underline: (text) => style.emphasis("underline", text),
		strikethrough: (text) => style.emphasis("strikethrough", text),
		highlightCode: (code, language) => highlighted(code, language, style),
	};
}
