/** A card as pi holds and draws it, without pi. */

import { mock } from "node:test";
import type { Theme } from "@earendil-works/pi-coding-agent";
import { renderers } from "../../extension/cards/cards.ts";
import type { ToolRenderContext } from "../../extension/host/pi.ts";
import type { Asked } from "../../extension/questions/questions.ts";
import { plainText } from "../../extension/ui/text.ts";
import type { RunDetails as CardDetails } from "../../native.js";
import { standingIn } from "./standing-in.ts";

const COLOURED = standingIn<Theme>({
	fg: (color: string, text: string) => `\u001b[3${color.length % 8}m${text}\u001b[39m`,
	bold: (text: string) => `\u001b[1m${text}\u001b[22m`,
});

/** Arguments, shared state, and the last result. */
export class Card {
	private result: { content: { type: "text"; text: string }[]; details?: unknown } | undefined;
	private partial = true;
	private error = false;
	private readonly state = {};
	private readonly renderers: ReturnType<typeof renderers>;
	executionStarted = true;
	expanded = false;
	redraws = 0;
	/** True if pi has dropped the card: it asks for a redraw that never happens. */
	isDropped = false;
	keyText: ((binding?: string) => string) | undefined = (binding) =>
		binding === "app.interrupt" ? "escape" : "ctrl+o";
	args: unknown;
	questions: Asked[] = [];
	/** The key that moves the call to the background, and what commands have done with its changes. */
	backgroundKey: string | undefined;
	settled = "{}";
	private readonly sources = {
		asked: () => this.questions,
		backgroundKey: () => this.backgroundKey,
		settled: () => this.settled,
	};

	constructor(
		args: unknown = { agent: "explorer", task: "find the loader" },
		tool: string | ReturnType<typeof renderers> = "subagent",
	) {
		this.args = args;
		this.renderers = typeof tool === "string" ? renderers(tool, this.sources) : tool;
	}

	/** An update whose text is the child's, if it is given. */
	update(details: CardDetails, text?: string): this {
		const streaming = details?.streaming && { ...details.streaming, hasText: text !== undefined };
		const content = [{ type: "text" as const, text: text ?? "(running...)" }];
		this.result = { content, details: streaming ? { ...details, streaming } : details };
		return this;
	}

	finish(details: CardDetails | undefined, text = "", error = false): this {
		this.result = { content: [{ type: "text", text }], ...(details ? { details } : {}) };
		this.partial = false;
		this.error = error;
		return this;
	}

	coloured(width: number): string[] {
		const context = standingIn<ToolRenderContext>({
			args: this.args,
			state: this.state,
			// As in pi, an invalidated component is drawn again.
			invalidate: () => {
				this.redraws++;
				if (!this.isDropped) this.coloured(width);
			},
			executionStarted: this.executionStarted,
			isPartial: this.partial,
			expanded: this.expanded,
			isError: this.error,
			...(this.keyText && { keyText: this.keyText }),
		});
		const { renderCall, renderResult } = this.renderers;
		const parts = [renderCall(this.args, COLOURED, context)];
		if (this.result) {
			const options = { expanded: this.expanded, isPartial: this.partial };
			parts.push(renderResult(this.result, options, COLOURED, context));
		}
		return parts.flatMap((part) => part.render(width));
	}

	lines(width = 80): string[] {
		return this.coloured(width).map((line) => plainText(line).trimEnd());
	}
}

/** Lets time pass in small steps: in one step all timers would see its end. */
export function pass(ms: number): void {
	for (let passed = 0; passed < ms; passed += 50) mock.timers.tick(50);
}
