/** A run in one line: columns for what is compared, the rest as far as the terminal reaches. */

import { isLive } from "../background/run.ts";
import type { BackgroundRun } from "../background/types.ts";
import { isActive, isOver, type Mark, mark, outcomeWords, type ShownState, standingWords } from "../cards/marks.ts";
import type { RunOutcome } from "../host/details.ts";
import { duration, figuresOf } from "./figures.ts";
import { gist } from "./prose.ts";
import type { Color, Style } from "./style.ts";
import { cell, clip, firstLine, fitPath, oneLine, widthOf } from "./text.ts";

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

const ASKS: Mark = { text: "?", color: "warning" };
const FOREGROUND = "foreground";
export const UNREAD = "waiting to be read";

/** How wide the parts are; 0 for those that are left out. */
export interface RunColumns {
	width: number;
	number: number;
	name: number;
	agent: number;
	model: number;
	tokens: number;
	cost: number;
	/** The names by the keys of the runs, told apart within their column. */
	names: ReadonlyMap<string, string>;
}

/** Where a run stands, in the words of the cards. */
export function stateOf({ state, outcome }: BackgroundRun): ShownState {
	// How a run ended that lost its host may not be known.
	return state === "ended" ? ((outcome as RunOutcome | undefined) ?? "interrupted") : state;
}

export function markOf(run: BackgroundRun): Mark {
	if (run.question) return ASKS;
	return mark(isRetried(run) ? "retrying" : stateOf(run));
}

/** What people call it: its label, else the first line of its task. */
export function nameOf({ label, task, agent }: BackgroundRun): string {
	return firstLine((label || task || agent).slice(0, LINE_CHARACTERS)) || "…";
}

/** How long it has run, or ran; while it is queued, how long it waits. */
export function elapsed(run: BackgroundRun, now: number): string {
	const { createdMs, startedMs, endedMs } = run;
	return duration((endedMs ?? now) - (startedMs ?? createdMs), isLive(run));
}

/** How it ended, or what it waits for; nothing for one that works or is done. */
export function wordsOf(run: BackgroundRun): string {
	const state = stateOf(run);
	if (isOver(state)) return outcomeWords({ outcome: state }) ?? "";
	const { position, retry } = run;
	return standingWords(state, { ...(position !== undefined && { position }), ...(retry && { retry }) }) ?? "";
}

function isRetried(run: BackgroundRun): boolean {
	return run.retry !== undefined && isActive(stateOf(run));
}

/** What a run asks, in a line of its own. */
export function questionLine(run: BackgroundRun, width: number, style: Style): string {
	const name = clip(nameOf(run), Math.max(FEWEST_COLUMNS, Math.floor(width / NAME_SHARE)));
	const asks = `${style.fg(ASKS.color, ASKS.text)} ${style.fg("accent", name)}${style.fg("muted", " asks: ")}`;
	return clip(asks + style.fg("toolOutput", titleOf(run)), width);
}

function titleOf({ question }: BackgroundRun): string {
	return oneLine((question?.title ?? "").slice(0, LINE_CHARACTERS));
}

/** What it does, has come to, or has failed of. */
function newsOf(run: BackgroundRun, width: number): { text: string; color: Color } {
	const { error, lastTool, text = "", result = "" } = run;
	if (isRetried(run)) return { text: "", color: "muted" };
	if (run.question) return { text: `asks: ${titleOf(run)}`, color: "warning" };
	if (!isLive(run)) return error ? { text: brief(error), color: "muted" } : { text: gist(result), color: "toolOutput" };
	const said = gist(text);
	// The addon leaves out what was said before the newest call.
	if (said !== "" || !lastTool) return { text: said, color: "toolOutput" };
	return { text: callLine(lastTool, width), color: "toolOutput" };
}

/** A tool call; where it is too long, the path at its end is cut from the left. */
export function callLine(call: string, width: number): string {
	const line = brief(call);
	const [path = ""] = /\S*[/\\]\S*$/.exec(line) ?? [];
	// What a shell runs is no place.
	if (path === "" || line.startsWith("$")) return line;
	const what = line.slice(0, line.length - path.length);
	return what + fitPath(path, Math.max(FEWEST_COLUMNS, width - widthOf(what)));
}

/** Columns for these runs. They change with the runs and not with time. */
export function runColumns(runs: readonly BackgroundRun[], width: number, numbered: boolean): RunColumns {
	const longest = (texts: readonly string[], most: number) =>
		Math.min(most, Math.max(1, ...texts.map((text) => widthOf(text.slice(0, most)))));
	const names = runs.map(nameOf);
	const name = longest(names, Math.max(FEWEST_COLUMNS, Math.min(NAME_COLUMNS, Math.floor(width / NAME_SHARE))));
	const apart = toldApart(names, name);
	return {
		width,
		number: numbered ? String(runs.length).length : 0,
		name,
		names: new Map(runs.map(({ key }, index) => [key, apart[index] ?? ""])),
		agent: width < FROM.agent ? 0 : longest(runs.map(agentOf), AGENT_COLUMNS),
		model: width < FROM.model ? 0 : longest(runs.map(modelOf), MODEL_COLUMNS),
		tokens: width < FROM.tokens || !runs.some((run) => tokensOf(run)) ? 0 : TOKEN_COLUMNS,
		cost: width < FROM.cost || !runs.some(({ usage }) => usage.cost > 0) ? 0 : COST_COLUMNS,
	};
}

