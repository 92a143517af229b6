/** The panel's second view: what a run was asked, says, calls and gets, as it grows. */

import type { Transcript } from "../../index.js";
import { type BackgroundRun, isLive } from "../background/run.ts";
import { guardedTimeout, messageOf, unwaited } from "../host/guard.ts";
import { cached } from "../ui/component.ts";
import { joined, paragraph } from "../ui/lines.ts";
import { fitPath } from "../ui/paths.ts";
import { compactProse, prose } from "../ui/prose.ts";
import { elapsed, markOf, modelOf, nameOf, questionLine, wordsOf } from "../ui/run-words.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine } from "../ui/text.ts";
import { usageWords } from "../ui/words.ts";
import type { RunActions } from "./actions.ts";
import { MOST_ENTRIES, TranscriptWindow } from "./transcript-window.ts";
import { type Hint, type PanelHost, scrolled, titled, type View } from "./view.ts";

/** Entries asked for to follow the end; older ones are asked for when they are scrolled to. */
const NEWEST_ENTRIES = 80;
/** The file is not looked at more often. */
const FETCH_EVERY_MS = 400;
const INDENT = 2;

export function transcriptView(host: PanelHost, actions: RunActions, opened: BackgroundRun): View {
	const window = new TranscriptWindow();
	/** The run as it was last known: it may be removed while somebody reads. */
	let run = opened;
	let isRemoved = false;
	let withTools = true;
	let version: string | undefined;
	let problem: string | undefined;
	/** How many of the newest entries are to be read, and whether that is being done. */
	let wanted = 0;
	let isReading = false;
	let timer: NodeJS.Timeout | undefined;
	let isDisposed = false;
	/** The file has more, but no more of it is to be had. */
	let isExhausted = false;
	let height = 1;
	let newest: string | undefined;
	/** What is being said and is not in the file yet, or how the run has ended. */
	const below = cached((shown: BackgroundRun, said: string | undefined, columns: number, style: Style) =>
		isLive(shown) ? liveLines(shown, said, columns, style) : endLines(shown, columns, style),
	);

	/** Asks for the newest entries, now or as soon as the file may be looked at again. */
	const want = (entries: number) => {
		wanted = Math.max(wanted, entries);
		if (!isReading && !isDisposed) unwaited("the panel", read());
	};
	/** Asks for what is older where its place is looked at: twice as much, so that all of it costs twice the file at most. */
	const wantOlder = () => {
		if (window.isAtTop && window.hasMore && !isExhausted) want(Math.min(MOST_ENTRIES, window.length * 2));
	};
	const read = async () => {
		const entries = wanted;
		const tools = withTools;
		isReading = true;
		wanted = 0;
		try {
			const transcript = await host.session.transcript(run.key, { entries, tools });
			// Asked for before the tools were switched on or off.
			if (tools === withTools) take(transcript, entries);
			else wanted = NEWEST_ENTRIES;
			problem = undefined;
		} catch (error) {
			problem = oneLine(messageOf(error));
		}
		if (isDisposed) return;
		host.changed();
		const rested = () => {
			isReading = false;
			wantOlder();
			if (wanted > 0) want(0);
		};
		timer = guardedTimeout("reading the transcript", rested, FETCH_EVERY_MS);
	};
	const take = (transcript: Transcript, asked: number) => {
		const { length } = window;
		if (version === undefined) {
			window.clear();
			isExhausted = false;
		} else if (transcript.version === version && asked <= length) return;
		window.take(transcript);
		if (asked > NEWEST_ENTRIES) isExhausted = window.length <= length;
		version = transcript.version;
		newest = transcript.entries.findLast(({ role }) => role === "assistant")?.text;
	};

	const entries = (columns: number): readonly string[] => {
		const { style } = host;
		const tail = below(run, newest, columns, style);
		if (window.length === 0) return withoutEntries(columns, tail).slice(0, height);
		const lines = window.visible(columns, height, style, tail);
		// The line above the oldest entry is blank: there is room to say that there are older ones.
		return window.isAtTop && lines[0] === "" ? [above(columns), ...lines.slice(1)] : lines;
	};
	const above = (columns: number): string => {
		if (!window.hasMore) return "";
		if (!isExhausted) return note("… older entries are being read", host.style);
		const where = "… older entries are in ";
		const path = oneLine(run.transcript ?? "the child's session file");
		return note(where + fitPath(path, columns - INDENT - where.length), host.style);
	};
	const withoutEntries = (columns: number, tail: readonly string[]): string[] => {
		const { style } = host;
		const width = columns - INDENT;
		if (run.archivedMs !== undefined) {
			const archived = `The transcript was archived ${when(run.archivedMs)}. What the run came to:`;
			const result = compactProse(run.result || run.partial || "(nothing)", width, style);
			return ["", ...indented([...paragraph(archived, width, style, "dim"), "", ...result], INDENT)];
		}
		if (problem !== undefined) {
			return ["", ...indented(paragraph(problem, width, style, "warning"), INDENT), ...endLines(run, columns, style)];
		}
		if (version === undefined) return ["", note("Reading …", style)];
		const task = indented(paragraph(run.task, width, style, "muted"), INDENT);
		const waits = isLive(run) ? "Nothing has been said yet." : "Nothing was said.";
		return ["", ...task, "", note(waits, style), ...tail];
	};

	want(NEWEST_ENTRIES);
	return {
		head: (columns) => headLine(run, columns, host.style),
		body(columns, rows) {
			const asked = run.question ? [questionLine(run, columns, host.style)] : [];
			height = rows - asked.length;
			return [...entries(columns), ...asked];
		},
		hints() {
			const tools: Hint = { action: "tools", does: withTools ? "without tools" : "with tools" };
			const known = isRemoved ? [] : actions.hints(run);
			if (window.isFollowing) return [...known, tools, { action: "up", does: "scroll" }];
			return [{ action: "bottom", does: "follow" }, ...known, tools];
		},
		press(action) {
			const by = scrolled(action, height);
			if (by !== undefined) window.scroll(by);
			else if (action === "tools") {
				withTools = !withTools;
				version = undefined;
				want(NEWEST_ENTRIES);
			} else return !isRemoved && actions.press(action, run);
			wantOlder();
			return true;
		},
		refresh() {
			const known = host.runs.run(run.key);
			isRemoved = known === undefined;
			if (!known) return;
			const before = run;
			run = known;
			// A file that nobody writes is not looked at again.
			if (isLive(before) || isLive(run) || run.timesResumed !== before.timesResumed) want(NEWEST_ENTRIES);
		},
		dispose() {
			isDisposed = true;
			clearTimeout(timer);
		},
	};
}

