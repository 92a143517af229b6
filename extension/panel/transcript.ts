/** The panel's second view: what a run was asked, says, calls and gets, as it grows. */

import type { Transcript } from "../../index.js";
import { type BackgroundRun, isLive } from "../background/run.ts";
import { guardedTimeout, unwaited } from "../host/guard.ts";
import { cached } from "../ui/component.ts";
import { joined, paragraph } from "../ui/lines.ts";
import { compactProse, prose } from "../ui/prose.ts";
import { elapsed, markOf, modelOf, nameOf, questionLine, wordsOf } from "../ui/run-words.ts";
import type { Style } from "../ui/style.ts";
import { clip, fitPath, indented, oneLine } from "../ui/text.ts";
import { usageWords } from "../ui/words.ts";
import type { RunActions } from "./actions.ts";
import type { Action } from "./keys.ts";
import { MOST_ENTRIES, TranscriptWindow } from "./transcript-window.ts";
import { type Hint, type PanelHost, scrolled, titled, type View } from "./view.ts";

/** Entries asked for to follow the end; older ones are asked for when they are scrolled to. */
const NEWEST_ENTRIES = 80;
/** The file is not looked at more often. */
const FETCH_EVERY_MS = 400;
const INDENT = 2;

export class TranscriptView implements View {
	private readonly host: PanelHost;
	private readonly actions: RunActions;
	private readonly window = new TranscriptWindow();
	/** The run as it was last known: it may be removed while somebody reads. */
	private run: BackgroundRun;
	private isRemoved = false;
	private withTools = true;
	private version: string | undefined;
	private problem: string | undefined;
	/** How many of the newest entries are to be read, and whether that is being done. */
	private wanted = 0;
	private isReading = false;
	private timer: NodeJS.Timeout | undefined;
	private isDisposed = false;
	/** The file has more, but no more of it is to be had. */
	private isExhausted = false;
	private rows = 1;
	private newest: string | undefined;
	/** What is being said and is not in the file yet, or how the run has ended. */
	private readonly below = cached((run: BackgroundRun, newest: string | undefined, columns: number, style: Style) =>
		isLive(run) ? liveLines(run, newest, columns, style) : endLines(run, columns, style),
	);

	constructor(host: PanelHost, actions: RunActions, run: BackgroundRun) {
		this.host = host;
		this.actions = actions;
		this.run = run;
		this.want(NEWEST_ENTRIES);
	}

	head(columns: number): string {
		const { run } = this;
		const { style } = this.host;
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

	body(columns: number, rows: number): readonly string[] {
		const asked = this.run.question ? [questionLine(this.run, columns, this.host.style)] : [];
		this.rows = rows - asked.length;
		return [...this.entries(columns, this.rows), ...asked];
	}

	hints(): readonly Hint[] {
		const tools: Hint = { action: "tools", does: this.withTools ? "without tools" : "with tools" };
		const known = this.isRemoved ? [] : this.actions.hints(this.run);
		if (this.window.isFollowing) return [...known, tools, { action: "up", does: "scroll" }];
		return [{ action: "bottom", does: "follow" }, ...known, tools];
	}

	press(action: Action): boolean {
		const by = scrolled(action, this.rows);
		if (by !== undefined) this.window.scroll(by);
		else if (action === "tools") this.toggleTools();
		else return !this.isRemoved && this.actions.press(action, this.run);
		this.wantOlder();
		return true;
	}

	refresh(): void {
		const run = this.host.runs.run(this.run.key);
		this.isRemoved = run === undefined;
		if (!run) return;
		const { run: before } = this;
		this.run = run;
		// A file that nobody writes is not looked at again.
		if (isLive(before) || isLive(run) || run.timesResumed !== before.timesResumed) this.want(NEWEST_ENTRIES);
	}

	dispose(): void {
		this.isDisposed = true;
		clearTimeout(this.timer);
	}

	private toggleTools(): void {
		this.withTools = !this.withTools;
		this.version = undefined;
		this.want(NEWEST_ENTRIES);
	}

	/** Asks for what is older where its place is looked at: twice as much, so that all of it costs twice the file at most. */
	private wantOlder(): void {
		const { isAtTop, hasMore, length } = this.window;
		if (isAtTop && hasMore && !this.isExhausted) this.want(Math.min(MOST_ENTRIES, length * 2));
	}

	/** Asks for the newest entries, now or as soon as the file may be looked at again. */
	private want(entries: number): void {
		this.wanted = Math.max(this.wanted, entries);
		if (!this.isReading && !this.isDisposed) unwaited("the panel", this.read());
	}

	private async read(): Promise<void> {
		const { wanted: entries, withTools: tools } = this;
		this.isReading = true;
		this.wanted = 0;
		try {
			const transcript = await this.host.session.transcript(this.run.key, { entries, tools });
			// Asked for before the tools were switched on or off.
			if (tools === this.withTools) this.take(transcript, entries);
			else this.wanted = NEWEST_ENTRIES;
			this.problem = undefined;
		} catch (error) {
			this.problem = oneLine(error instanceof Error ? error.message : String(error));
		}
		if (this.isDisposed) return;
		this.host.changed();
		const rested = () => {
			this.isReading = false;
			this.wantOlder();
			if (this.wanted > 0) this.want(0);
		};
		this.timer = guardedTimeout("reading the transcript", rested, FETCH_EVERY_MS);
	}

	private take(transcript: Transcript, asked: number): void {
		const { length } = this.window;
		if (this.version === undefined) {
			this.window.clear();
			this.isExhausted = false;
		} else if (transcript.version === this.version && asked <= length) return;
		this.window.take(transcript);
		if (asked > NEWEST_ENTRIES) this.isExhausted = this.window.length <= length;
		this.version = transcript.version;
		this.newest = transcript.entries.findLast(({ role }) => role === "assistant")?.text;
	}

	private entries(columns: number, rows: number): readonly string[] {
		if (this.window.length === 0) return this.withoutEntries(columns).slice(0, rows);
		const lines = this.window.visible(columns, rows, this.host.style, this.tail(columns));
		// The line above the oldest entry is blank: there is room to say that there are older ones.
		return this.window.isAtTop && lines[0] === "" ? [this.above(columns), ...lines.slice(1)] : lines;
	}

	private above(columns: number): string {
		if (!this.window.hasMore) return "";
		if (!this.isExhausted) return note("… older entries are being read", this.host.style);
		const where = "… older entries are in ";
		const path = oneLine(this.run.transcript ?? "the child's session file");
		return note(where + fitPath(path, columns - INDENT - where.length), this.host.style);
	}

	private tail(columns: number): readonly string[] {
		return this.below(this.run, this.newest, columns, this.host.style);
	}

	private withoutEntries(columns: number): string[] {
		const { run, problem } = this;
		const { style } = this.host;
		const width = columns - INDENT;
		if (run.archivedMs !== undefined) {
			const archived = `The transcript was archived ${when(run.archivedMs)}. What the run came to:`;
			const result = compactProse(run.result || run.partial || "(nothing)", width, style);
			return ["", ...indented([...paragraph(archived, width, style, "dim"), "", ...result], INDENT)];
		}
		if (problem !== undefined) {
			return ["", ...indented(paragraph(problem, width, style, "warning"), INDENT), ...endLines(run, columns, style)];
		}
		if (this.version === undefined) return ["", note("Reading …", style)];
		const task = indented(paragraph(run.task, width, style, "muted"), INDENT);
		const waits = isLive(run) ? "Nothing has been said yet." : "Nothing was said.";
		return ["", ...task, "", note(waits, style), ...this.tail(columns)];
	}
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
