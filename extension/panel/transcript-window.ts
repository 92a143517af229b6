/**
 * A part of a transcript that is laid out only where it is looked at. The newest entries are at the bottom; what is
 * drawn costs as many lines as there are on the screen, however long the transcript is.
 */

import type { Transcript } from "../../index.js";
import { loadAddon } from "../host/native.ts";
import { cached } from "../ui/component.ts";
import { paint } from "../ui/paint.ts";
import type { Pen } from "../ui/pen.ts";

/** Entries that are kept while the end is followed. */
const FOLLOWED_ENTRIES = 400;
/** Entries that are kept at most; who wants to read more has the file. */
export const MOST_ENTRIES = 4_000;

type TranscriptEntry = Transcript["entries"][number];

interface Block {
	entry: TranscriptEntry;
	/** Its lines, laid out once as long as the screen stays what it is. */
	lines(pen: Pen): readonly string[];
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
	private pen: Pen | undefined;
	private rows = 1;
	/** What stands below the newest entry. */
	private tail: readonly string[] = [];
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

	/** Joins the newest entries of the file with those that are here, whichever reach further back. */
	take({ entries, hasMore }: Pick<Transcript, "entries" | "hasMore">): void {
		const { blocks } = this;
		const known = entries.length - entries.findIndex((_, added) => isEnd(blocks, entries, entries.length - added));
		const isJoined = known <= entries.length;
		// So much is new that the two do not touch. Who reads keeps what is there until the end is wanted again.
		if (!isJoined && !this.isFollowing && blocks.length > 0) return;
		const older = isJoined ? Math.max(0, known - blocks.length) : 0;
		const added = entries.slice(isJoined ? known : 0).map(blockOf);
		this.blocks = [...entries.slice(0, older).map(blockOf), ...(isJoined ? blocks : []), ...added];
		if (!isJoined || known >= blocks.length) this.hasMore = hasMore;
		if (older > 0 && !this.wantsTop) this.place = { ...this.place, block: this.place.block + older };
		if (!this.isFollowing || this.blocks.length < 2 * FOLLOWED_ENTRIES) return;
		this.blocks = this.blocks.slice(-FOLLOWED_ENTRIES);
		this.hasMore = true;
	}

	/** Scrolls up (negative) or down, infinitely far to an end. At the end it follows again. */
	scroll(lines: number): void {
		this.wantsTop = lines === Number.NEGATIVE_INFINITY;
		if (lines === Number.POSITIVE_INFINITY) this.isFollowing = true;
		else if (lines < 0) {
			// More may have come since it was drawn.
			const from = this.isFollowing ? this.end() : this.place;
			this.isFollowing = false;
			this.place = this.wantsTop ? { block: 0, line: 0 } : this.above(from, -lines);
		} else if (!this.isFollowing) this.place = this.below(this.place, lines);
	}

	/** What is on the screen; `tail` stands below the newest entry. */
	visible(pen: Pen, rows: number, tail: readonly string[]): readonly string[] {
		Object.assign(this, { pen, rows, tail });
		const lines = this.isFollowing ? [] : this.from(this.place);
		if (lines.length >= rows) return lines;
		// There is less below than the screen holds: that is the end.
		this.isFollowing = true;
		this.place = this.end();
		return this.from(this.place);
	}

	/** Where the screen is when it shows the last lines. */
	private end(): Place {
		return this.above({ block: this.blocks.length + 1, line: 0 }, this.rows);
	}

	/** The lines of a screen from a place on. */
	private from({ block, line }: Place): readonly string[] {
		const lines: string[] = [];
		for (let at = block; at <= this.blocks.length && lines.length < this.rows; at++) {
			lines.push(...this.lines(at).slice(at === block ? line : 0));
		}
		return lines.slice(0, this.rows);
	}

	private above({ block, line }: Place, lines: number): Place {
		let [at, rest] = [block, line - lines];
		while (rest < 0 && at > 0) rest += this.lines(--at).length;
		return { block: at, line: Math.max(0, rest) };
	}

	private below({ block, line }: Place, lines: number): Place {
		let [at, rest] = [block, line + lines];
		while (at < this.blocks.length && rest >= this.lines(at).length) rest -= this.lines(at++).length;
		return { block: at, line: rest };
	}

	/** The lines of a block; behind the last one, what stands below it. */
	private lines(block: number): readonly string[] {
		if (block === this.blocks.length) return this.tail;
		return (this.pen && this.blocks[block]?.lines(this.pen)) ?? [];
	}
}

function blockOf(entry: TranscriptEntry): Block {
	return { entry, lines: cached((pen) => entryLines(entry, pen)) };
}

function entryLines(entry: TranscriptEntry, pen: Pen): string[] {
	return paint(loadAddon().native?.entryDrawing(JSON.stringify(entry)) ?? [], pen);
}

/** Whether `blocks` and the first `count` of `entries` end alike, as far back as both of them reach. */
function isEnd(blocks: readonly Block[], entries: readonly TranscriptEntry[], count: number): boolean {
	const both = Math.min(blocks.length, count);
	for (let back = 1; back <= both; back++) {
		if (!isSame(blocks[blocks.length - back]?.entry, entries[count - back])) return false;
	}
	return both > 0;
}

function isSame(one: TranscriptEntry | undefined, other: TranscriptEntry | undefined): boolean {
	return (["role", "text", "name", "isError"] as const).every((part) => one?.[part] === other?.[part]);
}
