/** Cards of the tools for work in the background: one line each, more when expanded or when something is wrong. */

import type { SpawnableAgents, SpawnReceipt } from "../background/types.ts";
import { agentsIn, receiptIn } from "../host/details.ts";
import type { RenderedOutput, ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { type Line, oneLine, type Span } from "../ui/spans.ts";
import { clipped, headLine, PREVIEW_CHARACTERS, paragraph } from "./lines.ts";
import { type Mark, mark } from "./marks.ts";
import { component } from "./render.ts";

type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;

/** Shared by both renderers of a card; pi draws the call again when the result has come. */
interface Shared {
	receipt?: SpawnReceipt;
	agents?: SpawnableAgents;
	isOver?: boolean;
}

export const spawnRenderers: Renderers = {
	renderCall(args, theme, context) {
		const state = context.state as Shared;
		return component(theme, (width) => spawnHead(args, state, context, width));
	},
	renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
		const state = context.state as Shared;
		state.receipt = receiptIn(result.details) ?? ({} as SpawnReceipt);
		state.isOver = !context.isPartial;
		const { args } = context;
		return component(theme, (width) => spawnBody(args, state, textOf(result), context, width));
	},
};

export const agentsRenderers: Renderers = {
	renderCall(_args, theme, context) {
		const state = context.state as Shared;
		return component(theme, (width) => {
			const { text, color } = markOf(state, context);
			const what: Span[] = [
				{ text: `${text} `, color },
				{ text: "agents_list", color: "toolTitle", bold: true },
			];
			const names = state.agents?.agents.map(({ id }) => oneLine(id)).join(", ");
			const parts: Span[] = names ? [{ text: names, color: "muted" }] : [];
			return [headLine(what, parts, parts, width)];
		});
	},
	renderResult(result, _options, theme, context) {
		const state = context.state as Shared;
		const agents = agentsIn(result.details);
		if (agents) state.agents = agents;
		state.isOver = !context.isPartial;
		return component(theme, (width) => {
			if (context.isError) return paragraph(problemOf(result.details, textOf(result)), width, "error");
			return context.expanded ? (state.agents?.agents ?? []).map((agent) => agentLine(agent, width)) : [];
		});
	},
};

function spawnHead(args: unknown, state: Shared, context: ToolRenderContext, width: number): Line[] {
	const { text, color } = markOf(state, context);
	const label = words(args, "label");
	const what: Span[] = [
		{ text: `${text} `, color },
		{ text: "background ", color: "toolTitle", bold: true },
		{ text: words(args, "agentId") || agentOf(state.receipt) || "subagent", color: "accent" },
	];
	const id = state.receipt?.runId;
	const short: Span[] = id ? [{ text: oneLine(id), color: "dim" }] : [];
	const name: Span[] = label ? [{ text: label, color: "toolOutput" }] : [];
	const task: Span = { text: words(args, "task"), color: "muted" };
	// The task takes what room there is: the line is cut where the terminal ends.
	return [headLine([...what, ...parts([...name, ...short])], task.text ? [task] : [], task.text ? [task] : [], width)];
}

function spawnBody(
	args: unknown,
	{ receipt }: Shared,
	text: string,
	context: ToolRenderContext,
	width: number,
): Line[] {
	if (context.isError) return paragraph(problemOf(receipt, text), width, "error");
	const lines = (receipt?.warnings ?? []).flatMap((warning) => paragraph(warning, width, "warning"));
	if (!context.expanded) return lines;
	lines.unshift(...paragraph(string(field(args, "task")), width, "muted"));
	if (receipt?.childSessionKey) lines.push(clipped([{ text: oneLine(receipt.childSessionKey), color: "dim" }], width));
	return lines;
}

function agentLine(agent: SpawnableAgents["agents"][number], width: number): Line {
	const traits = [agent.source, ...(agent.readonly ? ["readonly"] : []), ...(agent.model ? [agent.model] : [])];
	return clipped(
		[
			{ text: oneLine(agent.id), color: "accent" },
			{ text: ` (${oneLine(traits.join(", "))})  `, color: "dim" },
			{ text: oneLine(agent.description), color: "toolOutput" },
		],
		width,
	);
}

function markOf(state: Shared, context: ToolRenderContext): Mark {
	if (!state.isOver) return mark(context.executionStarted ? "starting" : "planned");
	return mark(context.isError ? "failed" : "completed");
}

/** `agent:<agentId>:subagent:<uuid>`. */
function agentOf(receipt: SpawnReceipt | undefined): string {
	return oneLine(receipt?.childSessionKey?.split(":")[1] ?? "");
}

function parts(spans: readonly Span[]): Span[] {
	return spans.flatMap((span): Span[] => [{ text: " · ", color: "dim" }, span]);
}

function problemOf(details: unknown, text: string): string {
	return string(field(details, "error")) || text;
}

function textOf({ content }: RenderedOutput): string {
	return content.map(({ text }) => text ?? "").join("\n");
}

function words(args: unknown, name: string): string {
	return oneLine(string(field(args, name)).slice(0, PREVIEW_CHARACTERS));
}

function field(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function string(value: unknown): string {
	return typeof value === "string" ? value : "";
}
