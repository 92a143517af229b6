/** The lines of a card. Collapsed it says how the run goes; expanded it shows all that is known of it. */

import type { DisplayItem, RunUsage, SingleResult } from "../index.js";
import { type CardState, elapsedMs, finalResult, silentMs, streaming } from "./card-state.ts";
import { duration, usageParts } from "./figures.ts";
import { markdown } from "./markdown.ts";
import type { Color } from "./pi.ts";
import { shortForm, shortPath } from "./short-forms.ts";
import { clip, type Line, lineWidth, oneLine, plainText, type Span, wrap } from "./spans.ts";

const RECENT_CALLS = 3;
const ANSWER_LINES = 6;
const ERROR_LINES = 6;
const PARTIAL_LINES = 3;
/** Lines of live text in an expanded card. */
const LIVE_LINES = 8;
/** Silence shorter than this is no news. */
const SILENCE_SHOWN_MS = 10_000;
/** Text looked at for a preview; an answer can be 50 KB and a card shows a few lines of it. */
const PREVIEW_CHARACTERS = 4_000;
const INDENT = 2;
const SEPARATOR: Span = { text: " · ", color: "dim" };

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
	const elapsed = elapsedMs(state);
	if (elapsed !== undefined)
		head.push(SEPARATOR, { text: duration(elapsed, state.phase === "running"), color: "muted" });
	const outcome = outcomeWord(finalResult(state));
	if (outcome) head.push(SEPARATOR, { text: outcome, color: mark.color });
	const task = input.expanded
		? paragraph(input.task, width, "muted")
		: [clip(indented([{ text: oneLine(input.task.slice(0, PREVIEW_CHARACTERS)), color: "muted" }]), width)];
	return [clip(head, width), ...(input.task.trim() === "" ? [] : task)];
}

