/**
 * Paints drawings of the addon. The addon decides the content and order of a row; this module measures the columns. It
 * adds no text.
 */

import type { Cell, Fit, Part, Row, Span } from "../../index.js";
import { type Color, joinedWidth, limited, type Pen } from "./pen.ts";
import { compactProse, prose } from "./prose.ts";
import { cell, ELLIPSIS, fitEnd, fitPath, MIN_COLUMNS, widthOf } from "./text.ts";

/** The minimum width of a path next to text that is too long, and next to other paths. */
const MIN_PATH_COLUMNS = 6;
const PATH_COLUMNS = 24;
/** The maximum width of the label column, in columns and as a share of the width. Longer labels do not widen it. */
const LABEL_COLUMNS = 28;
const LABEL_SHARE = 3;
/** The space between columns. */
const GAP = "  ";
/** The indentation of a part that moved below its line. */
const BELOW_INDENT = 6;

/** The widths of a drawing's columns, by their position in a line, and of the labels before its texts. */
interface Columns {
	cells: number[];
	trailing: number[];
	label: number;
}

type Of<Kind> = Extract<Fit, { kind: Kind }>;

/** Returns the lines of a drawing. */
export function paint(drawing: readonly Row[], pen: Pen): string[] {
	return drawing.flatMap(painter(drawing, pen));
}

/** Returns a function that paints single rows, for a drawing that is only partly visible. */
export function painter(drawing: readonly Row[], pen: Pen): (row: Row) => string[] {
	const columns = columnsOf(drawing, pen);
	return ({ indent, fit }) => pen.indented(indent, (inner) => fitted(fit, columns, inner));
}

function fitted(fit: Fit, columns: Columns, pen: Pen): string[] {
	switch (fit.kind) {
		case "line":
			return line(fit, columns, pen);
		case "parts":
			return pen.rows(fit.parts.map((spans) => styled(spans, pen))).slice(0, fit.maxRows);
		case "text":
			return text(fit, columns, pen);
		case "prose":
			return written(fit, pen);
		case "paths":
			return [paths(fit, pen)];
	}
}

function styled(spans: readonly Span[], pen: Pen): string {
	return spans.map((span) => styledSpan(span, pen)).join("");
}

function styledSpan({ text, color, isBold, action }: Span, pen: Pen): string {
	const key = action && pen.keyText(action);
	const replaced = key === undefined ? text : key === "" ? "" : text.replace("{key}", () => key);
	const weighted = isBold ? pen.bold(replaced) : replaced;
	return color ? pen.fg(color as Color, weighted) : weighted;
}

/** Fits spans into the pen's width. A path, or a text that keeps its end, loses its beginning before any other text is cut. */
function cut(spans: readonly Span[], pen: Pen): string {
	const shortened = spans.find(({ isPath, keepsEnd }) => isPath || keepsEnd);
	if (!shortened) return pen.clip(styled(spans, pen));
	const otherColumns = widthOf(styled(spans.toSpliced(spans.indexOf(shortened), 1), pen));
	const columns = Math.max(MIN_PATH_COLUMNS, pen.width - otherColumns);
	const text = shortened.isPath ? fitPath(shortened.text, columns) : fitEnd(shortened.text, columns);
	return pen.clip(styled(spans.with(spans.indexOf(shortened), { ...shortened, text }), pen));
}

function line({ lead, cells, parts, trailing }: Of<"line">, columns: Columns, pen: Pen): string[] {
	const start = styled(lead, pen);
	if (cells.length + trailing.length === 0 && start === "") return withBelow(parts, pen.width, (inner) => inner, pen);
	const before = drawnCells(cells, columns.cells, pen);
	const after = drawnCells(trailing, columns.trailing, pen);
	const used = [...before, ...after].reduce((sum, { width }) => sum + width + GAP.length, widthOf(start));
	const room = pen.width - used;
	const whole = (middle: string) => {
		// The columns after the parts begin at the same position in each line.
		const padded = after.length > 0 && room >= MIN_COLUMNS ? cell(middle, room) : middle;
		const drawn = [...before.map(({ text }) => text), padded, ...after.map(({ text }) => text)];
		const all = start + drawn.filter((part) => part !== "").join(GAP);
		return (room < 0 ? pen.clip(all) : all).trimEnd();
	};
	return withBelow(parts, room, whole, pen);
}

