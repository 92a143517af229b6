/** Parses the output of `tmux capture-pane -e`: text with colours, without cursor movements. */

import { visibleWidth } from "@earendil-works/pi-tui";

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A cell's style. Colours are `#rrggbb`; without one, the terminal's default applies. */
export interface Style {
	color?: string;
	ground?: string;
	bold?: boolean;
	dim?: boolean;
	italic?: boolean;
	underline?: boolean;
}

/** One character at its position in the terminal. */
export interface Cell extends Style {
	text: string;
	column: number;
	/** The width in columns. */
	width: number;
}

/** The cells of one row, from left to right. */
export type Row = readonly Cell[];

const ESCAPE = "\u001b";
/** Matches colour sequences (SGR), links (OSC 8), and any other sequence that ends with a letter. */
const SEQUENCE = new RegExp(
	`${ESCAPE}\\[([\\d;:]*)m|${ESCAPE}\\]8;[^\u0007${ESCAPE}]*(?:\u0007|${ESCAPE}\\\\)|${ESCAPE}\\[[\\d;?]*[A-Za-z]`,
	"g",
);

/** The first sixteen colours, as in xterm. */
const NAMED = [
	...["#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"],
	...["#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"],
];

/** Returns the rows of a screen. A colour applies until it is changed, also across lines. */
export function readScreen(screen: string): Row[] {
	let style: Style = {};
	return screen.split("\n").map((line) => {
		const cells: Cell[] = [];
		let column = 0;
		let from = 0;
		const put = (text: string) => {
			for (const { segment } of characters.segment(text)) {
				const width = visibleWidth(segment);
				cells.push({ ...style, text: segment, column, width });
				column += width;
			}
		};
		for (const match of line.matchAll(SEQUENCE)) {
			put(line.slice(from, match.index));
			from = match.index + match[0].length;
			if (match[1] !== undefined) style = restyled(style, match[1]);
		}
		put(line.slice(from));
		return cells;
	});
}

export function rowText(row: Row): string {
	return row.map(({ text }) => text).join("");
}

/** Returns the same cells with other characters. A character in place of a blank takes the style of a neighbour. */
export function withText(row: Row, text: string): Row {
	if (text.length !== rowText(row).length) throw new Error(`the text has another length than the row: ${text}`);
	let from = 0;
	return row.map((cell, index): Cell => {
		from += cell.text.length;
		const now = text.slice(from - cell.text.length, from);
		const wasBlank = cell.text === " " && now !== " ";
		const ink = wasBlank ? [row[index - 1], row[index + 1]].find((other) => other && other.text !== " ") : undefined;
		return { ...cell, ...ink, column: cell.column, text: now };
	});
}

function restyled(before: Style, parameters: string): Style {
	const codes = parameters.split(/[;:]/).map(Number);
	let style = { ...before };
	while (codes.length > 0) {
		const code = codes.shift() ?? 0;
		if (code === 0) style = {};
		else if (code === 38) set(style, "color", extended(codes));
		else if (code === 48) set(style, "ground", extended(codes));
		else if (code === 39) delete style.color;
		else if (code === 49) delete style.ground;
		else if (code === 22) {
			delete style.bold;
			delete style.dim;
		} else if (code === 23) delete style.italic;
		else if (code === 24) delete style.underline;
		else if (code === 1) style.bold = true;
		else if (code === 2) style.dim = true;
		else if (code === 3) style.italic = true;
		else if (code === 4) style.underline = true;
		else if (code >= 30 && code <= 37) set(style, "color", NAMED[code - 30]);
		else if (code >= 90 && code <= 97) set(style, "color", NAMED[code - 82]);
		else if (code >= 40 && code <= 47) set(style, "ground", NAMED[code - 40]);
		else if (code >= 100 && code <= 107) set(style, "ground", NAMED[code - 92]);
	}
	return style;
}

function set(style: Style, part: "color" | "ground", color: string | undefined): void {
	if (color) style[part] = color;
}

/** Returns the colour after code 38 or 48: `2;r;g;b` or `5;n`. */
function extended(codes: number[]): string | undefined {
	const kind = codes.shift();
	if (kind === 2) return hex(codes.splice(0, 3));
	const index = codes.shift() ?? 0;
	if (index < 16) return NAMED[index];
	if (index > 231) return hex(Array(3).fill(8 + 10 * (index - 232)));
	const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
	const cube = index - 16;
	return hex([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

function hex(parts: readonly number[]): string {
	return `#${parts.map((part) => Math.min(255, part).toString(16).padStart(2, "0")).join("")}`;
}