/** What comes below: the run so far, or its result. */
export function bodyLines(input: CardInput, state: CardState, width: number): Line[] {
	if (state.phase !== "done") return runningLines(input, state, width);
	const result = finalResult(state);
	const error = state.details?.error;
	const failed = state.failed === true || (error !== undefined && error.code !== "SUBAGENT_OUTPUT_TRUNCATED");
	if (!result) return failureLines(error, input.text, undefined, input, width);
	const lines: Line[] = [];
	if (input.expanded) lines.push(...itemLines(result.displayItems ?? [], width, Number.POSITIVE_INFINITY));
	if (failed) lines.push(...failureLines(error, input.text, result, input, width));
	else lines.push(...answerLines(result.output ?? input.text, input, width, ANSWER_LINES));
	if (!failed && error) lines.push(...paragraph(error.message, width, "warning"));
	lines.push(...usageLines(result.usage, result.model, [], width));
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

function outcomeWord(result: SingleResult | undefined): string | undefined {
	if (!result) return undefined;
	if (result.outcome === "completed") return result.stopReason === "length" ? "cut at the output limit" : undefined;
	if (result.signal) return `killed by ${oneLine(result.signal)}`;
	return oneLine(result.outcome.replace("_", " "));
}

function runningLines(input: CardInput, state: CardState, width: number): Line[] {
	const live = streaming(state);
	if (!live) return [];
	const lines = itemLines(live.displayItems, width, input.expanded ? Number.POSITIVE_INFINITY : RECENT_CALLS);
	// The live text stands in for text items; before the first word it is a placeholder.
	const text = input.text.startsWith("(") && input.text.endsWith("...)") ? "" : input.text;
	const shown = plainText(text.slice(-PREVIEW_CHARACTERS))
		.trim()
		.split("\n")
		.slice(input.expanded ? -LIVE_LINES : -1);
	for (const part of shown) {
		if (part.trim() !== "") lines.push(clip(indented([{ text: part.trim(), color: "toolOutput" }]), width));
	}
	const extra: Span[] = [];
	const silent = silentMs(state);
	if (silent > SILENCE_SHOWN_MS) extra.push({ text: `silent for ${duration(silent, true)}`, color: "warning" });
	const usage = { ...live.usage, turns: live.turnCount };
	return [...lines, ...usageLines(usage, live.model, extra, width)];
}

/** Tool calls in pi's short forms; collapsed the last few, expanded every one, with the words between them. */
function itemLines(items: readonly DisplayItem[], width: number, limit: number): Line[] {
	const all = limit === Number.POSITIVE_INFINITY;
	const calls = items.filter((item) => item.type === "toolCall");
	const hidden = Math.max(0, calls.length - limit);
	const shown: readonly DisplayItem[] = all ? items.slice(0, lastCall(items) + 1) : calls.slice(hidden);
	const lines: Line[] = [];
	if (hidden > 0) {
		const count = hidden === 1 ? "1 earlier call" : `${hidden} earlier calls`;
		lines.push(clip(indented([{ text: `… ${count}`, color: "dim" }]), width));
	}
	for (const item of shown) {
		const line: Line =
			item.type === "toolCall"
				? shortForm(item.name, item.args)
				: [{ text: oneLine(item.text.slice(0, PREVIEW_CHARACTERS)), color: "dim" }];
		lines.push(clip(indented(line), width));
	}
	return lines;
}

/** Text after the last call is the answer, which stands below on its own. */
function lastCall(items: readonly DisplayItem[]): number {
	return items.findLastIndex((item) => item.type === "toolCall");
}

function answerLines(answer: string, input: CardInput, width: number, limit: number): Line[] {
	const source = input.expanded ? answer : answer.slice(0, PREVIEW_CHARACTERS);
	const lines = markdown(source).flatMap(({ line, hang, verbatim }) =>
		verbatim ? [clip(indented(line), width)] : wrap(line, width - INDENT, hang).map(indented),
	);
	if (input.expanded) return [[], ...lines, []];
	const compact = lines.filter((line) => lineWidth(line) > INDENT);
	const rest = compact.length - limit;
	if (rest <= 1 && source === answer) return compact;
	const more = source === answer ? `${rest} more lines` : "more";
	const how = input.expandKey ? `, ${input.expandKey} to expand` : "";
	return [...compact.slice(0, limit), clip(indented([{ text: `… ${more}${how}`, color: "dim" }]), width)];
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
	if (error && !aborted) lines.push(clip(indented([{ text: error.code, color: "error", bold: true }]), width));
	lines.push(...paragraph(message, width, aborted ? "warning" : "error").slice(0, limit));
	if (result?.output) lines.push(...answerLines(result.output, input, width, PARTIAL_LINES));
	return lines;
}

function usageLines(usage: RunUsage, model: string | undefined, extra: readonly Span[], width: number): Line[] {
	const parts: Span[] = [
		...usageParts(usage, model && oneLine(model)).map((text): Span => ({ text, color: "dim" })),
		...extra,
	];
	const lines: Span[][] = [];
	for (const part of parts) {
		const last = lines.at(-1);
		const room = width - INDENT - (last ? lineWidth(last) : 0);
		if (last && lineWidth([SEPARATOR, part]) <= room) last.push(SEPARATOR, part);
		else lines.push([part]);
	}
	return lines.map((line) => clip(indented(line), width));
}

function whereabouts(result: SingleResult, width: number): Line[] {
	const lines: Line[] = [];
	const say = (label: string, value: string) => {
		lines.push(
			...wrap(
				[
					{ text: `${label} `, color: "muted" },
					{ text: shortPath(plainText(value)), color: "dim" },
				],
				width - INDENT,
			).map(indented),
		);
	};
	if (result.attempts > 1) say("attempts", String(result.attempts));
	if (result.sessionFile) say("session", result.sessionFile);
	if (result.fullOutputFile) say("full answer", result.fullOutputFile);
	for (const diagnostic of result.diagnostics ?? []) say("note", diagnostic);
	return lines;
}

function paragraph(text: string, width: number, color: Color): Line[] {
	return plainText(text)
		.trim()
		.split("\n")
		.flatMap((line) => wrap([{ text: line, color }], width - INDENT).map(indented));
}

function indented(line: Line): Line {
	return [{ text: " ".repeat(INDENT) }, ...line];
}
