/** Lines of styled text: what cards, messages and the panel are put together from. */

import type { RunUsage } from "../../index.js";
import type { Color, Style } from "./style.ts";
import { clip, oneLine, PREVIEW_CHARACTERS, plainText, widthOf, wrap } from "./text.ts";
import { usageParts } from "./words.ts";

export const SEPARATOR = " · ";

/** Foreign text in one colour. */
export function paragraph(text: string, width: number, style: Style, color: Color): string[] {
	return wrap(style.fg(color, plainText(text).trim()), width);
}

/** The first lines of a foreign text without its line ends; the last one says when there would be more. */
export function startOf(text: string, width: number, style: Style, color: Color, limit: number): string[] {
	const lines = wrap(oneLine(text.slice(0, PREVIEW_CHARACTERS)), width);
	const last = lines[limit - 1];
	const kept = last === undefined || lines.length === limit ? lines : [...lines.slice(0, limit - 1), `${last} …`];
	return kept.map((line) => style.fg(color, clip(line, width)));
}

/** A remark of ours among what others say. */
export function remark(text: string, width: number, style: Style): string {
	return style.fg("dim", clip(`… ${text}`, width));
}

/** At most `limit` lines, and what `more` says of the others: one more line is no longer than saying so. */
export function limited(lines: string[], limit: number, more: (rest: number) => string): string[] {
	const rest = lines.length - limit;
	return rest <= 1 ? lines : [...lines.slice(0, limit), more(rest)];
}

/** Styled parts in a row, those without text left out. */
export function joined(parts: readonly string[], style: Style): string {
	return parts.filter((part) => part !== "").join(style.fg("dim", SEPARATOR));
}

/** The columns that parts take in a row. */
export function joinedWidth(parts: readonly string[]): number {
	const widths = parts.map(widthOf).filter((width) => width > 0);
	return widths.reduce((sum, width) => sum + width, Math.max(0, widths.length - 1) * SEPARATOR.length);
}

/** Turns, tokens, cost and model. */
export function figures(usage: RunUsage | readonly RunUsage[], model: string | undefined, style: Style): string[] {
	return usageParts([usage].flat(), model && oneLine(model)).map((text) => style.fg("dim", text));
}

/** Styled parts side by side, as many to a line as fit. */
export function partLines(parts: readonly string[], width: number, style: Style): string[] {
	const lines: string[][] = [];
	for (const part of parts) {
		if (part === "") continue;
		const last = lines.at(-1);
		if (last && joinedWidth([...last, part]) <= width) last.push(part);
		else lines.push([part]);
	}
	return lines.map((line) => clip(joined(line, style), width));
}
