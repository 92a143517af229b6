/** A background run in one line: columns for what is compared, the rest as far as the terminal reaches. */

import type { BackgroundRun } from "../background/types.ts";
import { isOver, type Mark, mark, outcomeWords, type ShownState, standingWords } from "../cards/marks.ts";
import { answerLine, cell } from "../cards/rows.ts";
import type { RunOutcome } from "../host/details.ts";
import { duration, figuresOf } from "./figures.ts";
import { clip, type Line, lineWidth, oneLine, type Span } from "./spans.ts";
import { textWidth } from "./width.ts";

/** Longest text looked at for one line. */
const LINE_CHARACTERS = 400;
const NAME_COLUMNS = 28;
const NAME_SHARE = 3;
const AGENT_COLUMNS = 14;
const MODEL_COLUMNS = 20;
/** `59m59s`. */
const TIME_COLUMNS = 6;
/** `↑1.2k ↓1.2k`. */
const TOKEN_COLUMNS = 12;
/** `$12.345`. */
const COST_COLUMNS = 7;
/** Fewer columns than this say nothing. */
const FEWEST_COLUMNS = 6;
/** From how many columns on there is room for a part. */
const FROM = { agent: 60, tokens: 84, cost: 100, model: 116 };
const GAP = "  ";

/** How wide the parts are; 0 for those that are left out. */
export interface RunColumns {
	width: number;
	number: number;
	name: number;
	agent: number;
	model: number;
	tokens: number;
	cost: number;
}

/** Where a run stands, in the words of the cards. */
export function stateOf({ state, outcome }: BackgroundRun): ShownState {
	// How a run ended that lost its host may not be known.
	return state === "ended" ? ((outcome as RunOutcome | undefined) ?? "interrupted") : state;
}

export function isLive({ state }: BackgroundRun): boolean {
	return state !== "ended";
}

export function markOf(run: BackgroundRun): Mark {
	return mark(stateOf(run));
}

/** What people call it: its label, else the start of its task. */
export function nameOf({ label, task, agent }: BackgroundRun): string {
	return oneLine((label || task || agent).slice(0, LINE_CHARACTERS)) || "…";
}

/** How long it has run, or ran; while it is queued, how long it waits. */
export function elapsedMs({ createdMs, startedMs, endedMs }: BackgroundRun, now: number): number {
	return Math.max(0, (endedMs ?? now) - (startedMs ?? createdMs));
}

export function elapsed(run: BackgroundRun, now: number): string {
	return duration(elapsedMs(run, now), isLive(run));
}

/** How it ended, or what it waits for; nothing for one that works or is done. */
export function wordsOf(run: BackgroundRun): Span[] {
	const state = stateOf(run);
	const words = isOver(state) ? outcomeWords({ outcome: state }) : standingWords(state, standing(run));
	return words === undefined ? [] : [{ text: words, color: isOver(state) ? mark(state).color : "muted" }];
}

function standing({ position }: BackgroundRun): { position?: number } {
	return position === undefined ? {} : { position };
}

/** What it does, has come to, or has failed of. */
function activityOf(run: BackgroundRun): Line {
	const { error, lastTool, text, result } = run;
	if (!isLive(run)) {
		if (error) return [{ text: oneLine(error.slice(0, LINE_CHARACTERS)), color: "muted" }];
		return answerLine(result ?? "");
	}
	if (lastTool) return [{ text: oneLine(lastTool.slice(0, LINE_CHARACTERS)), color: "toolOutput" }];
	return answerLine(text ?? "");
}

/** Columns for these runs. They change with the runs and not with time. */
export function runColumns(runs: readonly BackgroundRun[], width: number, numbered: boolean): RunColumns {
	const longest = (texts: readonly string[], most: number) =>
		Math.min(
			most,
			texts.reduce((columns, text) => Math.max(columns, textWidth(text.slice(0, most))), 1),
		);
	const share = Math.max(FEWEST_COLUMNS, Math.min(NAME_COLUMNS, Math.floor(width / NAME_SHARE)));
	return {
		width,
		number: numbered ? String(runs.length).length : 0,
		name: longest(runs.map(nameOf), share),
		agent: width < FROM.agent ? 0 : longest(runs.map(agentOf), AGENT_COLUMNS),
		model: width < FROM.model ? 0 : longest(runs.map(modelOf), MODEL_COLUMNS),
		tokens: width < FROM.tokens || !runs.some((run) => tokensOf(run)) ? 0 : TOKEN_COLUMNS,
		cost: width < FROM.cost || !runs.some(({ usage }) => usage.cost > 0) ? 0 : COST_COLUMNS,
	};
}

