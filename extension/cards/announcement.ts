/** The message that tells a conversation how its background runs ended, as it is drawn. */

import { ANNOUNCEMENT, type AnnouncedRun, announcementIn } from "../background/announcement.ts";
import type { RunOutcome } from "../host/details.ts";
import type { PiApi, RenderedMessage } from "../host/pi.ts";
import { duration } from "../ui/figures.ts";
import { type Line, oneLine, type Span } from "../ui/spans.ts";
import { shortPath } from "../ui/tool-calls.ts";
import { clipped, figures, headLine, indented, paragraph, partLines, remark } from "./lines.ts";
import { type Mark, mark, outcomeWords, type ShownState, WARNING } from "./marks.ts";
import { component } from "./render.ts";
import { ANSWER_LINES, answerLines, type Extent } from "./result.ts";

/** Lines of a result in a collapsed message that announces several, and of one that is not whole. */
const SHORT_ANSWER_LINES = 3;

export function registerAnnouncementRenderer(pi: PiApi): void {
	pi.registerMessageRenderer(ANNOUNCEMENT, (message, { expanded, keyText }, theme) => {
		const extent = { expanded, expandKey: keyText?.("app.tools.expand") };
		// One column in from the left, like pi's own messages.
		return component(theme, (width) => indented(announcementLines(message, extent, width - 1), 1));
	});
}

/** One block for each run: who, how it ended, what it says. */
export function announcementLines(message: RenderedMessage, extent: Extent, width: number): Line[] {
	const runs = announcementIn(message.details)?.runs;
	// What another release has written, or anybody else, is shown as it reads.
	if (!runs || runs.length === 0) return paragraph(textOf(message), width, "toolOutput");
	return runs.flatMap((run, index) => [...(index > 0 ? [[]] : []), ...runLines(run, runs.length, extent, width)]);
}

function textOf({ content }: RenderedMessage): string {
	return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}

function runLines(run: AnnouncedRun, count: number, extent: Extent, width: number): Line[] {
	const { text, color } = markOf(run);
	const label = run.label ? oneLine(run.label) : "";
	const what: Span[] = [
		{ text: `${text} `, color },
		{ text: label || "subagent", color: "toolTitle", bold: true },
		{ text: label ? " · " : " ", color: "dim" },
		{ text: oneLine(run.agent), color: "accent" },
	];
	const words = wordsOf(run);
	const short: Span[] = words ? [{ text: words, color }] : [];
	const lines: Line[] = [headLine(what, [...clockOf(run), ...short], short, width)];
	if (run.error && run.status !== "success") {
		lines.push(...paragraph(run.error, width, color === "error" ? "error" : "warning").slice(0, ANSWER_LINES));
	}
	if (run.result) lines.push(...answerLines(run.result, extent, width, count > 1 ? SHORT_ANSWER_LINES : ANSWER_LINES));
	else if (run.status === "success") lines.push(remark("no answer", width));
	else if (run.partial) lines.push(...answerLines(run.partial, extent, width, SHORT_ANSWER_LINES));
	for (const note of extent.expanded ? (run.notes ?? []) : []) lines.push(...paragraph(note, width, "muted"));
	lines.push(...partLines(figures(run.usage, run.model), width));
	return extent.expanded ? [...lines, ...places(run, width)] : lines;
}

function markOf({ status, outcome }: AnnouncedRun): Mark {
	if (status === "success") return mark("completed");
	if (outcome) return mark(outcome as ShownState);
	return status === "unknown" ? WARNING : mark("failed");
}

/** How it ended, unless it simply did what it should. */
function wordsOf({ status, outcome }: AnnouncedRun): string | undefined {
	if (status === "success") return undefined;
	return (outcome && outcomeWords({ outcome: outcome as RunOutcome })) ?? oneLine(status ?? "ended");
}

function clockOf({ startedMs, endedMs }: AnnouncedRun): Span[] {
	if (startedMs === undefined || endedMs === undefined) return [];
	return [{ text: duration(endedMs - startedMs, false), color: "muted" }];
}

function places({ sessionKey, transcript }: AnnouncedRun, width: number): Line[] {
	const key = clipped([{ text: oneLine(sessionKey), color: "dim" }], width);
	return transcript ? [key, clipped([{ text: shortPath(oneLine(transcript)), color: "dim" }], width)] : [key];
}
