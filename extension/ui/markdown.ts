/** A light reading form of Markdown: the text stays as it is written, headings, code and emphasis get a style. */

import { type Line, plainText, type Span } from "./spans.ts";

export interface Block {
	line: Line;
	/** Columns by which continuation lines are indented. */
	hang: number;
	/** Drawn as it is and clipped, never wrapped. */
	verbatim: boolean;
	heading?: true;
}

const FENCE = /^\s*(```+|~~~+)/;
const HEADING = /^#{1,6}\s+/;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/;
const QUOTE = /^\s*>\s?/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const INLINE = /`([^`\n]{1,400})`|\*\*([^*\n]{1,400})\*\*/g;

/** Turns Markdown into lines to lay out. */
export function markdown(source: string): Block[] {
	const blocks: Block[] = [];
	let fence: string | undefined;
	for (const text of plainText(source).trim().split("\n")) {
		const mark = FENCE.exec(text)?.[1];
		if (fence !== undefined) {
			if (mark?.startsWith(fence)) fence = undefined;
			blocks.push({ line: [{ text, color: "dim" }], hang: 0, verbatim: true });
		} else if (mark) {
			fence = mark;
			blocks.push({ line: [{ text, color: "dim" }], hang: 0, verbatim: true });
		} else {
			blocks.push(prose(text));
		}
	}
	return blocks;
}

function prose(text: string): Block {
	const heading = HEADING.exec(text)?.[0];
	if (heading) {
		const line: Line = [{ text: text.slice(heading.length), color: "accent", bold: true }];
		return { line, hang: 0, verbatim: false, heading: true };
	}
	if (TABLE_ROW.test(text)) return { line: [{ text, color: "toolOutput" }], hang: 0, verbatim: true };
	const quote = QUOTE.exec(text)?.[0];
	if (quote) return { line: [{ text, color: "muted" }], hang: quote.length, verbatim: false };
	const item = LIST_ITEM.exec(text)?.[0];
	return { line: inline(text), hang: item?.length ?? /^\s*/.exec(text)?.[0].length ?? 0, verbatim: false };
}

function inline(text: string): Line {
	const spans: Span[] = [];
	let from = 0;
	const plain = (to: number) => {
		if (to > from) spans.push({ text: text.slice(from, to), color: "toolOutput" });
	};
	for (const match of text.matchAll(INLINE)) {
		plain(match.index);
		const [whole, code, strong] = match;
		spans.push(
			code === undefined ? { text: strong ?? "", color: "toolOutput", bold: true } : { text: code, color: "accent" },
		);
		from = match.index + whole.length;
	}
	plain(text.length);
	return spans;
}
