/** Connects pi's tool renderers with the cards. */

import { runDetailsIn } from "../host/details.ts";
import type { Component, Theme, ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { type Line, paint } from "../ui/spans.ts";
import { bodyLines as bodyOfOne, type CardInput, headLines as headOfOne } from "./card.ts";
import { bodyLines as bodyOfMany, headLines as headOfMany, type ManyInput } from "./many.ts";
import { cardState, noteCall, noteResult } from "./state.ts";
import { plannedTask, plannedTasks } from "./tasks.ts";

type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;
type Mode = "single" | ManyInput["mode"];

/** The list that the arguments of a call of several tasks hold. */
const LISTS = { parallel: "tasks", chain: "steps" } as const;

const MODES: Readonly<Record<string, Mode>> = {
	subagent: "single",
	subagent_parallel: "parallel",
	subagent_chain: "chain",
};

/** The renderers of the tool with this name. */
export function renderers(tool: string): Renderers {
	const mode = MODES[tool] ?? "single";
	return {
		/** Draws the upper part of the card: who works on what. */
		renderCall(args, theme, context) {
			const state = cardState(context);
			noteCall(state, context);
			return component(theme, (width) => {
				if (mode === "single") return headOfOne(inputOfOne(args, "", context), state, width);
				return headOfMany(inputOfMany(mode, args, "", context), state, width);
			});
		},
		/** Draws the lower part: how it goes, and what came of it. */
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const state = cardState(context);
			noteResult(state, runDetailsIn(result.details), context);
			const { args } = context;
			return component(theme, (width) => {
				const text = result.content.map((part) => part.text ?? "").join("\n");
				if (mode === "single") return bodyOfOne(inputOfOne(args, text, context), state, width);
				return bodyOfMany(inputOfMany(mode, args, text, context), state, width);
			});
		},
	};
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

function inputOfOne(args: unknown, text: string, context: ToolRenderContext): CardInput {
	return { ...plannedTask(args), ...surroundings(text, context) };
}

function inputOfMany(mode: ManyInput["mode"], args: unknown, text: string, context: ToolRenderContext): ManyInput {
	return { mode, tasks: plannedTasks(field(args, LISTS[mode])), ...surroundings(text, context) };
}

function surroundings(text: string, context: ToolRenderContext): Omit<ManyInput, "mode" | "tasks"> {
	return {
		text,
		expanded: context.expanded,
		expandKey: context.keyText?.("app.tools.expand"),
		terminalRows: process.stdout.rows,
	};
}

function field(args: unknown, name: string): unknown {
	return typeof args === "object" && args !== null ? (args as Record<string, unknown>)[name] : undefined;
}
