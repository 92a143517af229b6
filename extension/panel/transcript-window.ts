/**
 * A part of a transcript that is laid out only where it is looked at. The newest entries are at the bottom; what is
 * drawn costs as many lines as there are on the screen, however long the transcript is.
 */

import type { Transcript } from "../../index.js";
import { cached } from "../ui/component.ts";
import type { Style } from "../ui/style.ts";
import { entryLines, type TranscriptEntry } from "./transcript-entry.ts";

/** Entries that are kept while the end is followed. */
const FOLLOWED_ENTRIES = 400;
/** Entries that are kept at most; who wants to read more has the file. */
export const MOST_ENTRIES = 4_000;

interface Block {
	entry: TranscriptEntry;
	/** Its lines, laid out once as long as the screen stays what it is. */
	lines(columns: number, style: Style): readonly string[];
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
	private style: Style | undefined;
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
		else if (lines < 0) this.up(-lines);
		else if (!this.isFollowing) this.down(lines);
	}

	/** What is on the screen; `tail` stands below the newest entry. */
	visible(columns: number, rows: number, style: Style, tail: readonly string[]): readonly string[] {
		Object.assign(this, { columns, rows, style, tail });
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
		return (this.style && this.blocks[index]?.lines(this.columns, this.style)) ?? [];
	}
}

function blockOf(entry: TranscriptEntry): Block {
	return { entry, lines: cached((columns, style) => entryLines(entry, columns, style)) };
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