/** Names of which those that begin alike, as far as the column shows them, begin at the word in which they differ. */
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
		apart.set(name, `…${name.slice(word)}`);
	}
	return names.map((name) => apart.get(name) ?? name);
}

function sharedLength(one: string, other: string): number {
	let length = 0;
	while (length < one.length && one[length] === other[length]) length += 1;
	return length;
}

function agentOf({ agent }: BackgroundRun): string {
	return brief(agent);
}

/** The model without its provider. */
export function modelOf({ model = "" }: BackgroundRun): string {
	return brief(model.slice(model.indexOf("/") + 1));
}

function brief(text: string): string {
	return oneLine(text.slice(0, LINE_CHARACTERS));
}

/** What was read and written, the cache left out. */
function tokensOf({ usage: { input, output } }: BackgroundRun): string {
	const flow = { input, output, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
	return figuresOf(flow, undefined).tokens ?? "";
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
	const sign = markOf(run);
	const isChosen = place?.isChosen ?? true;
	const name = style.fg(
		isChosen ? "accent" : "toolOutput",
		cell(columns.names.get(run.key) ?? nameOf(run), columns.name),
	);
	const time = style.fg("muted", cell(elapsed(run, now).padStart(TIME_COLUMNS), TIME_COLUMNS));
	const cost = figuresOf(run.usage, undefined).cost ?? "";
	return assembled(columns, {
		lead: `${style.fg(sign.color, sign.text)} ${place ? style.fg("muted", `${place.number}`.padStart(columns.number)) : ""}`,
		name: place?.isChosen ? style.bold(name) : name,
		agent: style.fg("muted", cell(agentOf(run), columns.agent)),
		model: style.fg("dim", cell(modelOf(run), columns.model)),
		time,
		doing: (room) => doing(run, isUnread, room, style),
		tokens: style.fg("dim", cell(tokensOf(run), columns.tokens)),
		cost: style.fg("dim", cell(cost.padStart(columns.cost), columns.cost)),
	});
}

/** The names of the columns. */
export function headingLine(columns: RunColumns, style: Style): string {
	const named = (text: string, width: number) => style.fg("dim", cell(text, width));
	return assembled(columns, {
		lead: `  ${named("#".padStart(columns.number), columns.number)}`,
		name: named("run", columns.name),
		agent: named("agent", columns.agent),
		model: named("model", columns.model),
		time: named("time".padStart(TIME_COLUMNS), TIME_COLUMNS),
		doing: (room) => named("doing", room),
		tokens: named("tokens", columns.tokens),
		cost: named("cost".padStart(columns.cost), columns.cost),
	});
}

type Cells = Record<"lead" | "name" | "agent" | "model" | "time" | "tokens" | "cost", string> & {
	doing(room: number): string;
};

/** Cells side by side. Widths are known by column: to measure styled text is what drawing would cost most. */
function assembled(columns: RunColumns, cells: Cells): string {
	const { width, number, name, agent, model, tokens, cost } = columns;
	const before = [name, agent, model, TIME_COLUMNS].filter((size) => size > 0);
	const after = [tokens, cost].filter((size) => size > 0);
	const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size + GAP.length, 0);
	const room = width - 2 - (number > 0 ? number + 1 : 0) - sum(before) - sum(after);
	const left = [agent > 0 ? cells.agent : "", model > 0 ? cells.model : "", cells.time].filter((part) => part !== "");
	const right = [tokens > 0 ? cells.tokens : "", cost > 0 ? cells.cost : ""].filter((part) => part !== "");
	const shown = room < FEWEST_COLUMNS ? " ".repeat(Math.max(0, room)) : cells.doing(room);
	const head = `${cells.lead}${number > 0 ? " " : ""}${cells.name}`;
	const line = [head, ...left, shown, ...right].join(GAP);
	return room < 0 ? clip(line, width) : line;
}

/** What a run does in exactly `room` columns: words on how it stands, and the news. */
function doing(run: BackgroundRun, isUnread: boolean, room: number, style: Style): string {
	const said = [run.isForeground ? FOREGROUND : "", wordsOf(run), isUnread ? UNREAD : ""].filter((word) => word !== "");
	const words = run.question ? "" : clip(said.join(", "), room);
	const used = widthOf(words);
	const news = newsOf(run, used > 0 ? room - used - GAP.length : room);
	const joint = used > 0 && news.text !== "" ? ": " : "";
	const color = isLive(run) && !isRetried(run) ? "muted" : markOf(run).color;
	return style.fg(color, words) + style.fg(news.color, cell(joint + news.text, room - used));
}
