/**
 * The loaded part of a transcript. Only the visible entries are laid out, so drawing costs as many lines as the screen
 * has, for any length of the transcript. The newest entries are at the bottom.
 */

import type { Transcript } from "../../index.js";
import { cached } from "../ui/component.ts";
import type { Pen } from "../ui/pen.ts";

/** The number of entries kept while the view follows the end. */
const FOLLOWED_ENTRIES = 400;
/** The maximum number of entries kept. The transcript file has the others. */
export const MAX_ENTRIES = 4_000;

type TranscriptEntry = Transcript["entries"][number];

interface Block {
	entry: TranscriptEntry;
	/** The entry's lines, cached until the pen changes. */
	lines(pen: Pen): readonly string[];
}

/** The position of the first line on the screen. */
interface Place {
	block: number;
	line: number;
}

export class TranscriptWindow {
	/** True while the view follows the end. */
	isFollowing = true;
	/** True if the file has older entries than the loaded ones. */
	hasMore = false;
	private blocks: Block[] = [];
	private place: Place = { block: 0, line: 0 };
	private pen: Pen | undefined;
	private rows = 1;
	/** The lines below the newest entry. */
	private tail: readonly string[] = [];
	/** True if the user wants the first entry, which may require reading the whole file. */
	private wantsTop = false;

	get length(): number {
		return this.blocks.length;
	}

	/** Returns true if there is nothing left to scroll to above the screen. */
	get isAtTop(): boolean {
		return !this.isFollowing && this.place.block === 0 && this.place.line === 0;
	}

	/** Drops all entries. */
	clear(): void {
		this.blocks = [];
		this.hasMore = false;
		this.isFollowing = true;
	}

	/**
	 * Joins the newest entries of the file with the loaded ones. The side that reaches further back determines the start.
	 */
	take({ entries, hasMore }: Pick<Transcript, "entries" | "hasMore">): void {
		const { blocks } = this;
		const known = entries.length - entries.findIndex((_, added) => isEnd(blocks, entries, entries.length - added));
		const isJoined = known <= entries.length;
		// There are so many new entries that the two parts do not overlap. While the user reads older entries, the loaded
		// ones stay until the end is shown again.
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

	/**
	 * Scrolls up (negative) or down. An infinite number goes to the start or the end. At the end the view follows again.
	 */
	scroll(lines: number): void {
		this.wantsTop = lines === Number.NEGATIVE_INFINITY;
		if (lines === Number.POSITIVE_INFINITY) this.isFollowing = true;
		else if (lines < 0) {
			// Entries may have arrived since the last draw.
			const from = this.isFollowing ? this.end() : this.place;
			this.isFollowing = false;
			this.place = this.wantsTop ? { block: 0, line: 0 } : this.above(from, -lines);
		} else if (!this.isFollowing) this.place = this.below(this.place, lines);
	}

	/** Returns the lines on the screen. `tail` is drawn below the newest entry. */
	visible(pen: Pen, rows: number, tail: readonly string[]): readonly string[] {
		Object.assign(this, { pen, rows, tail });
		const lines = this.isFollowing ? [] : this.from(this.place);
		if (lines.length >= rows) return lines;
		// Fewer lines follow than the screen holds, so this is the end.
		this.isFollowing = true;
		this.place = this.end();
		return this.from(this.place);
	}

	/** Returns the position at which the screen shows the last lines. */
	private end(): Place {
		return this.above({ block: this.blocks.length + 1, line: 0 }, this.rows);
	}

	/** Returns one screen of lines, starting at a position. */
	private from({ block, line }: Place): readonly string[] {
		const lines: string[] = [];
		for (let at = block; at <= this.blocks.length && lines.length < this.rows; at++) {
			lines.push(...this.lines(at).slice(at === block ? line : 0));
		}
		return lines.slice(0, this.rows);
	}

	private above({ block, line }: Place, lines: number): Place {
		let at = block;
		let rest = line - lines;
		while (rest < 0 && at > 0) rest += this.lines(--at).length;
		return { block: at, line: Math.max(0, rest) };
	}

	private below({ block, line }: Place, lines: number): Place {
		let at = block;
		let rest = line + lines;
		while (at < this.blocks.length && rest >= this.lines(at).length) rest -= this.lines(at++).length;
		return { block: at, line: rest };
	}

	/** Returns the lines of a block. The block after the last one is the tail. */
	private lines(block: number): readonly string[] {
		if (block === this.blocks.length) return this.tail;
		return (this.pen && this.blocks[block]?.lines(this.pen)) ?? [];
	}
}

function blockOf(entry: TranscriptEntry): Block {
	return { entry, lines: cached((pen) => entryLines(entry, pen)) };
}

function entryLines(entry: TranscriptEntry, pen: Pen): string[] {
	return pen.drawn((native, ...on) => native.drawEntry(...on, JSON.stringify(entry))) ?? [];
}

/** Returns true if `blocks` and the first `count` of `entries` have the same end, as far back as both reach. */
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
