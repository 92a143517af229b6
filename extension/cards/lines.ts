/** What the lines of a card are made of. */

import type { DisplayItem, RunUsage } from "../../index.js";
import { usageParts } from "../ui/figures.ts";
import { markdown } from "../ui/markdown.ts";
import { clip, type Line, lineWidth, oneLine, plainText, type Span, wrap } from "../ui/spans.ts";
import type { Color } from "../ui/style.ts";
import { shortForm } from "../ui/tool-calls.ts";

/** Text looked at for a preview; an answer can be 50 KB and a card shows a few lines of it. */
export const PREVIEW_CHARACTERS = 4_000;
const LIVE_TEXT_STEP = 512;
const INDENT = 2;
const MARGIN: Span = { text: " ".repeat(INDENT) };
export const SEPARATOR: Span = { text: " · ", color: "dim" };

/** One indented line, cut where the terminal ends. */
export function clipped(line: Line, width: number): Line {
	return clip([MARGIN, ...line], width);
}

/** A remark of the card itself. */
export function remark(text: string, width: number): Line {
	return clipped([{ text: `… ${text}`, color: "dim" }], width);
}

/** A first line. Without room for `whole` it has the `short` parts, which are cut where the terminal ends. */
export function headLine(what: Line, whole: readonly Span[], short: readonly Span[], width: number): Line {
	const line = (parts: readonly Span[]) => [...what, ...parts.flatMap((part) => [SEPARATOR, part])];
	return lineWidth(line(whole)) <= width ? line(whole) : clip(line(short), width);
}

/** Text in one colour. */
export function paragraph(text: string, width: number, color: Color): Line[] {
	const lines = plainText(text).trim().split("\n");
	return lines.flatMap((line) => wrapped([{ text: line, color }], width));
}

/** The first lines of a text without line ends; the last one says when there would be more. */
export function startOf(text: string, width: number, color: Color, limit: number): Line[] {
	const lines = wrapped([{ text: oneLine(text.slice(0, PREVIEW_CHARACTERS)), color }], width);
	const last = lines[limit - 1];
	if (!last || lines.length === limit) return lines;
	return [...lines.slice(0, limit - 1), clip([...last, { text: " …", color: "dim" }], width)];
}

export function wrapped(line: Line, width: number, hang = 0): Line[] {
	return wrap(line, width - INDENT, hang).map((part) => [MARGIN, ...part]);
}

/** Markdown. */
export function prose(source: string, width: number): Line[] {
	return markdown(source).flatMap(({ line, hang, verbatim }) =>
		verbatim ? [clipped(line, width)] : wrapped(line, width, hang),
	);
}

/** The same without its blank lines. */
export function compactProse(source: string, width: number): Line[] {
	return prose(source, width).filter((line) => lineWidth(line) > INDENT);
}

/** The end of a text that grows: its last `limit` lines, blank ones left out. */
export function endOfProse(source: string, width: number, limit: number): Line[] {
	const needed = (limit + 2) * Math.max(width, 1);
	// Cut in steps, so that lines do not break elsewhere with every word that is added.
	const from = Math.max(0, Math.floor((source.length - needed) / LIVE_TEXT_STEP) * LIVE_TEXT_STEP);
	return compactProse(source.slice(from), width).slice(-limit);
}

/** The last `limit` calls in pi's short forms, with the words among them that `isShown` wants. */
export function callLines(
	items: readonly DisplayItem[],
	width: number,
	limit: number,
	isShown: (words: number, from: number) => boolean,
): Line[] {
	const calls = items.flatMap((item, index) => (item.type === "toolCall" ? [index] : []));
	const hidden = Math.max(0, calls.length - limit);
	// After the last hidden call: with the words that led to the first one shown.
	const from = hidden === 0 ? 0 : (calls[hidden - 1] ?? 0) + 1;
	// Text after the last call is the answer, which stands below on its own.
	const upToLastCall = items.slice(0, (calls.at(-1) ?? -1) + 1);
	const shown = upToLastCall.filter((item, index) => (item.type === "toolCall" ? index >= from : isShown(index, from)));
	const lines = shown.map((item) => itemLine(item, width));
	if (hidden === 0) return lines;
	return [remark(hidden === 1 ? "1 earlier call" : `${hidden} earlier calls`, width), ...lines];
}

/** A run's newest calls, and the end of what it says. `withWords`: each call with what was said before it. */
export function workLines(
	items: readonly DisplayItem[],
	said: string,
	{ calls, text, withWords }: { calls: number; text: number; withWords: boolean },
	width: number,
): Line[] {
	const news = newsOf(items, said);
	const words = news === "" ? items.findLastIndex((item) => item.type === "text") : -1;
	const isShown = (index: number, from: number) => (withWords ? index >= from : index === words);
	const lines = calls < 1 ? [] : callLines(items, width, calls, isShown);
	return [...lines, ...endOfProse(news, width, text)];
}

/** What a run says now; nothing while calls are made that its last words have led to. */
export function newsOf(items: readonly DisplayItem[], said: string): string {
	const words = items.findLast((item) => item.type === "text");
	const isOld = items.at(-1)?.type === "toolCall" && words?.type === "text" && words.text.trim() === said.trim();
	return isOld ? "" : said.trim();
}

function itemLine(item: DisplayItem, width: number): Line {
	if (item.type === "toolCall") return clipped(shortForm(item.name, item.args), width);
	return clipped([{ text: oneLine(item.text.slice(0, PREVIEW_CHARACTERS)), color: "dim" }], width);
}

/** Turns, tokens, cost and model. */
export function figures(usage: RunUsage, model: string | undefined): Span[] {
	return usageParts(usage, model && oneLine(model)).map((text): Span => ({ text, color: "dim" }));
}

/** Parts side by side, as many to a line as fit. */
export function partLines(parts: readonly Span[], width: number): Line[] {
	const lines: Span[][] = [];
	for (const part of parts) {
		const last = lines.at(-1);
		const room = width - INDENT - (last ? lineWidth(last) : 0);
		if (last && lineWidth([SEPARATOR, part]) <= room) last.push(SEPARATOR, part);
		else lines.push([part]);
	}
	return lines.map((line) => clipped(line, width));
}

export function indented(lines: readonly Line[], columns: number): Line[] {
	return lines.map((line) => (line.length === 0 ? line : [{ text: " ".repeat(columns) }, ...line]));
}
