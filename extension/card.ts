/** The lines of a card. Collapsed it says how the run goes; expanded it shows all that is known of it. */

import type { SingleResult } from "../index.js";
import {
	callLines,
	clipped,
	compactProse,
	figures,
	PREVIEW_CHARACTERS,
	paragraph,
	partLines,
	prose,
	remark,
	SEPARATOR,
	wrapped,
} from "./card-lines.ts";
import { type CardState, elapsedMs, finalResult, silentMs, streaming } from "./card-state.ts";
import { duration } from "./figures.ts";
import type { Color } from "./pi.ts";
import { shortPath } from "./short-forms.ts";
import { clip, type Line, oneLine, plainText, type Span } from "./spans.ts";

const RECENT_CALLS = 3;
const ANSWER_LINES = 6;
const ERROR_LINES = 6;
const PARTIAL_LINES = 3;
const LIVE_TEXT_LINES = 2;
/** Silence shorter than this is no news. */
const SILENCE_SHOWN_MS = 10_000;

/**
 * What an expanded card shows while the run goes on; the rest comes when it is over. It must not be much higher than a
 * terminal: a pi before 1.x clears the screen, and what can be scrolled back to, to redraw a line that is out of sight.
 */
const EXPANDED = { calls: 20, textLines: 8, taskLines: 12 };

export interface CardInput {
	agent: string;
	task: string;
	/** Text of the tool result: the live text, the answer, or what went wrong. */
	text: string;
	expanded: boolean;
	/** How to expand the card, when pi tells. */
	expandKey: string | undefined;
}

interface Mark {
	text: string;
	color: Color;
}

/** First line and task: what was asked of whom. */
export function headLines(input: CardInput, state: CardState, width: number): Line[] {
	const mark = stateMark(state);
	const head: Span[] = [
		{ text: `${mark.text} `, color: mark.color },
		{ text: "subagent ", color: "toolTitle", bold: true },
		{ text: oneLine(input.agent) || "…", color: "accent" },
	];
	if (!clockIsBelow(input, state)) for (const part of clock(state)) head.push(SEPARATOR, part);
	const outcome = outcomeWord(finalResult(state));
	if (outcome) head.push(SEPARATOR, { text: outcome, color: mark.color });
	return [clip(head, width), ...(input.task.trim() === "" ? [] : taskLines(input, state, width))];
}

/** What comes below: the run so far, or its result. */
export function bodyLines(input: CardInput, state: CardState, width: number): Line[] {
	if (state.phase !== "done") return runningLines(input, state, width);
	const result = finalResult(state);
	const error = state.details?.error;
	const failed = state.failed === true || (error !== undefined && error.code !== "SUBAGENT_OUTPUT_TRUNCATED");
	if (!result) return failureLines(error, input.text, undefined, input, width);
	const lines: Line[] = [];
	if (input.expanded) lines.push(...callLines(result.displayItems ?? [], width, Number.POSITIVE_INFINITY, () => true));
	if (failed) lines.push(...failureLines(error, input.text, result, input, width));
	else lines.push(...answerLines(result.output ?? input.text, input, width, ANSWER_LINES));
	if (!failed && error) lines.push(...paragraph(error.message, width, "warning"));
	lines.push(...partLines(figures(result.usage, result.model), width));
	if (input.expanded) lines.push(...whereabouts(result, width));
	return lines;
}

function stateMark(state: CardState): Mark {
	if (state.phase === "pending") return { text: "○", color: "muted" };
	if (state.phase === "running") return { text: "●", color: "accent" };
	const result = finalResult(state);
	const code = state.details?.error?.code;
	if (result?.outcome === "aborted") return { text: "⚠", color: "warning" };
	if (state.failed || (code && code !== "SUBAGENT_OUTPUT_TRUNCATED")) return { text: "✗", color: "error" };
	return code || result?.stopReason === "length" ? { text: "⚠", color: "warning" } : { text: "✓", color: "success" };
}

/** An expanded card can be higher than the terminal; then its clock would tick out of sight (see `EXPANDED`). */
function clockIsBelow(input: CardInput, state: CardState): boolean {
	return input.expanded && state.phase === "running" && streaming(state) !== undefined;
}

function clock(state: CardState): Span[] {
	const elapsed = elapsedMs(state);
	return elapsed === undefined ? [] : [{ text: duration(elapsed, state.phase === "running"), color: "muted" }];
}

