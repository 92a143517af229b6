/** What is said of a run, wherever it is drawn: its mark and name, how it stands, what it did last. */

import { type BackgroundRun, isLive } from "../background/run.ts";
import type { RunOutcome } from "../host/details.ts";
import { FEWEST_COLUMNS } from "./columns.ts";
import type { Color, Pen } from "./pen.ts";
import { gist } from "./prose.ts";
import { brief, cell, clip, firstLine, fitCall, LINE_CHARACTERS, widthOf } from "./text.ts";
import { duration, isActive, type Mark, markOfState, noteOfState, type ShownState, type Standing } from "./words.ts";

/** Of a question's line the name takes this share at most. */
const NAME_SHARE = 3;
const JOINT = ": ";

const ASKS: Mark = { text: "?", color: "warning" };
const FOREGROUND = "foreground";
export const UNREAD = "waiting to be read";

/** Where a run stands, in the words of the cards. */
export function stateOf({ state, outcome }: BackgroundRun): ShownState {
	// How a run ended that lost its host may not be known.
	return state === "ended" ? ((outcome as RunOutcome | undefined) ?? "interrupted") : state;
}

export function markOf(run: BackgroundRun): Mark {
	return run.question ? ASKS : markOfState(standingOf(run));
}

function standingOf(run: BackgroundRun): Standing {
	return { state: stateOf(run), position: run.position, retry: run.retry };
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
	return noteOfState(standingOf(run));
}

function isRetried(run: BackgroundRun): boolean {
	return run.retry !== undefined && isActive(stateOf(run));
}

/** What a run asks, in a line of its own, by which run and agent. */
export function questionLine(run: BackgroundRun, pen: Pen): string {
	const name = clip(nameOf(run), Math.max(FEWEST_COLUMNS, Math.floor(pen.width / NAME_SHARE)));
	const agent = brief(run.agent);
	const who = name === agent || agent === "" ? name : `${name} (${agent})`;
	const asks = `${pen.fg(ASKS.color, ASKS.text)} ${pen.fg("accent", who)}${pen.fg("muted", " asks: ")}`;
	return pen.clip(asks + pen.fg("toolOutput", titleOf(run)));
}

function titleOf({ question }: BackgroundRun): string {
	return brief(question?.title ?? "");
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
	return { text: fitCall(brief(lastTool), width), color: "toolOutput" };
}

/** The model without its provider. */
export function modelOf({ model = "" }: BackgroundRun): string {
	return brief(model.slice(model.indexOf("/") + 1));
}

/** What a run does, as wide as the pen: words on how it stands, and the news. */
export function doing(run: BackgroundRun, isUnread: boolean, pen: Pen): string {
	const said = [run.isForeground ? FOREGROUND : "", wordsOf(run), isUnread ? UNREAD : ""].filter((word) => word !== "");
	const words = run.question ? "" : pen.clip(said.join(", "));
	const room = pen.width - widthOf(words);
	const news = newsOf(run, words === "" ? room : room - JOINT.length);
	const joint = words !== "" && news.text !== "" ? JOINT : "";
	const color = isLive(run) && !isRetried(run) ? "muted" : markOf(run).color;
	return pen.fg(color, words) + pen.fg(news.color, cell(joint + news.text, room));
}