function drawnCells(cells: readonly Cell[], widths: readonly number[], pen: Pen): { text: string; width: number }[] {
	return cells.flatMap(({ span, from = 0, isRight, sharedPrefix }, index) => {
		const width = widths[index] ?? 0;
		if (pen.width < from || width <= 0) return [];
		const own =
			sharedPrefix && sharedPrefix.shared >= width - 1 ? distinguished(span.text, sharedPrefix.end, width) : span.text;
		const text = isRight ? own.padStart(width) : own;
		return [{ text: styledSpan({ ...span, text: cell(text, width) }, pen), width }];
	});
}

/** Shortens a text but keeps its end, which distinguishes it from other texts. */
function distinguished(text: string, end: string, width: number): string {
	if (widthOf(text) <= width) return text;
	const room = width - widthOf(end);
	return room < MIN_COLUMNS ? end : text.slice(0, room) + end;
}

/** Returns a line with these parts, and below it the part that does not fit. */
function withBelow(all: readonly Part[], room: number, whole: (parts: string) => string, pen: Pen): string[] {
	const parts = all.filter(({ from = 0, until }) => pen.width >= from && (until === undefined || pen.width < until));
	const inner = pen.resized(room);
	const drawn = fittingParts(parts, inner);
	const isWhole = (part: Part) => drawn[parts.indexOf(part)] === styled(part.spans, pen);
	const hidden = all.find((part) => part.below !== undefined && !isWhole(part));
	if (!hidden) return [whole(inner.clip(pen.joined(drawn)))];
	const rest = fittingParts(
		parts.filter((part) => part !== hidden),
		inner,
	);
	const below = pen.indented(BELOW_INDENT, (narrow) => wrapped(hidden.spans, hidden.below, "", narrow));
	return [whole(inner.clip(pen.joined(rest))), ...below];
}

/** Returns the parts that fit: one may be cut, others are left out by rank. The rest can still be too wide together. */
function fittingParts(parts: readonly Part[], pen: Pen): string[] {
	const drawn = parts.map(({ spans }) => styled(spans, pen));
	const widths = drawn.map(widthOf);
	if (joinedWidth(drawn) <= pen.width) return drawn;
	const cuttable = parts.findIndex(({ minColumns }) => minColumns !== undefined);
	const columnsOfPart = (index: number) => {
		const width = widths[index] ?? 0;
		return index === cuttable ? Math.min(width, parts[index]?.minColumns ?? 0) : width;
	};
	const room = () => {
		const shown = [...drawn.keys()].filter((index) => columnsOfPart(index) > 0 && drawn[index] !== "");
		return pen.width - joinedWidth(shown.map((index) => " ".repeat(columnsOfPart(index))));
	};
	const ranked = parts.map(({ rank }, index) => ({ rank, index })).filter(({ rank }) => rank > 0);
	for (const { index } of ranked.toSorted((one, other) => other.rank - one.rank)) {
		if (room() >= 0) break;
		drawn[index] = "";
	}
	const part = parts[cuttable];
	if (part) {
		const remaining = room() + columnsOfPart(cuttable);
		const fits = remaining >= Math.min(MIN_COLUMNS, widths[cuttable] ?? 0);
		drawn[cuttable] = fits ? cut(part.spans, pen.resized(remaining)) : "";
	}
	// A single part may lose the beginning of its path.
	return parts.length === 1 && !part ? [cut(parts[0]?.spans ?? [], pen)] : drawn;
}