function headLine(run: BackgroundRun, columns: number, style: Style): string {
	const { text, color } = markOf(run);
	const { tokens = "", cost = "" } = usageWords([run.usage]);
	const parts = [
		titled(nameOf(run), style),
		style.fg("muted", run.agent === nameOf(run) ? "" : oneLine(run.agent)),
		style.fg("muted", elapsed(run, Date.now())),
		style.fg(isLive(run) ? "muted" : color, wordsOf(run)),
		...[modelOf(run), tokens, cost].map((part) => style.fg("dim", part)),
	];
	return clip(`${style.fg(color, text)} ${joined(parts, style)}`, columns);
}

/** A remark between entries. */
function note(text: string, style: Style): string {
	return " ".repeat(INDENT) + style.fg("dim", text);
}

function liveLines({ text = "" }: BackgroundRun, newest: string | undefined, columns: number, style: Style): string[] {
	const said = text.trim();
	return said === "" || newest?.includes(said) ? [] : ["", ...indented(prose(said, columns - INDENT, style), INDENT)];
}

function endLines(run: BackgroundRun, columns: number, style: Style): string[] {
	if (isLive(run)) return [];
	const { text, color } = markOf(run);
	const words = style.fg(color, `${text} ${wordsOf(run) || "done"}`);
	const error = run.error ? paragraph(run.error, columns - INDENT, style, color) : [];
	return [
		"",
		clip(joined([words, style.fg("muted", elapsed(run, Date.now()))], style), columns),
		...indented(error, INDENT),
	];
}

function when(ms: number): string {
	return new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
