/** Cards of the tools for work in the background: one line each, more when expanded or when something is wrong. */

import type { SpawnableAgents, SpawnReceipt } from "../../index.js";
import { agentsIn, receiptIn } from "../host/details.ts";
import type { RenderedOutput, ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { contentText, isObject } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { paragraph } from "../ui/lines.ts";
import { PREVIEW_CHARACTERS } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, indented, oneLine } from "../ui/text.ts";
import { type Mark, markOfState } from "../ui/words.ts";
import { headLine, INDENT, title } from "./frame.ts";

type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;

/** Shared by both renderers of a card; pi draws the call again when the result has come. */
interface Shared {
	receipt?: SpawnReceipt | undefined;
	agents?: SpawnableAgents | undefined;
	isOver?: boolean;
}

/** What a card is drawn from. */
interface Drawn extends Shared {
	args: unknown;
	result: RenderedOutput;
	context: ToolRenderContext;
}

/** Draws the first line as `head` says, and what comes below it as `body` does. */
function renderers(
	head: (args: unknown, state: Shared, mark: Mark, style: Style) => string[],
	body: (drawn: Drawn, width: number, style: Style) => string[],
): Renderers {
	return {
		renderCall(args, theme, context) {
			const state = context.state as Shared;
			return component(theme, (width, style) => {
				const parts = head(args, state, markOf(state, context), style);
				return [headLine(parts, parts, width, style)];
			});
		},
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const state = context.state as Shared;
			const { details } = result;
			Object.assign(state, { receipt: receiptIn(details), agents: agentsIn(details), isOver: !context.isPartial });
			const drawn = { ...state, args: context.args, result, context };
			return component(theme, (width, style) => indented(body(drawn, width - INDENT, style), INDENT));
		},
	};
}

export const spawnRenderers = renderers(
	(args, { receipt }, mark, style) => {
		const agent = text(args, "agentId") || agentOf(receipt?.childSessionKey) || "subagent";
		return [
			title(mark, "background", agent, style),
			style.fg("toolOutput", oneLine(text(args, "label"))),
			style.fg("dim", oneLine(receipt?.runId ?? "")),
			// The task takes what room there is: the line is cut where the terminal ends.
			style.fg("muted", oneLine(text(args, "task"))),
		];
	},
	({ receipt, args, result, context }, width, style) => {
		const content = contentText(result);
		if (context.isError) return paragraph(receipt?.error || content, width, style, "error");
		if (!receipt) return paragraph(content, width, style, "toolOutput");
		const warnings = (receipt.warnings ?? []).flatMap((warning) => paragraph(warning, width, style, "warning"));
		if (!context.expanded) return warnings;
		const key = style.fg("dim", clip(oneLine(receipt.childSessionKey ?? ""), width));
		return [...paragraph(text(args, "task"), width, style, "muted"), ...warnings, ...(key === "" ? [] : [key])];
	},
);

export const agentsRenderers = renderers(
	(_args, { agents }, mark, style) => {
		const names = (agents?.agents ?? []).map(({ id }) => oneLine(id)).join(", ");
		return [title(mark, "agents_list", "", style), style.fg("muted", names)];
	},
	({ agents, result, context }, width, style) => {
		if (agents) return context.expanded ? agents.agents.map((agent) => agentLine(agent, width, style)) : [];
		const color = context.isError ? "error" : "toolOutput";
		return paragraph(text(result.details, "error") || contentText(result), width, style, color);
	},
);

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
