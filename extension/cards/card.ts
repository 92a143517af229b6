/** The card of one run. Collapsed it says how the run goes; expanded it shows all that is known of it. */

import type { SingleResult } from "../../index.js";
import type { LiveRun } from "../host/details.ts";
import { duration } from "../ui/figures.ts";
import { type Line, oneLine, type Span } from "../ui/spans.ts";
import { expandedRows, shares } from "./height.ts";
import {
	callLines,
	clipped,
	figures,
	headLine,
	PREVIEW_CHARACTERS,
	paragraph,
	partLines,
	remark,
	workLines,
} from "./lines.ts";
import { type Mark, mark, outcomeWords, standingWords, WARNING } from "./marks.ts";
import { ANSWER_LINES, answerLines, type Extent, failureLines, whereabouts } from "./result.ts";
import { SILENCE_ODD_MS } from "./rows.ts";
import { type CardState, elapsedMs, finalResult, silentMs, sinceUpdateMs, streaming } from "./state.ts";
import type { PlannedTask } from "./tasks.ts";

const RECENT_CALLS = 3;
const LIVE_TEXT_LINES = 2;
const TRUNCATED = "SUBAGENT_OUTPUT_TRUNCATED";

export interface CardInput extends PlannedTask, Extent {
	/** Text of the tool result: the live text, the answer, or what went wrong. */
	text: string;
	/** Height of the terminal, when it is known. */
	terminalRows: number | undefined;
}

/** First line and task: what was asked of whom. */
export function headLines(input: CardInput, state: CardState, width: number): Line[] {
	const { text, color } = stateMark(state);
	const what: Span[] = [
		{ text: `${text} `, color },
		{ text: "subagent ", color: "toolTitle", bold: true },
		{ text: oneLine(input.agent) || "…", color: "accent" },
	];
	const words = stateWords(state);
	const short: Span[] = words ? [{ text: words, color }] : [];
	const whole = clockIsBelow(input, state) ? short : [...clock(state), ...short];
	return [headLine(what, whole, short, width), ...(input.task.trim() === "" ? [] : taskLines(input, state, width))];
}

/** What comes below: the run so far, or its result. */
export function bodyLines(input: CardInput, state: CardState, width: number): Line[] {
	if (state.phase !== "done") return runningLines(input, state, width);
	const result = finalResult(state);
	const error = state.details?.error;
	if (!result) return failureLines(error ?? { message: input.text }, undefined, input, width);
	const failed = state.failed === true || (error !== undefined && error.code !== TRUNCATED);
	return [
		...(input.expanded ? callLines(result.displayItems ?? [], width, Number.POSITIVE_INFINITY, () => true) : []),
		...(failed
			? failureLines(error ?? { message: result.error ?? input.text }, result, input, width)
			: answerLines(result.output ?? input.text, input, width, ANSWER_LINES)),
		...(!failed && error ? paragraph(error.message, width, "warning") : []),
		...partLines(figures(result.usage, result.model), width),
		...(input.expanded ? whereabouts(result, width) : []),
	];
}

function stateMark(state: CardState): Mark {
	if (state.phase === "pending") return mark("planned");
	if (state.phase === "running") return mark(streaming(state)?.state ?? "running");
	const result = finalResult(state);
	const code = state.details?.error?.code;
	if (result && result.outcome !== "completed") return mark(result.outcome);
	if (state.failed || (code && code !== TRUNCATED)) return mark("failed");
	return code || result?.stopReason === "length" ? WARNING : mark("completed");
}

function stateWords(state: CardState): string | undefined {
	const result: SingleResult | undefined = finalResult(state);
	if (result) return outcomeWords(result);
	const live = state.phase === "running" ? streaming(state) : undefined;
	if (!live?.state) return undefined;
	const { heldForMs } = live;
	const held = heldForMs === undefined ? {} : { heldForMs: Math.max(0, heldForMs - sinceUpdateMs(state)) };
	return standingWords(live.state, { ...live, ...held });
}

/** An expanded card can be higher than the terminal; then its clock would tick out of sight (see `card-height.ts`). */
function clockIsBelow(input: CardInput, state: CardState): boolean {
	return input.expanded && state.phase === "running" && streaming(state) !== undefined;
}

function clock(state: CardState): Span[] {
	const elapsed = elapsedMs(state);
	return elapsed === undefined ? [] : [{ text: duration(elapsed, state.phase === "running"), color: "muted" }];
}

function taskLines(input: CardInput, state: CardState, width: number): Line[] {
	const { task, expanded } = input;
	if (!expanded) return [clipped([{ text: oneLine(task.slice(0, PREVIEW_CHARACTERS)), color: "muted" }], width)];
	const lines = paragraph(task, width, "muted");
	const limit = shares(expandedRows(input.terminalRows)).task;
	const rest = lines.length - limit;
	if (state.phase === "done" || rest <= 1) return lines;
	return [...lines.slice(0, limit), remark(`${rest} more lines of the task`, width)];
}

function runningLines(input: CardInput, state: CardState, width: number): Line[] {
	const live = streaming(state);
	if (!live) return [];
	// Before the first word there is a placeholder.
	const text = input.text.startsWith("(") && input.text.endsWith("...)") ? "" : input.text;
	const work = workLines(live.displayItems, text, limits(input), width);
	return [...work, ...partLines(liveParts(live, input, state), width)];
}

function limits({ expanded, terminalRows }: CardInput): { calls: number; text: number; withWords: boolean } {
	if (!expanded) return { calls: RECENT_CALLS, text: LIVE_TEXT_LINES, withWords: false };
	return { ...shares(expandedRows(terminalRows)), withWords: true };
}

function liveParts(live: LiveRun, input: CardInput, state: CardState): Span[] {
	const parts = figures({ ...live.usage, turns: live.turnCount }, live.model);
	if (clockIsBelow(input, state)) parts.unshift(...clock(state));
	const silent = live.state === undefined || live.state === "running" ? silentMs(state) : 0;
	if (silent > SILENCE_ODD_MS) parts.push({ text: `silent for ${duration(silent, true)}`, color: "warning" });
	return parts;
}
