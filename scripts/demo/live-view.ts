/** The live card in plain text: each tool call as a line of its own, and in a terminal one line that keeps moving. */

import { callText, duration, usageParts } from "../../extension/ui/words.ts";
import type { RunDetails } from "../../index.js";

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
		this.#figures = usageParts([streaming.usage], streaming.model).join(" ");
		const calls = streaming.displayItems.filter((item) => item.type === "toolCall");
		// The list is bounded, its oldest items go first.
		if (calls.length < this.#printed) this.#printed = 0;
		for (const item of calls.slice(this.#printed)) this.#line(`  → ${callText(item.name, item.args)}`);
		this.#printed = calls.length;
		this.#draw();
	}

	/** Prints the last state for good. */
	end(mark: string): void {
		clearInterval(this.#timer);
		this.#line(this.#status(mark));
	}

	#status(mark: string): string {
		const elapsed = duration(performance.now() - this.#started, mark === "●");
		return `${mark} ${[this.#agent, elapsed, this.#figures].filter(Boolean).join("  ")}`;
	}

	/** A line that stays; where nothing moves, it says how far the run is. */
	#line(text: string): void {
		if (this.#out.isTTY) {
			this.#out.write(`\r\x1b[2K${text}\n`);
		} else {
			const elapsed = duration(performance.now() - this.#started, false);
			this.#out.write(text.startsWith("  →") ? `${text}  (${elapsed} ${this.#figures})\n` : `${text}\n`);
		}
	}

	#draw(): void {
		if (!this.#out.isTTY) return;
		const width = Math.max(10, (this.#out.columns ?? 80) - 1);
		this.#out.write(`\r\x1b[2K${[...this.#status("●")].slice(0, width).join("")}`);
	}
}