function text({ lead, label, spans, maxRows, more }: Of<"text">, columns: Columns, pen: Pen): string[] {
	const start = styled(lead, pen);
	if (!label) return wrapped(spans, maxRows, start, pen, more);
	const columnsOfLabel = widthOf(label.text);
	const head = styledSpan(label, pen) + " ".repeat(Math.max(0, columns.label - columnsOfLabel) + GAP.length);
	// If the label fits its column, wrapped lines are aligned with the text; otherwise with the label.
	if (columnsOfLabel <= columns.label) return wrapped(spans, maxRows, start + head, pen, more);
	return pen.wrap(head + styled(spans, pen), start);
}

function wrapped(
	spans: readonly Span[],
	maxRows: number | undefined,
	lead: string,
	pen: Pen,
	more: readonly Span[] = [],
) {
	const styledText = styled(spans, pen);
	if (styledText === "") return lead.trim() === "" ? [] : [pen.clip(lead)];
	const lines = pen.wrap(styledText, lead);
	if (maxRows === undefined || lines.length <= maxRows) return lines;
	if (more.length > 0) return limited(lines, maxRows, (rest) => moreNote(more, rest, pen));
	return [
		...lines.slice(0, maxRows - 1),
		pen.clip(`${lines[maxRows - 1]} ${pen.fg(spans[0]?.color as Color, ELLIPSIS)}`),
	];
}

function moreNote(more: readonly Span[], rest: number, pen: Pen): string {
	const counted = more.map((span) => ({ ...span, text: span.text.replace("{rest}", String(rest)) }));
	return pen.clip(styled(counted, pen));
}

function written({ text: source, first, last, more, isOpen }: Of<"prose">, pen: Pen): string[] {
	if (source === "") return [];
	if (first === undefined && last === undefined) return prose(source, pen);
	const lines = compactProse(source, pen);
	// The code block is still growing: drop the closing fence that is not in the text.
	if (isOpen) lines.pop();
	if (last !== undefined) return lines.slice(-last);
	return more.length > 0 ? limited(lines, first ?? 0, (rest) => moreNote(more, rest, pen)) : lines.slice(0, first);
}

function paths({ lead, paths: all }: Of<"paths">, pen: Pen): string {
	const start = styled(lead, pen);
	const room = pen.width - widthOf(start);
	const count = Math.max(1, Math.min(all.length, Math.floor(room / PATH_COLUMNS)));
	const more = count < all.length ? ` +${all.length - count}` : "";
	const columns = Math.floor((room - more.length - 2 * (count - 1)) / count);
	const shown = all.slice(0, count).map((path) => pen.fg("accent", fitPath(path, columns)));
	return pen.clip(start + shown.join(pen.fg("dim", ", ")) + pen.fg("dim", more));
}

function columnsOf(drawing: readonly Row[], pen: Pen): Columns {
	const columns: Columns = { cells: [], trailing: [], label: 0 };
	const widest = Math.min(LABEL_COLUMNS, pen.width / LABEL_SHARE);
	for (const { fit } of drawing) {
		if (fit.kind === "text" && fit.label) {
			const width = widthOf(fit.label.text);
			if (width <= widest) columns.label = Math.max(columns.label, width);
		}
		if (fit.kind !== "line") continue;
		for (const field of ["cells", "trailing"] as const) {
			fit[field].forEach((one, index) => {
				columns[field][index] = Math.max(columns[field][index] ?? 0, cellWidth(one, pen.width));
			});
		}
	}
	return columns;
}

function cellWidth({ span, maxColumns, share, isGrowing }: Cell, width: number): number {
	if (isGrowing) return 1;
	const limit =
		share === undefined ? maxColumns : Math.min(maxColumns, Math.max(MIN_COLUMNS, Math.floor(width / share)));
	return Math.min(limit, widthOf(span.text.slice(0, maxColumns)));
}
