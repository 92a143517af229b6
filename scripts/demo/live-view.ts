/** The live card in plain text: each tool call as a line of its own, and in a terminal one line that keeps moving. */

import { durationText, type RunDetails, type RunUsage, toolCallLine, usageWords } from "../../index.js";

/** How often the moving line is drawn; the clock in it counts seconds. */
const drawEveryMs = 200;

/** Draws one run on a stream. */
export class LiveView {
	readonly #out: NodeJS.WriteStream;
	readonly #agent: string;
	readonly #started = performance.now();
	readonly #timer: NodeJS.Timeout | undefined;
	#figures = "";
	#printed = 0;

	constructor(out: NodeJS.WriteStream, agent: string) {
		this.#out = out;
		this.#agent = agent;
		if (out.isTTY) this.#timer = setInterval(() => this.#draw(), drawEveryMs);
	}

	/** Takes an update of the tool call. */
	update({ streaming }: RunDetails): void {
		if (!streaming) return;
		this.#figures = spent(streaming.usage, streaming.model);
		const calls = streaming.displayItems.filter((item) => item.type === "toolCall");
		// The list is bounded, its oldest items go first.
		if (calls.length < this.#printed) this.#printed = 0;
		for (const item of calls.slice(this.#printed)) this.#line(`  → ${toolCallLine(item.name, item.args)}`);
		this.#printed = calls.length;
		this.#draw();
	}

	/** Prints the last state for good. */
	end(mark: string): void {
		clearInterval(this.#timer);
		this.#line(this.#status(mark));
	}

	#status(mark: string): string {
		const elapsed = durationText(performance.now() - this.#started, mark === "●");
		return `${mark} ${[this.#agent, elapsed, this.#figures].filter(Boolean).join("  ")}`;
	}

	/** A line that stays; where nothing moves, it says how far the run is. */
	#line(text: string): void {
		if (this.#out.isTTY) {
			this.#out.write(`\r\x1b[2K${text}\n`);
		} else {
			const elapsed = durationText(performance.now() - this.#started, false);
			this.#out.write(text.startsWith("  →") ? `${text}  (${elapsed} ${this.#figures})\n` : `${text}\n`);
		}
	}

	#draw(): void {
		if (!this.#out.isTTY) return;
		const width = Math.max(10, (this.#out.columns ?? 80) - 1);
		this.#out.write(`\r\x1b[2K${[...this.#status("●")].slice(0, width).join("")}`);
	}
}

/** Turns, tokens, cost and model of a run. */
export function spent(usage: RunUsage, model: string | undefined): string {
	const { turns, tokens, cost } = usageWords([usage]);
	return [turns, tokens, cost, model].filter((part) => part).join(" ");
}
