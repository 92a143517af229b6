/** The panel's second view: a run's growing transcript, with its task, texts, tool calls and results. */

import type { Transcript } from "../../index.js";
import { isLive, type RunRecord } from "../background/run.ts";
import { messageOf } from "../host/guard.ts";
import { cached } from "../ui/component.ts";
import type { Pen } from "../ui/pen.ts";
import { compactProse } from "../ui/prose.ts";
import { oneLine } from "../ui/text.ts";
import type { RunActions } from "./actions.ts";
import type { Hint } from "./foot.ts";
import { repeated } from "./repeated.ts";
import { MAX_ENTRIES, TranscriptWindow } from "./transcript-window.ts";
import { drawRun, type PanelHost, scrolled, type View } from "./view.ts";

/** The number of entries read to follow the end. Older ones are read when the user scrolls to them. */
const NEWEST_ENTRIES = 80;
/** The shortest interval between two reads of the file. */
const FETCH_EVERY_MS = 400;
const INDENT = 2;

export function transcriptView(host: PanelHost, actions: RunActions, opened: RunRecord): View {
	const window = new TranscriptWindow();
	/** The last known state of the run. The run may be removed while the user reads. */
	let run = opened;
	let isRemoved = false;
	let withTools = true;
	let version: string | undefined;
	let problem: string | undefined;
	/** The number of newest entries to read. */
	let requested = 0;
	/** The file has older entries, but they cannot be read. */
	let isExhausted = false;
	let height = 1;
	let newest: string | undefined;
	/** The text that is not in the file yet, or the run's outcome. */
	const below = cached((shown: RunRecord, newest: string | undefined, pen: Pen) =>
		isLive(shown) ? liveLines(shown, newest, pen) : drawRun(shown, "outcome", pen),
	);

	const reading = repeated(async () => {
		const entries = requested;
		const tools = withTools;
		requested = 0;
		try {
			const transcript = await host.session.transcript(run.key, { entries, tools });
			// Requested before the tools were shown or hidden.
			if (tools === withTools) take(transcript, entries);
			else want(NEWEST_ENTRIES);
			problem = undefined;
		} catch (error) {
			problem = oneLine(messageOf(error));
		}
		host.changed();
		requestOlder();
	}, FETCH_EVERY_MS);
	/** Requests the newest entries, as soon as the interval allows. */
	const want = (entries: number) => {
		requested = Math.max(requested, entries);
		reading.want();
	};
	/**
	 * Requests older entries when the user scrolls to the top. The number doubles each time, so that reading everything
	 * costs at most twice the file.
	 */
	const requestOlder = () => {
		if (window.isAtTop && window.hasMore && !isExhausted) want(Math.min(MAX_ENTRIES, window.length * 2));
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

	const entryLines = (pen: Pen): readonly string[] => {
		const tail = below(run, newest, pen);
		if (window.length === 0) return withoutEntries(pen, tail).slice(0, height);
		const lines = window.visible(pen, height, tail);
		if (!window.isAtTop || !window.hasMore || lines[0] !== "") return lines;
		// The line above the oldest entry is blank, which leaves room for the note about older entries.
		const file = isExhausted ? (run.transcript ?? "the child's session file") : undefined;
		return [...(pen.drawn((native, ...on) => native.drawOlderEntries(...on, file)) ?? []), ...lines.slice(1)];
	};
	const withoutEntries = (pen: Pen, tail: readonly string[]): string[] => {
		const block = (draw: (inner: Pen) => string[]) => ["", ...pen.indented(INDENT, draw)];
		if (run.archivedMs !== undefined) {
			const archived = `The transcript was archived ${dateText(run.archivedMs)}. The result:`;
			const result = run.result || run.partial || "(nothing)";
			return block((inner) => [...inner.paragraph(archived, "dim"), "", ...compactProse(result, inner)]);
		}
		const reason = problem;
		if (reason !== undefined)
			return [...block((inner) => inner.paragraph(reason, "warning")), ...drawRun(run, "outcome", pen)];
		if (version === undefined) return block((inner) => [inner.fg("dim", "Reading …")]);
		const waits = pen.fg("dim", isLive(run) ? "No text yet." : "No text.");
		return [...block((inner) => [...inner.paragraph(run.task, "muted"), "", waits]), ...tail];
	};

	want(NEWEST_ENTRIES);
	return {
		head: (pen) => drawRun(run, "head", pen).join(""),
		body(pen, rows) {
			const asked = drawRun(run, "question", pen);
			height = rows - asked.length;
			return [...entryLines(pen), ...asked];
		},
		hints() {
			const tools: Hint = ["tools", withTools ? "without tools" : "with tools"];
			const known = isRemoved ? [] : actions.hints(run);
			return window.isFollowing ? [...known, tools, ["up", "scroll"]] : [["bottom", "follow"], ...known, tools];
		},
		press(action) {
			const by = scrolled(action, height);
			if (by !== undefined) window.scroll(by);
			else if (action === "tools") {
				withTools = !withTools;
				version = undefined;
				want(NEWEST_ENTRIES);
			} else return !isRemoved && actions.press(action, run);
			requestOlder();
			return true;
		},
		refresh() {
			const known = host.runs.run(run.key);
			isRemoved = known === undefined;
			if (!known) return;
			const before = run;
			run = known;
			// The file of a run that has ended does not change, and is not read again.
			if (isLive(before) || isLive(run) || run.timesResumed !== before.timesResumed) want(NEWEST_ENTRIES);
		},
		dispose: reading.dispose,
	};
}

function liveLines(run: RunRecord, newest: string | undefined, pen: Pen): string[] {
	const text = run.text?.trim() ?? "";
	return text === "" || newest?.includes(text) ? [] : ["", ...drawRun(run, "current", pen)];
}

function dateText(ms: number): string {
	return new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
