/** The message that tells a conversation how its background runs ended, as it is drawn. */

import { Box, Spacer, Text } from "@earendil-works/pi-tui";
import { ANNOUNCEMENT, type AnnouncedRun, announcementIn } from "../background/announcement.ts";
import type { PiApi, RenderedMessage, RenderOptions } from "../host/pi.ts";
import { contentText } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { keyText } from "../ui/key-text.ts";
import { figures, joinedWidth, paragraph, partLines } from "../ui/lines.ts";
import { Style } from "../ui/style.ts";
import { clip, firstLine, indented, oneLine } from "../ui/text.ts";
import { duration, markOfState, noteOfState } from "../ui/words.ts";
import { type Extent, headLine, INDENT, title } from "./frame.ts";
import { ANSWER_LINES, answerLines, placeLine } from "./result.ts";

const LABEL = "[subagents]";
/** Lines of a result in a collapsed message that announces several, and of one that is not whole. */
const SHORT_ANSWER_LINES = 3;
/** What a name keeps in a narrow terminal. */
const FEWEST_NAME_COLUMNS = 12;

export function registerAnnouncementRenderer(pi: PiApi): void {
	pi.registerMessageRenderer(ANNOUNCEMENT, (message, options: RenderOptions, theme) => {
		const style = new Style(theme);
		const extent = { expanded: options.expanded, expandKey: keyText("app.tools.expand", options) };
		// As pi draws messages that nobody else draws.
		const box = new Box(options.outputPad ?? 1, 1, (text) => style.bg("customMessageBg", text));
		box.addChild(new Text(style.fg("customMessageLabel", style.bold(LABEL)), 0, 0));
		box.addChild(new Spacer(1));
		box.addChild(component(theme, (width) => announcementLines(message, extent, width, style)));
		return box;
	});
}

/** One block for each run: who, how it ended, what it says. */
export function announcementLines(message: RenderedMessage, extent: Extent, width: number, style: Style): string[] {
	const runs = announcementIn(message.details)?.runs;
	// What another release has written, or anybody else, is shown as it reads.
	if (!runs || runs.length === 0) return paragraph(contentText(message), width, style, "customMessageText");
	const limit = runs.length > 1 ? SHORT_ANSWER_LINES : ANSWER_LINES;
	return runs.flatMap((run, index) => {
		const below = indented(bodyLines(run, limit, extent, width - INDENT, style), INDENT);
		return [...(index > 0 ? [""] : []), headOf(run, width, style), ...below];
	});
}

function headOf(run: AnnouncedRun, width: number, style: Style): string {
	const state = stateOf(run);
	const its = markOfState({ state });
	const words = style.fg(its.color, noteOfState({ state }) ?? "");
	// Where nobody has named the run, it is its task that people know it by.
	const name = oneLine(run.label ?? "") || firstLine(run.task ?? "") || "subagent";
	const agent = style.fg("accent", oneLine(run.agent));
	const parts = [agent, style.fg("muted", clockOf(run)), words];
	const room = Math.max(FEWEST_NAME_COLUMNS, width - joinedWidth(["✓ ", ...parts]));
	const named = title(its, clip(name, room), "", style);
	return headLine([named, ...parts], [named, agent, words], width, style);
}

function bodyLines(run: AnnouncedRun, limit: number, extent: Extent, width: number, style: Style): string[] {
	const { result, partial, error, notes = [], status, outcome, usage, model, runId } = run;
	const color = markOfState({ state: stateOf(run) }).color === "error" ? "error" : "warning";
	const answer = () => {
		if (result) return answerLines(result, extent, width, style, limit);
		if (status === "success") return [style.fg("dim", "… no answer")];
		return partial ? answerLines(partial, extent, width, style, SHORT_ANSWER_LINES) : [];
	};
	const resume = `\`/subagents resume ${oneLine(runId)}\` continues it`;
	return [
		...(error && status !== "success" ? paragraph(error, width, style, color).slice(0, ANSWER_LINES) : []),
		...answer(),
		...(outcome === "interrupted" ? [style.fg("muted", clip(resume, width))] : []),
		...(extent.expanded ? notes.flatMap((note) => paragraph(note, width, style, "muted")) : []),
		...partLines(figures(usage, model, style), width, style),
		...(extent.expanded ? places(run, width, style) : []),
	];
}

/** How it ended, as the words of states know it. */
function stateOf({ status, outcome }: AnnouncedRun): string {
	if (status === "success") return "completed";
	if (outcome) return outcome;
	if (status === "timeout") return "hard_timeout";
	return status === "error" ? "failed" : (status ?? "ended");
}

function clockOf({ startedMs, endedMs }: AnnouncedRun): string {
	return startedMs === undefined || endedMs === undefined ? "" : duration(endedMs - startedMs, false);
}

function places({ sessionKey, transcript }: AnnouncedRun, width: number, style: Style): string[] {
	const key = style.fg("dim", clip(oneLine(sessionKey), width));
	return transcript ? [key, placeLine("session", transcript, width, style)] : [key];
}
