/**
 * A part of a transcript that is laid out only where it is looked at. The newest entries are at the bottom; what is
 * drawn costs as many lines as there are on the screen, however long the transcript is.
 */

import type { Transcript } from "../background/types.ts";
import type { Line } from "../ui/spans.ts";
import { entryLines } from "./transcript-entry.ts";

export type TranscriptEntry = Transcript["entries"][number];

/** Entries that are kept while the end is followed. */
const FOLLOWED_ENTRIES = 400;
/** Entries that are kept at most; who wants to read more has the file. */
export const MOST_ENTRIES = 4_000;

interface Block {
	entry: TranscriptEntry;
	columns: number;
	lines: readonly Line[];
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
	private blocks: Block[] = [];
	private place: Place = { block: 0, line: 0 };
	private columns = 1;
	private rows = 1;
	private tail: readonly Line[] = [];
	/** The very first entry is wanted, whatever has to be read for it. */
	private wantsTop = false;

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
		const kept = from > 0 ? this.blocks.slice(0, from) : [];
		const fresh = entries.map((entry, index): Block => {
			return this.blocks[index + from] ?? { entry, columns: 0, lines: [] };
		});
		this.blocks = [...kept, ...fresh];
		if (from < 0 && !this.wantsTop) this.place = { ...this.place, block: this.place.block - from };
		if (this.isFollowing) this.trim();
	}

	/** Scrolls up (negative) or down. At the end it follows again. */
	scroll(lines: number): void {
		this.wantsTop = false;
		if (lines < 0) this.up(-lines);
		else if (!this.isFollowing) this.place = this.below(this.place, lines);
	}

	toTop(): void {
		this.wantsTop = true;
		this.isFollowing = false;
		this.place = { block: 0, line: 0 };
	}

	toBottom(): void {
		this.wantsTop = false;
		this.isFollowing = true;
	}

	/** What is on the screen; `tail` stands below the newest entry. */
	visible(columns: number, rows: number, tail: readonly Line[]): readonly Line[] {
		this.columns = columns;
		this.rows = rows;
		this.tail = tail;
		if (!this.isFollowing) {
			const lines = this.from(this.place, rows, tail);
			if (lines.length >= rows) return lines;
			// There is less below than the screen holds: that is the end.
			this.isFollowing = true;
		}
		return this.end(rows, tail);
	}

	private end(rows: number, tail: readonly Line[]): readonly Line[] {
		let lines: readonly Line[] = tail.slice(-rows);
		let block = this.blocks.length;
		let over = 0;
		while (block > 0 && lines.length < rows) {
			block -= 1;
			const above = this.lines(block);
			over = Math.max(0, above.length + lines.length - rows);
			lines = [...above.slice(over), ...lines];
		}
		this.place = { block, line: over };
		return lines;
	}

	private from({ block, line }: Place, rows: number, tail: readonly Line[]): readonly Line[] {
		const lines: Line[] = [];
		let skipped = line;
		for (let index = block; index < this.blocks.length && lines.length < rows; index++) {
			lines.push(...this.lines(index).slice(skipped));
			skipped = 0;
		}
		return [...lines, ...tail].slice(0, rows);
	}

	private up(lines: number): void {
		// More may have come since it was drawn.
		if (this.isFollowing) this.end(this.rows, this.tail);
		this.isFollowing = false;
		let { block, line } = this.place;
		let left = lines;
		while (left > line && block > 0) {
			left -= line;
			block -= 1;
			line = this.lines(block).length;
		}
		this.place = { block, line: Math.max(0, line - left) };
	}

	private below(place: Place, lines: number): Place {
		let { block, line } = place;
		let left = lines;
		while (block < this.blocks.length && line + left >= this.lines(block).length) {
			left -= this.lines(block).length - line;
			block += 1;
			line = 0;
		}
		return block < this.blocks.length ? { block, line: line + left } : { block, line: 0 };
	}

	private lines(index: number): readonly Line[] {
		const block = this.blocks[index];
		if (!block) return [];
		if (block.columns !== this.columns) {
			block.lines = entryLines(block.entry, this.columns);
			block.columns = this.columns;
		}
		return block.lines;
	}

	private trim(): void {
		const over = this.blocks.length - FOLLOWED_ENTRIES;
		if (over < FOLLOWED_ENTRIES) return;
		this.blocks = this.blocks.slice(over);
		this.hasMore = true;
	}
}

/** Where the first of `entries` stands in `blocks`; before the first one it is negative. Absent where they do not touch. */
function overlap(blocks: readonly Block[], entries: readonly TranscriptEntry[]): number | undefined {
	const at = (shift: number) => {
		const first = Math.max(0, -shift);
		const length = Math.min(entries.length, blocks.length - shift) - first;
		if (length < 1) return false;
		for (let index = first; index < first + length; index++) {
			if (!isSame(blocks[index + shift]?.entry, entries[index])) return false;
		}
		return true;
	};
	for (let shift = 0; shift < blocks.length; shift++) if (at(shift)) return shift;
	for (let shift = -1; shift > -entries.length; shift--) if (at(shift)) return shift;
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
