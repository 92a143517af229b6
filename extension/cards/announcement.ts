/** The message that tells a conversation how its background runs ended, as it is drawn. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Box, Spacer, Text } from "@earendil-works/pi-tui";
import { ANNOUNCEMENT, type AnnouncedRun, announcementIn } from "../background/announcement.ts";
import type { RenderedMessage, RenderOptions } from "../host/pi.ts";
import { contentText } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { keyText } from "../ui/key-text.ts";
import { joinedWidth, type Pen, Style } from "../ui/pen.ts";
import { clip, firstLine, oneLine } from "../ui/text.ts";
import { duration, markOfState, noteOfState } from "../ui/words.ts";
import { type Extent, headLine, INDENT, title } from "./frame.ts";
import { ANSWER_LINES, answerLines, placeLine } from "./result.ts";

const LABEL = "[subagents]";
/** Lines of a result in a collapsed message that announces several, and of one that is not whole. */
const SHORT_ANSWER_LINES = 3;
/** What a name keeps in a narrow terminal. */
const FEWEST_NAME_COLUMNS = 12;

export function registerAnnouncementRenderer(pi: ExtensionAPI): void {
	pi.registerMessageRenderer(ANNOUNCEMENT, (message, options: RenderOptions, theme) => {
		const style = new Style(theme);
		const extent = { expanded: options.expanded, expandKey: keyText("app.tools.expand", options) };
		// As pi draws messages that nobody else draws.
		const box = new Box(options.outputPad ?? 1, 1, (text) => style.bg("customMessageBg", text));
		box.addChild(new Text(style.fg("customMessageLabel", style.bold(LABEL)), 0, 0));
		box.addChild(new Spacer(1));
		box.addChild(component(theme, (pen) => announcementLines(message, extent, pen)));
		return box;
	});
}

/** One block for each run: who, how it ended, what it says. */
export function announcementLines(message: RenderedMessage, extent: Extent, pen: Pen): string[] {
	const runs = announcementIn(message.details)?.runs;
	// What another release has written, or anybody else, is shown as it reads.
	if (!runs || runs.length === 0) return pen.paragraph(contentText(message), "customMessageText");
	const limit = runs.length > 1 ? SHORT_ANSWER_LINES : ANSWER_LINES;
	return runs.flatMap((run, index) => {
		const below = pen.indented(INDENT, (inner) => bodyLines(run, limit, extent, inner));
		return [...(index > 0 ? [""] : []), headOf(run, pen), ...below];
	});
}

function headOf(run: AnnouncedRun, pen: Pen): string {
	const { label, task = "", startedMs, endedMs } = run;
	const state = stateOf(run);
	const mark = markOfState({ state });
	const note = pen.fg(mark.color, noteOfState({ state }));
	const isTimed = startedMs !== undefined && endedMs !== undefined;
	const time = pen.fg("muted", isTimed ? duration(endedMs - startedMs, false) : "");
	const agent = pen.fg("accent", oneLine(run.agent));
	// Where nobody has named the run, it is its task that people know it by.
	const name = oneLine(label ?? "") || firstLine(task) || "subagent";
	const room = Math.max(FEWEST_NAME_COLUMNS, pen.width - joinedWidth(["✓ ", agent, time, note]));
	const named = title(mark, clip(name, room), "", pen);
	return headLine([named, agent, time, note], [named, agent, note], pen);
}

function bodyLines(run: AnnouncedRun, limit: number, extent: Extent, pen: Pen): string[] {
	const { result, partial, error, notes = [], status, outcome, usage, model, transcript } = run;
	const isSuccess = status === "success";
	const color = markOfState({ state: stateOf(run) }).color === "error" ? "error" : "warning";
	const answer = () => {
		if (result) return answerLines(result, extent, limit, pen);
		if (isSuccess) return [pen.fg("dim", "… no answer")];
		return partial ? answerLines(partial, extent, SHORT_ANSWER_LINES, pen) : [];
	};
	const resume = `\`/subagents resume ${oneLine(run.runId)}\` continues it`;
	const lines = [
		...(error && !isSuccess ? pen.paragraph(error, color).slice(0, ANSWER_LINES) : []),
		...answer(),
		...(outcome === "interrupted" ? [pen.fg("muted", pen.clip(resume))] : []),
	];
	const spent = pen.rows(pen.figures(usage, model));
	if (!extent.expanded) return [...lines, ...spent];
	const said = notes.flatMap((note) => pen.paragraph(note, "muted"));
	const places = [pen.line(run.sessionKey, "dim"), ...(transcript ? [placeLine("session", transcript, pen)] : [])];
	return [...lines, ...said, ...spent, ...places];
}

/** How it ended, as the words of states know it. */
function stateOf({ status, outcome }: AnnouncedRun): string {
	if (status === "success") return "completed";
	if (outcome) return outcome;
	if (status === "timeout") return "hard_timeout";
	return status === "error" ? "failed" : (status ?? "ended");
}
