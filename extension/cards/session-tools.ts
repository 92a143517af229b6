/** Connects the tools for work in the background with their cards. */

import type { ToolCard } from "../../index.js";
import { loadAddon } from "../host/native.ts";
import type { ToolRenderContext } from "../host/pi.ts";
import { asJson, contentText } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { painted, plainHead } from "./painted.ts";
import type { Renderers } from "./render.ts";

/** Shared by both renderers of a card; pi draws the call again when the result has come. */
type Shared = Partial<Pick<ToolCard, "details" | "text" | "isOver">>;

/** The renderers of the tool with this name. */
export function sessionToolRenderers(tool: string): Renderers {
	const drawn = (args: unknown, context: ToolRenderContext) => {
		const { details, text = "", isOver = false } = context.state as Shared;
		return loadAddon().native?.toolCard({
			...{ tool, text, isOver, arguments: asJson(args), ...(details !== undefined && { details }) },
			...{ hasStarted: context.executionStarted, isError: context.isError, isExpanded: context.expanded },
		});
	};
	return {
		renderCall(args, theme, context) {
			return component(theme, (pen) => painted(drawn(args, context)?.head, plainHead(tool, context), context, pen));
		},
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const text = contentText(result);
			Object.assign(context.state, { details: asJson(result.details), text, isOver: !context.isPartial });
			return component(theme, (pen) => painted(drawn(context.args, context)?.body, text, context, pen));
		},
	};
}
