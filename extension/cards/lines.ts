/** Lines of spans, for the panel until it draws styled strings. */

import type { Component, Theme } from "../host/pi.ts";
import { markdown } from "../ui/markdown.ts";
import {
	clip,
	fitting,
	type Line,
	lineWidth,
	oneLine,
	paint,
	plainText,
	type Span,
	unstyled,
	wrap,
} from "../ui/spans.ts";
import type { Color } from "../ui/style.ts";
import { textWidth } from "../ui/width.ts";

/** Text looked at for a preview; an answer can be 50 KB and a card shows a few lines of it. */
export const PREVIEW_CHARACTERS = 4_000;
const LIVE_TEXT_STEP = 512;
const CLIPPED_CHARACTERS = 400;
/** Blank lines, and those around code. */
const NOTHING_SAID = /^\s*(?:$|```|~~~)/;
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

export function indented(lines: readonly Line[], columns: number): Line[] {
	return lines.map((line) => (line.length === 0 ? line : [{ text: " ".repeat(columns) }, ...line]));
}

/** The start of what is said, which stays as it is while more is added: its first words, a heading only without any. */
export function answerLine(answer: string): Line {
	const lines = markdown(answer.slice(0, CLIPPED_CHARACTERS)).filter(({ line }) => !NOTHING_SAID.test(unstyled(line)));
	const said = lines.filter(({ heading }) => !heading);
	return (said.length > 0 ? said : lines).flatMap(({ line }, index) => (index === 0 ? line : [{ text: " " }, ...line]));
}

/** Text cut or filled to exactly `columns`. */
export function cell(text: string, columns: number, color: Color): Span {
	const kept = textWidth(text) <= columns ? text : `${fitting(text, columns - 1)}…`;
	return { text: kept + " ".repeat(Math.max(0, columns - textWidth(kept))), color };
}

/** A component that lays out its lines once per width; pi asks for a new one whenever something changed. */
export function component(theme: Theme, layout: (width: number) => readonly Line[]): Component {
	let drawn: { width: number; lines: string[] } | undefined;
	return {
		render(width) {
			if (drawn?.width !== width) drawn = { width, lines: layout(width).map((line) => paint(line, theme)) };
			return drawn.lines;
		},
		invalidate() {
			drawn = undefined;
		},
	};
}

/** The end of a text that grows: its last `limit` lines, blank ones left out. */
export function endOfProse(source: string, width: number, limit: number): Line[] {
	const needed = (limit + 2) * Math.max(width, 1);
	// Cut in steps, so that lines do not break elsewhere with every word that is added.
	const from = Math.max(0, Math.floor((source.length - needed) / LIVE_TEXT_STEP) * LIVE_TEXT_STEP);
	return compactProse(source.slice(from), width).slice(-limit);
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
