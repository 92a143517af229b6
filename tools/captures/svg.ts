/** Draws rows of a terminal as an SVG. Text stays text, so that it can be read aloud, searched and copied. */

import type { Cell, Row, Style } from "./terminal.ts";

export interface Paper {
	/** The terminal's default colours. */
	color: string;
	ground: string;
	columns: number;
	/** The picture's alternative text. */
	title: string;
}

/** The size of one character, in pixels. In most monospace fonts a character is 0.6 times as wide as high. */
const CELL = { width: 8.4, height: 18, font: 14, baseline: 13.5 };
const MARGIN = 12;
const FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

const PRINTABLE_ASCII = /^[ -~]+$/;

/** Returns the SVG, with a final line break. */
export function svg(rows: readonly Row[], paper: Paper): string {
	const width = number(paper.columns * CELL.width + 2 * MARGIN);
	const height = number(rows.length * CELL.height + 2 * MARGIN);
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
		`<title>${escaped(paper.title)}</title>`,
		`<rect width="100%" height="100%" rx="6" fill="${paper.ground}"/>`,
		...grounds(rows),
		`<g font-family="${FONTS}" font-size="${CELL.font}" fill="${paper.color}" xml:space="preserve">`,
		...rows.flatMap((row, index) => runs(row).map((run) => text(run, index))),
		"</g>",
		"</svg>",
		"",
	].join("\n");
}

interface Run {
	/** The first cell, which has the style of all cells. */
	style: Cell;
	text: string;
	column: number;
	columns: number;
}

/**
 * Joins neighbouring cells of the same style into one text. A character outside ASCII is a text of its own, because the
 * reader's fonts may draw it wider or narrower than the terminal. Repetitions of one such character, for example in a
 * rule, stay together, because they have the same width.
 */
function runs(row: Row): Run[] {
	const found: Run[] = [];
	for (const cell of row) {
		const last = found.at(-1);
		const fits = last && (PRINTABLE_ASCII.test(last.text + cell.text) || last.style.text === cell.text);
		const joins = last && fits && sameInk(last.style, cell);
		if (joins && last.column + last.columns === cell.column) {
			last.text += cell.text;
			last.columns += cell.width;
		} else {
			found.push({ style: cell, text: cell.text, column: cell.column, columns: cell.width });
		}
	}
	return found.map(trimmed).filter((run) => run.text !== "");
}

/** Removes the blanks at the ends of a run, where nothing is drawn. */
function trimmed(run: Run): Run {
	const start = run.text.length - run.text.trimStart().length;
	const text = run.text.trim();
	return { ...run, text, column: run.column + start, columns: run.columns - (run.text.length - text.length) };
}

function sameInk(one: Style, other: Style): boolean {
	return (["color", "bold", "dim", "italic", "underline"] as const).every((part) => one[part] === other[part]);
}

function text({ style, text, column, columns }: Run, row: number): string {
	const attributes = [
		`x="${number(MARGIN + column * CELL.width)}"`,
		`y="${number(MARGIN + row * CELL.height + CELL.baseline)}"`,
		`textLength="${number(columns * CELL.width)}"`,
		'lengthAdjust="spacingAndGlyphs"',
		...(style.color ? [`fill="${style.color}"`] : []),
		...(style.bold ? ['font-weight="bold"'] : []),
		...(style.italic ? ['font-style="italic"'] : []),
		...(style.underline ? ['text-decoration="underline"'] : []),
		...(style.dim ? ['opacity="0.6"'] : []),
	];
	return `<text ${attributes.join(" ")}>${escaped(text)}</text>`;
}

interface Ground {
	color: string;
	row: number;
	rows: number;
	column: number;
	columns: number;
}

/** Returns the coloured areas behind the text. Adjacent ones are joined, so that no seams show. */
function grounds(rows: readonly Row[]): string[] {
	const found: Ground[] = [];
	for (const [row, cells] of rows.entries()) {
		for (const piece of pieces(cells)) {
			const above = found.find(
				(ground) =>
					ground.row + ground.rows === row &&
					(["color", "column", "columns"] as const).every((part) => ground[part] === piece[part]),
			);
			if (above) above.rows += 1;
			else found.push({ ...piece, row, rows: 1 });
		}
	}
	return found.map(({ color, row, rows, column, columns }) => {
		const place = `x="${number(MARGIN + column * CELL.width)}" y="${number(MARGIN + row * CELL.height)}"`;
		const size = `width="${number(columns * CELL.width)}" height="${number(rows * CELL.height)}"`;
		return `<rect ${place} ${size} fill="${color}"/>`;
	});
}

function pieces(cells: readonly Cell[]): Pick<Ground, "color" | "column" | "columns">[] {
	const found: Pick<Ground, "color" | "column" | "columns">[] = [];
	for (const { ground, column, width } of cells) {
		if (!ground) continue;
		const last = found.at(-1);
		if (last?.color === ground && last.column + last.columns === column) last.columns += width;
		else found.push({ color: ground, column, columns: width });
	}
	return found;
}

function number(value: number): string {
	return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
