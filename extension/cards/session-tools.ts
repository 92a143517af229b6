/** Cards of the tools for work in the background: one line each, more when expanded or when something is wrong. */

import type { SpawnableAgents, SpawnReceipt } from "../background/types.ts";
import { agentsIn, receiptIn } from "../host/details.ts";
import type { ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { isObject } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { paragraph } from "../ui/lines.ts";
import { PREVIEW_CHARACTERS } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine } from "../ui/text.ts";
import { type Mark, markOfState } from "../ui/words.ts";
import { INDENT } from "./card.ts";
import { headLine, title } from "./head.ts";
import { contentText } from "./render.ts";

type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;

/** Shared by both renderers of a card; pi draws the call again when the result has come. */
interface Shared {
	receipt?: SpawnReceipt | undefined;
	agents?: SpawnableAgents | undefined;
	isOver?: boolean;
}

export const spawnRenderers: Renderers = {
	renderCall(args, theme, context) {
		const state = context.state as Shared;
		return component(theme, (width, style) => [spawnHead(args, state, context, width, style)]);
	},
	renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
		const state = context.state as Shared;
		state.receipt = receiptIn(result.details);
		state.isOver = !context.isPartial;
		const draw = (width: number, style: Style) =>
			spawnBody(text(context.args, "task"), state, contentText(result), context, width, style);
		return component(theme, (width, style) => indented(draw(width - INDENT, style), INDENT));
	},
};

export const agentsRenderers: Renderers = {
	renderCall(_args, theme, context) {
		const state = context.state as Shared;
		return component(theme, (width, style) => {
			const names = (state.agents?.agents ?? []).map(({ id }) => oneLine(id)).join(", ");
			const parts = [style.fg("muted", names)];
			return [headLine(title(markOf(state, context), "agents_list", "", style), parts, parts, width, style)];
		});
	},
	renderResult(result, _options, theme, context) {
		const state = context.state as Shared;
		state.agents = agentsIn(result.details);
		state.isOver = !context.isPartial;
		const draw = (width: number, style: Style) => {
			if (state.agents)
				return context.expanded ? state.agents.agents.map((agent) => agentLine(agent, width, style)) : [];
			const color = context.isError ? "error" : "toolOutput";
			return paragraph(text(result.details, "error") || contentText(result), width, style, color);
		};
		return component(theme, (width, style) => indented(draw(width - INDENT, style), INDENT));
	},
};

function spawnHead(args: unknown, state: Shared, context: ToolRenderContext, width: number, style: Style): string {
	const { runId, childSessionKey } = state.receipt ?? {};
	const agent = text(args, "agentId") || agentOf(childSessionKey) || "subagent";
	const label = style.fg("toolOutput", oneLine(text(args, "label")));
	const id = style.fg("dim", oneLine(runId ?? ""));
	// The task takes what room there is: the line is cut where the terminal ends.
	const task = style.fg("muted", oneLine(text(args, "task")));
	const parts = [label, id, task];
	return headLine(title(markOf(state, context), "background", agent, style), parts, parts, width, style);
}

function spawnBody(
	task: string,
	{ receipt }: Shared,
	content: string,
	context: ToolRenderContext,
	width: number,
	style: Style,
): string[] {
	if (context.isError) return paragraph(receipt?.error || content, width, style, "error");
	if (!receipt) return paragraph(content, width, style, "toolOutput");
	const warnings = (receipt.warnings ?? []).flatMap((warning) => paragraph(warning, width, style, "warning"));
	if (!context.expanded) return warnings;
	const key = style.fg("dim", clip(oneLine(receipt.childSessionKey ?? ""), width));
	return [...paragraph(task, width, style, "muted"), ...warnings, ...(key === "" ? [] : [key])];
}

function agentLine(agent: SpawnableAgents["agents"][number], width: number, style: Style): string {
	const traits = [agent.source, ...(agent.readonly ? ["readonly"] : []), ...(agent.model ? [agent.model] : [])];
	const named = `${style.fg("accent", oneLine(agent.id))} ${style.fg("dim", `(${oneLine(traits.join(", "))})`)}`;
	return clip(`${named}  ${style.fg("toolOutput", oneLine(agent.description))}`, width);
}

function markOf(state: Shared, context: ToolRenderContext): Mark {
	if (!state.isOver) return markOfState({ state: context.executionStarted ? "starting" : "planned" });
	return markOfState({ state: context.isError ? "failed" : "completed" });
}

/** `agent:<agentId>:subagent:<uuid>`. */
function agentOf(sessionKey: string | undefined): string {
	return oneLine(sessionKey?.split(":")[1] ?? "");
}

function text(value: unknown, name: string): string {
	const field = isObject(value) ? value[name] : undefined;
	return typeof field === "string" ? field.slice(0, PREVIEW_CHARACTERS) : "";
}
