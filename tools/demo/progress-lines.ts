/**
 * Prints a live call as lines that stay: the actions of each child, and its end. A terminal and a pipe get the same
 * output.
 */

import { type DisplayItem, durationText, type RunDetails, toolCallLine, usageText } from "../../native.js";
import { dim, green, red } from "../../scripts/lib/progress.mjs";

/** The width of a usual terminal. */
export const columns = 80;

/** Prints the news in each update of a call. */
export class ProgressLines {
	readonly #print: (line: string) => void;
	readonly #seen = new Map<number, { state: string; items: number }>();

	constructor(print: (line: string) => void) {
		this.#print = print;
	}

	update({ streaming, tasks }: RunDetails): void {
		if (streaming) this.#child(0, "", "running", streaming.displayItems);
		for (const [index, task] of (tasks ?? []).entries()) {
			this.#child(index, `[${index + 1}] `, task.state, task.displayItems ?? []);
		}
	}

	/** Prints how each child of the call has ended. */
	end({ results }: RunDetails): void {
		for (const [index, { agent, outcome, usage, durationMs, error }] of results.entries()) {
			const { turns, tokens } = usageText([usage]);
			const isDone = outcome === "completed";
			const name = results.length > 1 ? `[${index + 1}] ${agent}` : agent;
			const figures = [durationText(durationMs), turns, tokens].filter(Boolean).join(" · ");
			const detail = isDone ? figures : `${outcome}: ${(error ?? "").split("\n").join(" ")}`;
			const line = `  ${isDone ? "✓" : "✗"} ${name} · ${detail}`;
			this.#print(isDone ? green(clipped(line)) : red(wrapped(line, 4)));
		}
	}

	#child(index: number, name: string, state: string, items: readonly DisplayItem[]): void {
		const calls = items.filter((item) => item.type === "toolCall");
		const before = this.#seen.get(index) ?? { state: "", items: 0 };
		// The list is limited, and drops its oldest items. An update without news has an empty list.
		for (const item of calls.slice(Math.min(before.items, calls.length))) {
			this.#print(dim(clipped(`  ${name}→ ${toolCallLine(item.name, item.args)}`)));
		}
		this.#seen.set(index, { state, items: Math.max(before.items, calls.length) });
	}
}

/** Wraps a text at the width of a terminal. All lines but the first are indented. */
export function wrapped(text: string, indent: number): string {
	const lines = [""];
	for (const word of text.split(/(?<=\S)\s+/)) {
		const last = lines.at(-1) ?? "";
		if (last && last.length + word.length + 1 > columns - indent) lines.push(word);
		else lines[lines.length - 1] = last ? `${last} ${word}` : word;
	}
	return lines.join(`\n${" ".repeat(indent)}`);
}

/** Cuts a line to the width of a terminal. */
export function clipped(line: string, width = columns): string {
	const characters = [...line];
	return characters.length <= width ? line : `${characters.slice(0, width - 1).join("")}…`;
}
