/** Connects pi's tool renderers with the card. */

import type { RunDetails } from "../index.js";
import { bodyLines, type CardInput, headLines } from "./card.ts";
import { type CardState, cardState, noteCall, noteResult } from "./card-state.ts";
import type { Component, RenderedOutput, Theme, ToolDefinition, ToolRenderContext } from "./pi.ts";
import { type Line, paint } from "./spans.ts";

/** Draws the upper part of the card: who works on what. */
export function renderCall(args: unknown, theme: Theme, context: ToolRenderContext): Component {
	const state = cardState(context);
	noteCall(state, context);
	const input = cardInput(args, "", context);
	return component(theme, (width) => headLines(input, state, width));
}

/** Draws the lower part: how it goes, and what came of it. */
export function renderResult(
	result: RenderedOutput,
	_options: Parameters<ToolDefinition["renderResult"]>[1],
	theme: Theme,
	context: ToolRenderContext & { args?: unknown },
): Component {
	const state: CardState = cardState(context);
	noteResult(state, runDetails(result.details), context);
	const text = result.content.map((part) => part.text ?? "").join("\n");
	const input = cardInput(context.args, text, context);
	return component(theme, (width) => bodyLines(input, state, width));
}

/** A component that lays out its lines once per width; pi asks for a new one whenever something changed. */
export function component(theme: Theme, layout: (width: number) => readonly Line[]): Component {
	let drawn: { width: number; lines: string[] } | undefined;
	return {
		render(width) {
			if (drawn?.width !== width) drawn = { width, lines: layout(width).map((line) => paint(line, theme)) };
			return drawn.lines;
		},
		invalidate() {
			drawn = undefined;
		},
	};
}

function cardInput(args: unknown, text: string, context: ToolRenderContext): CardInput {
	const { agent, task } = typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
	return {
		agent: typeof agent === "string" ? agent : "",
		task: typeof task === "string" ? task : "",
		text,
		expanded: context.expanded,
		expandKey: context.keyText?.("app.tools.expand"),
	};
}

/** Details of this tool; a result that pi made itself, as for invalid arguments, has none. */
function runDetails(details: unknown): RunDetails | undefined {
	const isRun =
		typeof details === "object" && details !== null && "results" in details && Array.isArray(details.results);
	return isRun ? (details as RunDetails) : undefined;
}
