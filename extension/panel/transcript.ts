/** The panel's second view: what a run was asked, says, calls and gets, as it grows. */

import type { BackgroundRun, BackgroundSession, Transcript } from "../background/types.ts";
import { compactProse, paragraph, prose, SEPARATOR } from "../cards/lines.ts";
import { figuresOf } from "../ui/figures.ts";
import type { Key } from "../ui/keys.ts";
import { elapsed, isLive, markOf, modelOf, nameOf, wordsOf } from "../ui/run-line.ts";
import { clip, type Line, oneLine, type Span } from "../ui/spans.ts";
import type { PanelActions } from "./actions.ts";
import type { PanelRuns } from "./runs.ts";
import { note } from "./transcript-entry.ts";
import { MOST_ENTRIES, TranscriptWindow } from "./transcript-window.ts";
import { type Hint, type PanelHost, type Size, scrolledBy, scrolling, titled, type View } from "./view.ts";

/** Entries asked for to follow the end; older ones are asked for when they are scrolled to. */
const NEWEST_ENTRIES = 80;
/** The file is not looked at more often. */
const FETCH_EVERY_MS = 400;

export class TranscriptView implements View {
	private readonly host: PanelHost;
	private readonly session: BackgroundSession;
	private readonly runs: PanelRuns;
	private readonly actions: PanelActions;
	private readonly window = new TranscriptWindow();
	/** The run as it was last known: it may be removed while somebody reads. */
	private run: BackgroundRun;
	private isRemoved = false;
	private withTools = true;
	/** What is here was read with or without the tools, and is wanted the other way. */
	private isAnew = false;
	private version: string | undefined;
	private problem: string | undefined;
	private isFetching = false;
	private isDisposed = false;
	/** Something has changed since the transcript was asked for. */
	private isBehind = false;
	private timer: NodeJS.Timeout | undefined;
	/** The file has more, but no more of it is to be had. */
	private isExhausted = false;
	private rows = 1;
	private tail: { of: BackgroundRun; newest: unknown; columns: number; lines: readonly Line[] } | undefined;
	private newest: string | undefined;

	constructor(host: PanelHost, session: BackgroundSession, runs: PanelRuns, actions: PanelActions, run: BackgroundRun) {
		this.host = host;
		this.session = session;
		this.runs = runs;
		this.actions = actions;
		this.run = run;
		this.fetch(NEWEST_ENTRIES);
	}

	head(columns: number): Line {
		const { run } = this;
		const { text, color } = markOf(run);
		const { tokens, cost } = figuresOf(run.usage, undefined);
		const dim = [modelOf(run), tokens, cost].filter((part) => part !== undefined && part !== "");
		const parts: Span[] = [
			{ text: run.agent === nameOf(run) ? "" : oneLine(run.agent), color: "muted" },
			{ text: elapsed(run, Date.now()), color: "muted" },
			...wordsOf(run),
			...dim.map((part): Span => ({ text: String(part), color: "dim" })),
		];
		const shown = parts.filter((part) => part.text !== "").flatMap((part) => [SEPARATOR, part]);
		return clip([{ text: `${text} `, color }, titled(nameOf(run)), ...shown], columns);
	}

	body({ columns, rows }: Size): readonly Line[] {
		this.rows = rows;
		if (this.window.length === 0) return this.withoutEntries(columns).slice(0, rows);
		const lines = this.window.visible(columns, rows, this.below(columns));
		if (!this.window.isAtTop) return lines;
		// The line above the oldest entry is blank: there is room to say that there are older ones.
		const [first = [], ...rest] = lines;
		return [first.length === 0 ? this.above(columns) : first, ...rest];
	}

	hints(): readonly Hint[] {
		const { isFollowing } = this.window;
		return [
			isFollowing ? { keys: "↑", does: "scroll", rank: 5 } : { keys: "end", does: "follow", rank: 1 },
			{ keys: "t", does: this.withTools ? "without tools" : "with tools", rank: 3 },
			...(this.isRemoved ? [] : this.actions.hints(this.run)),
		];
	}

	press(key: Key): boolean {
		const moves = scrolling(key);
		if (moves?.end === "bottom") this.window.toBottom();
		else if (moves?.end === "top") this.window.toTop();
		else if (moves) this.window.scroll(scrolledBy(moves, this.rows));
		else if (key.name === "t") this.toggleTools();
		else if (this.isRemoved) return false;
		else return this.actions.press(key, this.run);
		if (this.window.isAtTop) this.fetchOlder();
		return true;
	}

	refresh(): void {
		const run = this.runs.run(this.run.key);
		this.isRemoved = run === undefined;
		if (!run) return;
		const { run: before } = this;
		this.run = run;
		// A file that nobody writes is not looked at again.
		if (isLive(before) || isLive(run) || run.timesResumed !== before.timesResumed) this.fetchSoon();
	}