function agentOf({ agent }: BackgroundRun): string {
	return oneLine(agent.slice(0, LINE_CHARACTERS));
}

/** The model without its provider. */
export function modelOf({ model = "" }: BackgroundRun): string {
	return oneLine(model.slice(model.indexOf("/") + 1).slice(0, LINE_CHARACTERS));
}

/** What was read and written, the cache left out. */
function tokensOf(run: BackgroundRun): string {
	const { input, output } = run.usage;
	const flow = { input, output, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
	return figuresOf(flow, undefined).tokens ?? "";
}

/** The line of a run. `lead` stands before it. */
export function runLine(
	run: BackgroundRun,
	lead: Line,
	number: number,
	columns: RunColumns,
	now: number,
	isChosen = true,
): Line {
	const { text, color } = markOf(run);
	const row: Span[] = [...lead, { text: `${text} `, color }];
	const numbered = columns.number > 0;
	if (numbered) row.push({ text: `${String(number).padStart(columns.number)} `, color: "muted" });
	const name = cell(nameOf(run), columns.name, isChosen ? "accent" : "toolOutput");
	row.push(numbered && isChosen ? { ...name, bold: true } : name);
	if (columns.agent > 0) row.push({ text: GAP }, cell(agentOf(run), columns.agent, "muted"));
	if (columns.model > 0) row.push({ text: GAP }, cell(modelOf(run), columns.model, "dim"));
	row.push({ text: GAP + elapsed(run, now).padStart(TIME_COLUMNS), color: "muted" });
	const figures: Span[] = [];
	const cost = figuresOf(run.usage, undefined).cost ?? "";
	if (columns.tokens > 0) figures.push({ text: GAP }, cell(tokensOf(run), columns.tokens, "dim"));
	if (columns.cost > 0) figures.push({ text: GAP + cost.padStart(columns.cost), color: "dim" });
	const room = columns.width - lineWidth(row) - lineWidth(figures) - GAP.length;
	const does = room < FEWEST_COLUMNS ? [] : clip(joined(wordsOf(run), activityOf(run)), room);
	const filled = figures.length > 0 ? " ".repeat(Math.max(0, room - lineWidth(does))) : "";
	return clip([...row, { text: GAP }, ...does, { text: filled }, ...figures], columns.width);
}

/** The names of the columns. */
export function headingLine(lead: Line, columns: RunColumns): Line {
	const name = (text: string, width: number): Span => cell(text, width, "dim");
	const row: Span[] = [...lead, { text: "  " }];
	if (columns.number > 0) row.push(name("#".padStart(columns.number), columns.number), { text: " " });
	row.push(name("run", columns.name));
	if (columns.agent > 0) row.push({ text: GAP }, name("agent", columns.agent));
	if (columns.model > 0) row.push({ text: GAP }, name("model", columns.model));
	row.push({ text: `${GAP}${"time".padStart(TIME_COLUMNS)}`, color: "dim" });
	const figures: Span[] = [];
	if (columns.tokens > 0) figures.push({ text: GAP }, name("tokens", columns.tokens));
	if (columns.cost > 0) figures.push({ text: GAP + "cost".padStart(columns.cost), color: "dim" });
	const room = Math.max(0, columns.width - lineWidth(row) - lineWidth(figures) - GAP.length);
	return clip([...row, { text: GAP }, cell("doing", room, "dim"), ...figures], columns.width);
}

function joined(words: readonly Span[], rest: Line): Line {
	if (words.length === 0 || rest.length === 0) return [...words, ...rest];
	return [...words, { text: ": ", color: "dim" }, ...rest];
}
