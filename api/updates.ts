/** The updates of a run: what has changed between two of its states. */

import type { Result, Update, UpdateBase } from "../index.js";
import type { DisplayItem, ToolResult } from "../native.js";
import { noUsage } from "./result.ts";

/** The most tool calls, and the most characters of text, that wait for a slow reader. Older ones are left out. */
const maxWaitingTools = 64;
const maxWaitingText = 64 * 1024;

/** The end of a text by which its continuation is recognized, if the beginning of the text is no longer there. */
const anchorChars = 200;

/** Turns the states of a run into updates. */
export class Changes {
	#base: UpdateBase = { state: "queued", elapsedMs: 0, usage: noUsage };
	#state = "";
	#said = "";
	#message = 0;
	#calls: string[] = [];
	#retry = 0;

	/** Returns the updates that lead from the state before to this one. */
	take(native: ToolResult): Update<unknown>[] {
		const now = native.details.streaming;
		if (!now) return [];
		const base: UpdateBase = { state: now.state, elapsedMs: now.elapsedMs, usage: now.usage };
		this.#base = base;
		const updates: Update<unknown>[] = [];
		const { position, blockedBy, retry } = now;
		const state = `${now.state} ${position ?? ""} ${blockedBy ?? ""}`;
		if (state !== this.#state) {
			this.#state = state;
			const where = { ...(position !== undefined && { position }), ...(blockedBy !== undefined && { blockedBy }) };
			updates.push({ type: "state", ...base, ...where });
		}
		if (retry && retry.atMs !== this.#retry) {
			this.#retry = retry.atMs;
			const why = retry.error === undefined ? {} : { error: retry.error };
			updates.push({ type: "retry", ...base, attempt: retry.attempt, atMs: retry.atMs, ...why });
		}
		for (const { name, args } of this.#newCalls(now.displayItems)) updates.push({ type: "tool", ...base, name, args });
		const text = now.hasText ? this.#newText(native.content[0]?.text ?? "") : "";
		if (text) updates.push({ type: "text", ...base, text, message: this.#message });
		return updates;
	}

	/** The child asks a question. */
	question(sentence: string): Update<unknown> {
		return { type: "question", ...this.#base, sentence };
	}

	/** The run has ended. */
	done(result: Result<unknown>): Update<unknown> {
		const elapsedMs = result.details?.durationMs ?? this.#base.elapsedMs;
		return { type: "done", state: "ended", elapsedMs, usage: result.usage, result };
	}

	/** The text after the known one. A text that does not continue it is a new message. */
	#newText(said: string): string {
		const known = this.#said;
		this.#said = said;
		if (known && said.startsWith(known)) return said.slice(known.length);
		// Of a long text only the end is there.
		const anchor = known.slice(-anchorChars);
		const at = anchor.length === anchorChars ? said.lastIndexOf(anchor) : -1;
		if (at >= 0) return said.slice(at + anchor.length);
		this.#message += 1;
		return said;
	}

	/** The calls after the known ones. Of many calls only the newest are there. */
	#newCalls(items: readonly DisplayItem[]): (DisplayItem & { type: "toolCall" })[] {
		const calls = items.filter((item) => item.type === "toolCall");
		const texts = calls.map((call) => JSON.stringify(call));
		const known = this.#calls;
		this.#calls = texts;
		const isKept = (dropped: number) => known.slice(dropped).every((text, index) => text === texts[index]);
		let dropped = 0;
		while (!isKept(dropped)) dropped += 1;
		return calls.slice(known.length - dropped);
	}
}

/** The updates that wait for one reader. The engine never waits for it. */
export class Reader implements AsyncIterator<Update<unknown>, undefined> {
	#waiting: Update<unknown>[] = [];
	readonly #wakes: (() => void)[] = [];
	#hasEnded = false;
	readonly #onReturn: (reader: Reader) => void;

	constructor(onReturn: (reader: Reader) => void) {
		this.#onReturn = onReturn;
	}

	push(update: Update<unknown>): void {
		const last = this.#waiting.at(-1);
		if (update.type === "text" && last?.type === "text" && last.message === update.message) {
			this.#waiting[this.#waiting.length - 1] = { ...update, text: last.text + update.text };
		} else if (update.type === "state") {
			// Only the newest state matters.
			this.#waiting = [...this.#waiting.filter(({ type }) => type !== "state"), update];
		} else {
			this.#waiting.push(update);
		}
		this.#bound();
		this.#wakeAll();
	}

	/** No update follows. */
	end(): void {
		this.#hasEnded = true;
		this.#wakeAll();
	}

	async next(): Promise<IteratorResult<Update<unknown>, undefined>> {
		for (;;) {
			const value = this.#waiting.shift();
			if (value) return { value, done: false };
			if (this.#hasEnded) return { value: undefined, done: true };
			await new Promise<void>((resolve) => this.#wakes.push(resolve));
		}
	}

	async return(): Promise<IteratorResult<Update<unknown>, undefined>> {
		this.#waiting = [];
		this.end();
		this.#onReturn(this);
		return { value: undefined, done: true };
	}

	#wakeAll(): void {
		for (const wake of this.#wakes.splice(0)) wake();
	}

	/** Leaves out the oldest of what a slow reader has missed. */
	#bound(): void {
		const tools = this.#waiting.filter(({ type }) => type === "tool").length;
		if (tools > maxWaitingTools) this.#drop("tool");
		const length = () => this.#waiting.reduce((sum, update) => sum + (update.type === "text" ? update.text.length : 0), 0);
		if (length() <= maxWaitingText) return;
		while (length() > maxWaitingText && this.#waiting.filter(({ type }) => type === "text").length > 1) this.#drop("text");
		this.#waiting = this.#waiting.map((update) =>
			update.type === "text" ? { ...update, text: update.text.slice(-maxWaitingText) } : update,
		);
	}

	#drop(type: Update["type"]): void {
		const oldest = this.#waiting.findIndex((update) => update.type === type);
		if (oldest >= 0) this.#waiting.splice(oldest, 1);
	}
}