	dispose(): void {
		this.isDisposed = true;
		clearTimeout(this.timer);
	}

	private toggleTools(): void {
		this.withTools = !this.withTools;
		this.isAnew = true;
		this.isBehind = true;
		this.fetch(NEWEST_ENTRIES);
	}

	/** Asks for older entries, twice as many as there are: reading all of it costs no more than twice the file. */
	private fetchOlder(): void {
		if (!this.window.hasMore || this.isExhausted || this.isFetching) return;
		this.fetch(Math.min(MOST_ENTRIES, Math.max(NEWEST_ENTRIES, this.window.length * 2)), true);
	}

	/** Asks for what is new, unless it was asked for just now; then in a while. */
	private fetchSoon(): void {
		if (this.isFetching) this.isBehind = true;
		else if (this.timer === undefined) this.fetch(NEWEST_ENTRIES);
		else this.isBehind = true;
	}

	private fetch(entries: number, isOlder = false): void {
		if (this.isFetching || this.isDisposed) return;
		this.isFetching = true;
		this.isBehind = false;
		const { withTools: tools } = this;
		const answered = this.session.transcript(this.run.key, { entries, tools }).then(
			(transcript) => {
				// Asked for before the tools were switched on or off.
				if (tools !== this.withTools) this.isBehind = true;
				else this.take(transcript, isOlder);
			},
			(error: unknown) => {
				this.problem = oneLine(error instanceof Error ? error.message : String(error));
			},
		);
		void answered.then(() => {
			this.isFetching = false;
			if (this.isDisposed) return;
			this.host.changed();
			clearTimeout(this.timer);
			this.timer = setTimeout(() => {
				this.timer = undefined;
				// What is older comes with what is new.
				if (this.window.isAtTop) this.fetchOlder();
				if (this.isBehind) this.fetch(NEWEST_ENTRIES);
			}, FETCH_EVERY_MS);
			this.timer.unref();
		});
	}

	private take(transcript: Transcript, isOlder: boolean): void {
		this.problem = undefined;
		if (this.isAnew) {
			this.window.clear();
			this.version = undefined;
			this.isExhausted = false;
			this.isAnew = false;
		}
		if (transcript.version === this.version && !isOlder) return;
		this.version = transcript.version;
		const { length } = this.window;
		this.window.take(transcript);
		this.newest = transcript.entries.findLast(({ role }) => role === "assistant")?.text;
		if (isOlder) this.isExhausted = this.window.length <= length || this.window.length >= MOST_ENTRIES;
	}

	private above(columns: number): Line {
		const { hasMore } = this.window;
		if (!hasMore) return [];
		if (!this.isExhausted) return note("… older entries are being read", columns);
		return note(`… older entries are in ${oneLine(this.run.transcript ?? "the child's session file")}`, columns);
	}

	/** What is being said and is not in the file yet, and how the run has ended. */
	private below(columns: number): readonly Line[] {
		const { run, newest, tail } = this;
		if (tail?.of === run && tail.newest === newest && tail.columns === columns) return tail.lines;
		const lines = isLive(run) ? liveLines(run, newest, columns) : endLines(run, columns);
		this.tail = { of: run, newest, columns, lines };
		return lines;
	}

	private withoutEntries(columns: number): Line[] {
		const { run, problem } = this;
		if (run.archivedMs !== undefined) {
			return [
				[],
				...paragraph(`The transcript was archived ${when(run.archivedMs)}. What the run came to:`, columns, "dim"),
				[],
				...compactProse(run.result || run.partial || "(nothing)", columns),
			];
		}
		if (problem !== undefined) return [[], ...paragraph(problem, columns, "warning"), ...endLines(run, columns)];
		if (this.version === undefined) return [[], note("Reading …", columns)];
		const waits = isLive(run) ? "Nothing has been said yet." : "Nothing was said.";
		return [[], ...paragraph(run.task, columns, "muted"), [], note(waits, columns), ...this.below(columns)];
	}
}

function liveLines({ text = "" }: BackgroundRun, newest: string | undefined, columns: number): Line[] {
	const said = text.trim();
	return said === "" || newest?.includes(said) ? [] : [[], ...prose(said, columns)];
}

function endLines(run: BackgroundRun, columns: number): Line[] {
	const { text, color } = markOf(run);
	if (isLive(run)) return [];
	const words = wordsOf(run);
	const said: Line = [{ text: `${text} `, color }, ...(words.length > 0 ? words : [{ text: "done", color }])];
	const error = run.error ? paragraph(run.error, columns, color) : [];
	return [[], clip([...said, { text: ` · ${elapsed(run, Date.now())}`, color: "muted" }], columns), ...error];
}

function when(ms: number): string {
	return new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