function outcomeWord(result: SingleResult | undefined): string | undefined {
	if (!result) return undefined;
	if (result.outcome === "completed") return result.stopReason === "length" ? "cut at the output limit" : undefined;
	if (result.signal) return `killed by ${oneLine(result.signal)}`;
	return oneLine(result.outcome.replace("_", " "));
}

function taskLines(input: CardInput, state: CardState, width: number): Line[] {
	const { task, expanded } = input;
	if (!expanded) return [clipped([{ text: oneLine(task.slice(0, PREVIEW_CHARACTERS)), color: "muted" }], width)];
	const lines = paragraph(task, width, "muted");
	const rest = lines.length - EXPANDED.taskLines;
	if (state.phase === "done" || rest <= 1) return lines;
	return [...lines.slice(0, EXPANDED.taskLines), remark(`${rest} more lines of the task`, width)];
}

function runningLines(input: CardInput, state: CardState, width: number): Line[] {
	const live = streaming(state);
	if (!live) return [];
	const { displayItems } = live;
	// Before the first word there is a placeholder.
	const text = input.text.startsWith("(") && input.text.endsWith("...)") ? "" : input.text.trim();
	// What was said last can be the words before calls that run now; then it stands with them, and not below as news.
	const words = displayItems.findLastIndex((item) => item.type === "text");
	const item = displayItems[words];
	const isOld = displayItems.at(-1)?.type === "toolCall" && item?.type === "text" && item.text.trim() === text;
	const lines = input.expanded
		? callLines(displayItems, width, EXPANDED.calls, (index, from) => index >= from)
		: callLines(displayItems, width, RECENT_CALLS, (index) => isOld && index === words);
	if (!isOld) {
		const limit = input.expanded ? EXPANDED.textLines : LIVE_TEXT_LINES;
		lines.push(...compactProse(text.slice(-PREVIEW_CHARACTERS), width).slice(-limit));
	}
	const parts = figures({ ...live.usage, turns: live.turnCount }, live.model);
	if (clockIsBelow(input, state)) parts.unshift(...clock(state));
	const silent = silentMs(state);
	if (silent > SILENCE_SHOWN_MS) parts.push({ text: `silent for ${duration(silent, true)}`, color: "warning" });
	return [...lines, ...partLines(parts, width)];
}

function answerLines(answer: string, input: CardInput, width: number, limit: number): Line[] {
	if (input.expanded) return [[], ...prose(answer, width), []];
	const source = answer.slice(0, PREVIEW_CHARACTERS);
	const lines = compactProse(source, width);
	const rest = lines.length - limit;
	if (rest <= 1 && source === answer) return lines;
	const more = source === answer ? `${rest} more lines` : "more";
	const how = input.expandKey ? `, ${input.expandKey} to expand` : "";
	return [...lines.slice(0, limit), remark(`${more}${how}`, width)];
}

function failureLines(
	error: { code: string; message: string } | undefined,
	text: string,
	result: SingleResult | undefined,
	input: CardInput,
	width: number,
): Line[] {
	const message = error?.message ?? result?.error ?? text;
	const limit = input.expanded ? Number.POSITIVE_INFINITY : ERROR_LINES;
	// An abort is what the user asked for: no code, no alarm.
	const aborted = result?.outcome === "aborted";
	const lines: Line[] = [];
	if (error && !aborted) lines.push(clipped([{ text: error.code, color: "error", bold: true }], width));
	lines.push(...paragraph(message, width, aborted ? "warning" : "error").slice(0, limit));
	if (result?.output) lines.push(...answerLines(result.output, input, width, PARTIAL_LINES));
	return lines;
}

function whereabouts(result: SingleResult, width: number): Line[] {
	const lines: Line[] = [];
	const say = (label: string, value: string) => {
		const named: Line = [
			{ text: `${label} `, color: "muted" },
			{ text: shortPath(plainText(value)), color: "dim" },
		];
		lines.push(...wrapped(named, width));
	};
	if (result.attempts > 1) say("attempts", String(result.attempts));
	if (result.sessionFile) say("session", result.sessionFile);
	if (result.fullOutputFile) say("full answer", result.fullOutputFile);
	for (const diagnostic of result.diagnostics ?? []) say("note", diagnostic);
	return lines;
}
