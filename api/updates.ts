/** The updates of a run: what has changed between two of its states. */

import type { Result, Update, UpdateBase } from "../index.js";
import type { DisplayItem, ToolResult } from "../native.js";
import { noUsage } from "./result.ts";

/** The most tool calls, and the most characters of text, that wait for a slow reader. Older ones are left out. */
const maxWaitingTools = 64;
const maxWaitingText = 64 * 1024;

/** The end of a text by which its continuation is recognized, if the beginning of the text is no longer there. */
const anchorChars = 200;
/** The length from which the engine may have cut the middle of an item's text. */
const cutChars = 1024;

/**
 * Turns the states of a run into updates. The items of a state have the messages that have ended, with their tool calls, in order.
 * The text of a state is the open message, or the last ended message.
 */
export class Changes {
	#base: UpdateBase = { state: "queued", elapsedMs: 0, usage: noUsage };
	#state = "";
	#attempt = 1;
	/** The known items, each as a text. */
	#items: string[] = [];
	/** The known words of a message whose items have not come. */
	#open = "";
	#message = 0;
	#retry = 0;

	/** Returns the updates that lead from the state before to this one. */
	take(native: ToolResult): Update<unknown>[] {
		const now = native.details.streaming;
		if (!now) return [];
		const base: UpdateBase = { state: now.state, elapsedMs: now.elapsedMs, usage: now.usage };
		this.#base = base;
		const updates: Update<unknown>[] = [];
		const { position, blockedBy, retry, attempt, displayItems } = now;
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
		if (attempt !== this.#attempt) {
			// Another child, which begins anew.
			this.#attempt = attempt;
			this.#items = [];
			this.#open = "";
		}
		const said = now.hasText ? (native.content[0]?.text ?? "") : "";
		updates.push(...this.#ofItems(displayItems, said));
		if (!isEnded(said, displayItems)) updates.push(...this.#text(this.#openText(said)));
		return updates;
	}

	/** The child asks a question. */
	question(sentence: string): Update<unknown> {
		return { type: "question", ...this.#base, sentence };
	}

	/** The run has ended. Its last items may not have been in a state. */
	done(result: Result<unknown>): Update<unknown>[] {
		const { details, reused } = result;
		const items = reused ? [] : (details?.displayItems ?? []);
		const elapsedMs = details?.durationMs ?? this.#base.elapsedMs;
		return [...this.#ofItems(items, ""), { type: "done", state: "ended", elapsedMs, usage: result.usage, result }];
	}

	/** The updates for the items after the known ones. */
	#ofItems(items: readonly DisplayItem[], said: string): Update<unknown>[] {
		return this.#newItems(items).flatMap((item) =>
			item.type === "text"
				? this.#text(this.#endedText(wholeText(item.text, said)))
				: [{ type: "tool", ...this.#base, name: item.name, args: item.args }],
		);
	}

	#text(text: string): Update<unknown>[] {
		return text === "" ? [] : [{ type: "text", ...this.#base, text, message: this.#message }];
	}

	/** The words of a message that the child writes, after the known ones. */
	#openText(said: string): string {
		const rest = this.#open === "" ? undefined : after(said, this.#open);
		if (rest === undefined) this.#message += 1;
		this.#open = said;
		return rest ?? said;
	}

	/** The words of a part of a message that has ended, after the known ones. */
	#endedText(text: string): string {
		const open = this.#open;
		if (open.length > text.length && open.startsWith(text)) {
			// The parts of a message are joined by a line break.
			this.#open = open.slice(text.length).replace(/^\n/, "");
			return "";
		}
		const rest = open === "" ? undefined : after(text, open);
		if (rest === undefined) this.#message += 1;
		this.#open = "";
		return rest ?? text;
	}

	/** The items after the known ones. Of many items only the newest are there. */
	#newItems(items: readonly DisplayItem[]): DisplayItem[] {
		const known = this.#items;
		// That a call has failed is known later.
		const texts = items.map((item) => (item.type === "text" ? item.text : JSON.stringify([item.name, item.args])));
		this.#items = texts;
		const isAt = (dropped: number, skipped: number) =>
			known.slice(dropped).every((text, index) => text === texts[index + skipped]);
		for (let shift = 0; ; shift += 1) {
			if (isAt(shift, 0)) return items.slice(known.length - shift);
			if (isAt(0, shift)) return items.slice(known.length + shift);
		}
	}
}

/** Returns the part of a text after the known one, or nothing if it does not continue that. Of a long text only the end may be there. */
function after(text: string, known: string): string | undefined {
	if (text.startsWith(known)) return text.slice(known.length);
	const anchor = known.slice(-anchorChars);
	const at = anchor.length === anchorChars ? text.lastIndexOf(anchor) : -1;
	return at < 0 ? undefined : text.slice(at + anchor.length);
}

/** True if the text of a state is a message that its items have, or may become one. */
function isEnded(said: string, items: readonly DisplayItem[]): boolean {
	const words = said.trimEnd();
	if (words === "") return true;
	const texts = items.flatMap((item) => (item.type === "text" ? [item.text] : []));
	const last = texts.at(-1) ?? "";
	if (last.startsWith(words) || isWhole(last, said)) return true;
	// A message may have several parts.
	let joined = last;
	for (let at = -2; joined.length < words.length && texts.at(at) !== undefined; at -= 1)
		joined = `${texts.at(at)}\n${joined}`;
	return joined.trimEnd() === words;
}

/** True if `said` ends with an item's text that the engine may have cut. */
const isWhole = (text: string, said: string) => text.length >= cutChars && said.endsWith(text.slice(-anchorChars));

/** Returns the text of an item as it was before the engine cut it, if the text of the state still has it. */
function wholeText(text: string, said: string): string {
	if (!isWhole(text, said)) return text;
	// Parts of its message may come before it.
	return said.slice(Math.max(0, said.indexOf(text.slice(0, anchorChars))));
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
		const length = () =>
			this.#waiting.reduce((sum, update) => sum + (update.type === "text" ? update.text.length : 0), 0);
		if (length() <= maxWaitingText) return;
		while (length() > maxWaitingText && this.#waiting.filter(({ type }) => type === "text").length > 1)
			this.#drop("text");
		this.#waiting = this.#waiting.map((update) =>
			update.type === "text" ? { ...update, text: update.text.slice(-maxWaitingText) } : update,
		);
	}

	#drop(type: Update["type"]): void {
		const oldest = this.#waiting.findIndex((update) => update.type === type);
		if (oldest >= 0) this.#waiting.splice(oldest, 1);
	}
}
