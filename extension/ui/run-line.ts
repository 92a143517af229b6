/** A run in one line: columns for what is compared, the rest as far as the terminal reaches. */

import type { BackgroundRun } from "../background/run.ts";
import { doing, elapsed, FEWEST_COLUMNS, markOf, modelOf, nameOf } from "./run-words.ts";
import type { Color, Style } from "./style.ts";
import { brief, cell, clip, widthOf } from "./text.ts";
import { usageWords } from "./words.ts";

const NAME_COLUMNS = 28;
const NAME_SHARE = 3;
const AGENT_COLUMNS = 14;
const MODEL_COLUMNS = 20;
/** `59m59s`. */
const TIME_COLUMNS = 6;
/** `↑12.3k ↓12.3k`. */
const TOKEN_COLUMNS = 13;
/** `$123.45`. */
const COST_COLUMNS = 7;
/** From how many columns on there is room for a part. */
const FROM = { agent: 60, tokens: 84, cost: 100, model: 116 };
const GAP = "  ";

/** The parts before what a run does, and those behind it, by their headings. */
const BEFORE = ["run", "agent", "model", "time"] as const;
const BEHIND = ["tokens", "cost"] as const;
type Part = (typeof BEFORE)[number] | (typeof BEHIND)[number];
/** Parts that are compared by their ends. */
const AT_THE_RIGHT: ReadonlySet<Part> = new Set(["time", "cost"]);

export interface RunColumns {
	width: number;
	/** Columns of the numbers; 0 for a list without. */
	number: number;
	/** How wide the parts are; 0 for those that are left out. */
	sizes: Readonly<Record<Part, number>>;
	/** The names by the keys of the runs, told apart within their column. */
	names: ReadonlyMap<string, string>;
}

/** Columns for these runs. They change with the runs and not with time. Only where runs are numbered costs are compared. */
export function runColumns(runs: readonly BackgroundRun[], width: number, isNumbered: boolean): RunColumns {
	const longest = (texts: readonly string[], most: number) =>
		Math.min(most, Math.max(1, ...texts.map((text) => widthOf(text.slice(0, most)))));
	const names = runs.map(nameOf);
	const name = longest(names, Math.max(FEWEST_COLUMNS, Math.min(NAME_COLUMNS, Math.floor(width / NAME_SHARE))));
	const apart = toldApart(names, name);
	const hasCosts = isNumbered && runs.some(({ usage }) => usage.cost > 0);
	return {
		width,
		number: isNumbered ? String(runs.length).length : 0,
		names: new Map(runs.map(({ key }, index) => [key, apart[index] ?? ""])),
		sizes: {
			run: name,
			agent:
				width < FROM.agent
					? 0
					: longest(
							runs.map(({ agent }) => brief(agent)),
							AGENT_COLUMNS,
						),
			model: width < FROM.model ? 0 : longest(runs.map(modelOf), MODEL_COLUMNS),
			time: TIME_COLUMNS,
			tokens: width < FROM.tokens || !runs.some((run) => tokensOf(run)) ? 0 : TOKEN_COLUMNS,
			cost: width < FROM.cost || !hasCosts ? 0 : COST_COLUMNS,
		},
	};
}

/** Names of which those that begin alike, as far as the column shows them, show the word in which they differ. */
export function toldApart(names: readonly string[], columns: number): string[] {
	const beginning = (name: string) => name.slice(0, columns - 1);
	// Sorted, each stands beside the one that it has most in common with.
	const sorted = [...new Set(names)].sort();
	const apart = new Map<string, string>();
	for (const [index, name] of sorted.entries()) {
		const alike = [sorted[index - 1], sorted[index + 1]].filter(
			(other) => other !== undefined && beginning(other) === beginning(name),
		);
		if (widthOf(name) <= columns || alike.length === 0) continue;
		const shared = Math.max(...alike.map((other = "") => sharedLength(name, other)));
		// It is the beginning of another one.
		if (shared === name.length) continue;
		const word = name.slice(0, shared).search(/[^\s/\\]*$/);
		const end = `…${name.slice(word)}`;
		const room = columns - widthOf(end);
		apart.set(name, room < FEWEST_COLUMNS ? end : name.slice(0, room) + end);
	}
	return names.map((name) => apart.get(name) ?? name);
}

function sharedLength(one: string, other: string): number {
	let length = 0;
	while (length < one.length && one[length] === other[length]) length += 1;
	return length;
}

/** What was read and written, the cache left out. */
function tokensOf({ usage }: BackgroundRun): string {
	return usageWords([{ ...usage, cacheRead: 0, cacheWrite: 0 }]).tokens ?? "";
}

/** How a run stands in its list. */
export interface Place {
	number: number;
	isChosen: boolean;
}

/** The line of a run. */
export function runLine(
	run: BackgroundRun,
	columns: RunColumns,
	style: Style,
	{ now, place, isUnread = false }: { now: number; place?: Place; isUnread?: boolean },
): string {
	const { text, color } = markOf(run);
	const number = place ? style.fg("muted", `${String(place.number).padStart(columns.number)} `) : "";
	const parts: Record<Part, [text: string, color: Color]> = {
		run: [columns.names.get(run.key) ?? nameOf(run), (place?.isChosen ?? true) ? "accent" : "toolOutput"],
		agent: [brief(run.agent), "muted"],
		model: [modelOf(run), "dim"],
		time: [elapsed(run, now), "muted"],
		tokens: [tokensOf(run), "dim"],
		cost: [usageWords([run.usage]).cost ?? "", "dim"],
	};
	const does = (room: number) => doing(run, isUnread, room, style);
	return assembled(columns, `${style.fg(color, text)} ${number}`, (part) => parts[part], does, style);
}

/** The names of the columns. */
export function headingLine(columns: RunColumns, style: Style): string {
	const number = style.fg("dim", `${"#".padStart(columns.number)} `);
	const does = (room: number) => style.fg("dim", cell("doing", room));
	return assembled(columns, `  ${number}`, (part) => [part, "dim"], does, style);
}

/** Parts side by side. Widths are known by column: to measure styled text is what drawing would cost most. */
function assembled(
	{ width, number, sizes }: RunColumns,
	lead: string,
	textOf: (part: Part) => [text: string, color: Color],
	does: (room: number) => string,
	style: Style,
): string {
	const shown = (some: readonly Part[]) => some.filter((part) => sizes[part] > 0);
	const drawn = (part: Part) => {
		const [text, color] = textOf(part);
		return style.fg(color, cell(AT_THE_RIGHT.has(part) ? text.padStart(sizes[part]) : text, sizes[part]));
	};
	const [before, behind] = [shown(BEFORE), shown(BEHIND)];
	const used = [...before, ...behind].reduce((sum, part) => sum + sizes[part] + GAP.length, 0);
	const room = width - 2 - (number > 0 ? number + 1 : 0) - used;
	const middle = room < FEWEST_COLUMNS ? " ".repeat(Math.max(0, room)) : does(room);
	const line = lead + [...before.map(drawn), middle, ...behind.map(drawn)].join(GAP);
	return room < 0 ? clip(line, width) : line;
}
