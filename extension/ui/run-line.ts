/** A run in one line: columns for what is compared, the rest as far as the terminal reaches. */

import type { BackgroundRun } from "../background/run.ts";
import { columnLine, FEWEST_COLUMNS, longest } from "./columns.ts";
import type { Color, Pen } from "./pen.ts";
import { doing, elapsed, markOf, modelOf, nameOf } from "./run-words.ts";
import { brief, cell, widthOf } from "./text.ts";
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

/** The parts before what a run does, and those behind it, by their headings. */
const BEFORE = ["run", "agent", "model", "time"] as const;
const BEHIND = ["tokens", "cost"] as const;
type Part = (typeof BEFORE)[number] | (typeof BEHIND)[number];

/** How a run stands in its list; numbered lists have a chosen one. */
interface Standing {
	now: number;
	place?: { number: number; isChosen: boolean };
	isUnread?: boolean;
}

/**
 * Lays out columns for these runs, and returns what draws their lines. They change with the runs and not with time. Only
 * where runs are numbered costs are compared.
 */
export function runLines(runs: readonly BackgroundRun[], isNumbered: boolean, pen: Pen) {
	const { width } = pen;
	const names = runs.map(nameOf);
	const mostName = Math.max(FEWEST_COLUMNS, Math.min(NAME_COLUMNS, Math.floor(width / NAME_SHARE)));
	const nameColumns = longest(names, mostName);
	const apart = toldApart(names, nameColumns);
	const nameByKey = new Map(runs.map(({ key }, index) => [key, apart[index] ?? ""]));
	const agents = runs.map(({ agent }) => brief(agent));
	const hasTokens = width >= FROM.tokens && runs.some((run) => tokensOf(run) !== "");
	const hasCosts = width >= FROM.cost && isNumbered && runs.some(({ usage }) => usage.cost > 0);
	const widths: Readonly<Record<Part, number>> = {
		run: nameColumns,
		agent: width < FROM.agent ? 0 : longest(agents, AGENT_COLUMNS),
		model: width < FROM.model ? 0 : longest(runs.map(modelOf), MODEL_COLUMNS),
		time: TIME_COLUMNS,
		tokens: hasTokens ? TOKEN_COLUMNS : 0,
		cost: hasCosts ? COST_COLUMNS : 0,
	};
	const numberColumns = String(runs.length).length;
	const numbered = (number: unknown) => (isNumbered ? `${String(number).padStart(numberColumns)} ` : "");
	const line = (lead: string, textOf: (part: Part) => [string, Color], does: (inner: Pen) => string) => {
		const column = (part: Part) => {
			const [text, color] = textOf(part);
			return { text, color, width: widths[part], isRight: part === "time" || part === "cost" };
		};
		const middle = (inner: Pen) => (inner.width < FEWEST_COLUMNS ? "" : does(inner));
		return columnLine(lead, [...BEFORE.map(column), middle, ...BEHIND.map(column)], pen);
	};
	return {
		/** The names of the columns. */
		heading: line(
			pen.fg("dim", `  ${numbered("#")}`),
			(part) => [part, "dim"],
			(inner) => pen.fg("dim", cell("doing", inner.width)),
		),
		lineOf(run: BackgroundRun, { now, place, isUnread = false }: Standing): string {
			const { text, color } = markOf(run);
			const parts: Record<Part, [text: string, color: Color]> = {
				run: [nameByKey.get(run.key) ?? nameOf(run), (place?.isChosen ?? true) ? "accent" : "toolOutput"],
				agent: [brief(run.agent), "muted"],
				model: [modelOf(run), "dim"],
				time: [elapsed(run, now), "muted"],
				tokens: [tokensOf(run), "dim"],
				cost: [usageWords([run.usage]).cost ?? "", "dim"],
			};
			const lead = `${pen.fg(color, text)} ${pen.fg("muted", numbered(place?.number))}`;
			return line(
				lead,
				(part) => parts[part],
				(inner) => doing(run, isUnread, inner),
			);
		},
	};
}

/** What was read and written, the cache left out. */
function tokensOf({ usage }: BackgroundRun): string {
	return usageWords([{ ...usage, cacheRead: 0, cacheWrite: 0 }]).tokens ?? "";
}

/** Names of which those that begin alike, as far as the column shows them, show the word in which they differ. */
function toldApart(names: readonly string[], columns: number): string[] {
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
