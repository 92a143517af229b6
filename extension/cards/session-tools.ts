/** Cards of the tools for work in the background: one line each, more when expanded or when something is wrong. */

import type { SpawnableAgents, SpawnReceipt } from "../../index.js";
import { agentsIn, receiptIn, type SessionDetails, sessionIn } from "../host/details.ts";
import type { RenderedOutput, ToolRenderContext } from "../host/pi.ts";
import { contentText, isObject } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import type { Pen } from "../ui/pen.ts";
import { reportLines } from "../ui/report-lines.ts";
import { oneLine, PREVIEW_CHARACTERS } from "../ui/text.ts";
import { type Mark, markOfState } from "../ui/words.ts";
import { headLine, INDENT, title } from "./frame.ts";
import type { Renderers } from "./render.ts";

/** Lines of a report in a collapsed card. */
const FEW_LINES = 6;

/** Shared by both renderers of a card; pi draws the call again when the result has come. */
interface Shared {
	receipt?: SpawnReceipt | undefined;
	agents?: SpawnableAgents | undefined;
	session?: SessionDetails | undefined;
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
	head: (args: unknown, state: Shared, mark: Mark, pen: Pen) => string[],
	body: (drawn: Drawn, pen: Pen) => string[],
): Renderers {
	return {
		renderCall(args, theme, context) {
			const state = context.state as Shared;
			return component(theme, (pen) => {
				const parts = head(args, state, markOf(state, context), pen);
				return [headLine(parts, parts, pen)];
			});
		},
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const state = context.state as Shared;
			const { details } = result;
			Object.assign(state, { receipt: receiptIn(details), agents: agentsIn(details), session: sessionIn(details) });
			state.isOver = !context.isPartial;
			const drawn = { ...state, args: context.args, result, context };
			return component(theme, (pen) => pen.indented(INDENT, (inner) => body(drawn, inner)));
		},
	};
}

export const spawnRenderers = renderers(
	(args, { receipt }, mark, pen) => {
		// `agent:<agentId>:subagent:<uuid>`.
		const [, spawned = ""] = receipt?.childSessionKey?.split(":") ?? [];
		return [
			title(mark, "background", text(args, "agentId") || oneLine(spawned) || "subagent", pen),
			pen.fg("toolOutput", oneLine(text(args, "label"))),
			pen.fg("dim", oneLine(receipt?.runId ?? "")),
			// The task takes what room there is: the line is cut where the terminal ends.
			pen.fg("muted", oneLine(text(args, "task"))),
		];
	},
	({ receipt, args, result, context }, pen) => {
		const content = contentText(result);
		if (context.isError) return pen.paragraph(receipt?.error || content, "error");
		if (!receipt) return pen.paragraph(content, "toolOutput");
		const warnings = (receipt.warnings ?? []).flatMap((warning) => pen.paragraph(warning, "warning"));
		if (!context.expanded) return warnings;
		const key = pen.line(receipt.childSessionKey ?? "", "dim");
		return [...pen.paragraph(text(args, "task"), "muted"), ...warnings, ...(key === "" ? [] : [key])];
	},
);

export const agentsRenderers = renderers(
	(_args, { agents }, mark, pen) => {
		const names = (agents?.agents ?? []).map(({ id }) => oneLine(id)).join(", ");
		return [title(mark, "agents_list", "", pen), pen.fg("muted", names)];
	},
	({ agents, result, context }, pen) => {
		if (agents) return context.expanded ? agents.agents.map((agent) => agentLine(agent, pen)) : [];
		const color = context.isError ? "error" : "toolOutput";
		return pen.paragraph(text(result.details, "error") || contentText(result), color);
	},
);

/** Cards of the tools about the runs of the session: what was asked of which run, and the answer as commands give it. */
export const sessionRenderers = (name: string) =>
	renderers(
		(args, _state, mark, pen) => [
			title(mark, name, oneLine(text(args, "sessionKey")), pen),
			pen.fg("muted", oneLine(text(args, "message"))),
		],
		({ session, result, context }, pen) => {
			if (!session) return pen.paragraph(contentText(result), context.isError ? "error" : "toolOutput");
			const { lines } = session.report;
			return reportLines(context.expanded || context.isError ? lines : lines.slice(0, FEW_LINES), pen);
		},
	);

function agentLine(agent: SpawnableAgents["agents"][number], pen: Pen): string {
	const traits = [agent.source, ...(agent.readonly ? ["readonly"] : []), ...(agent.model ? [agent.model] : [])];
	const named = `${pen.fg("accent", oneLine(agent.id))} ${pen.fg("dim", `(${oneLine(traits.join(", "))})`)}`;
	return pen.clip(`${named}  ${pen.fg("toolOutput", oneLine(agent.description))}`);
}

function markOf(state: Shared, context: ToolRenderContext): Mark {
	if (!state.isOver) return markOfState({ state: context.executionStarted ? "starting" : "planned" });
	return markOfState({ state: context.isError ? "failed" : "completed" });
}

function text(value: unknown, name: string): string {
	const field = isObject(value) ? value[name] : undefined;
	return typeof field === "string" ? field.slice(0, PREVIEW_CHARACTERS) : "";
}
