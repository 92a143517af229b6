/**
 * A part of a transcript that is laid out only where it is looked at. The newest entries are at the bottom; what is
 * drawn costs as many lines as there are on the screen, however long the transcript is.
 */

import type { Transcript } from "../background/types.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";

/** Entries that are kept while the end is followed. */
const FOLLOWED_ENTRIES = 400;
/** Entries that are kept at most; who wants to read more has the file. */
export const MOST_ENTRIES = 4_000;

type Layout = (entry: TranscriptEntry, columns: number) => readonly string[];

interface Block {
	entry: TranscriptEntry;
	columns: number;
	lines: readonly string[];
}

/** The first line on the screen. */
interface Place {
	block: number;
	line: number;
}

export class TranscriptWindow {
	/** Whether the end is shown, and stays shown. */
	isFollowing = true;
	/** Whether there are older entries than those here. */
	hasMore = false;
	private readonly layout: Layout;
	private blocks: Block[] = [];
	private place: Place = { block: 0, line: 0 };
	private columns = 1;
	private rows = 1;
	private tail: readonly string[] = [];
	/** The very first entry is wanted, whatever has to be read for it. */
	private wantsTop = false;

	constructor(layout: Layout) {
		this.layout = layout;
	}

	get length(): number {
		return this.blocks.length;
	}

	/** Whether nothing is above the screen that could be scrolled to. */
	get isAtTop(): boolean {
		return !this.isFollowing && this.place.block === 0 && this.place.line === 0;
	}

	/** Starts anew. */
	clear(): void {
		this.blocks = [];
		this.hasMore = false;
		this.isFollowing = true;
	}

	/** Lays everything out anew when it is drawn next. */
	invalidate(): void {
		for (const block of this.blocks) block.columns = 0;
	}

	/** Joins the newest entries with those that are here, whichever reach further back. */
	take({ entries, hasMore }: Pick<Transcript, "entries" | "hasMore">): void {
		const shift = overlap(this.blocks, entries);
		if (shift === undefined) {
			// So much is new that the two do not touch. Who reads keeps what is there until the end is wanted again.
			if (!this.isFollowing) return;
			this.blocks = [];
		}
		const from = shift ?? 0;
		if (from <= 0) this.hasMore = hasMore;
		const fresh = entries.map((entry, index) => this.blocks[index + from] ?? { entry, columns: 0, lines: [] });
		this.blocks = [...this.blocks.slice(0, Math.max(0, from)), ...fresh];
		if (from < 0 && !this.wantsTop) this.place = { ...this.place, block: this.place.block - from };
		const over = this.blocks.length - FOLLOWED_ENTRIES;
		if (!this.isFollowing || over < FOLLOWED_ENTRIES) return;
		this.blocks = this.blocks.slice(over);
		this.hasMore = true;
	}

	/** Scrolls up (negative) or down, infinitely far to an end. At the end it follows again. */
	scroll(lines: number): void {
		this.wantsTop = lines === Number.NEGATIVE_INFINITY;
		if (lines === Number.POSITIVE_INFINITY) this.isFollowing = true;
		else if (lines < 0) this.up(-lines);
		else if (!this.isFollowing) this.down(lines);
	}

	/** What is on the screen; `tail` stands below the newest entry. */
	visible(columns: number, rows: number, tail: readonly string[]): readonly string[] {
		this.columns = columns;
		this.rows = rows;
		this.tail = tail;
		if (!this.isFollowing) {
			const lines = this.here();
			if (lines.length >= rows) return lines;
			// There is less below than the screen holds: that is the end.
			this.isFollowing = true;
		}
		return this.end();
	}

	/** The last lines; they are where the screen is from now on. */
	private end(): readonly string[] {
		let lines = this.tail.slice(-this.rows);
		this.place = { block: this.blocks.length, line: 0 };
		while (this.place.block > 0 && lines.length < this.rows) {
			const block = this.place.block - 1;
			const above = this.lines(block);
			const line = Math.max(0, above.length + lines.length - this.rows);
			lines = [...above.slice(line), ...lines];
			this.place = { block, line };
		}
		return lines;
	}

	/** The lines from where the screen is. */
	private here(): readonly string[] {
		const lines: string[] = [];
		for (let { block, line } = this.place; block < this.blocks.length && lines.length < this.rows; block++, line = 0) {
			lines.push(...this.lines(block).slice(line));
		}
		return [...lines, ...this.tail].slice(0, this.rows);
	}

	private up(lines: number): void {
		// More may have come since it was drawn.
		if (this.isFollowing) this.end();
		this.isFollowing = false;
		let { block, line } = this.place;
		if (lines === Number.POSITIVE_INFINITY) block = line = 0;
		for (line -= lines; line < 0 && block > 0; line += this.lines(block).length) block -= 1;
		this.place = { block, line: Math.max(0, line) };
	}

	private down(lines: number): void {
		let { block, line } = this.place;
		for (line += lines; block < this.blocks.length && line >= this.lines(block).length; block++) {
			line -= this.lines(block).length;
		}
		this.place = { block, line };
	}

	private lines(index: number): readonly string[] {
		const block = this.blocks[index];
		if (!block) return [];
		if (block.columns !== this.columns) {
			block.lines = this.layout(block.entry, this.columns);
			block.columns = this.columns;
		}
		return block.lines;
	}
}

/** Where the first of `entries` stands in `blocks`; before the first one it is negative. Absent where they do not touch. */
function overlap(blocks: readonly Block[], entries: readonly TranscriptEntry[]): number | undefined {
	const fits = (shift: number) => {
		const first = Math.max(0, -shift);
		const length = Math.min(entries.length, blocks.length - shift) - first;
		if (length < 1) return false;
		for (let index = first; index < first + length; index++) {
			if (!isSame(blocks[index + shift]?.entry, entries[index])) return false;
		}
		return true;
	};
	for (let shift = 0; shift < blocks.length; shift++) if (fits(shift)) return shift;
	for (let shift = -1; shift > -entries.length; shift--) if (fits(shift)) return shift;
	return undefined;
}

function isSame(one: TranscriptEntry | undefined, other: TranscriptEntry | undefined): boolean {
	return (
		one?.role === other?.role &&
		one?.text === other?.text &&
		one?.name === other?.name &&
		one?.isError === other?.isError
	);
}
