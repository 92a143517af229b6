/** Connects pi's tool renderers with the cards. */

import { runDetailsIn } from "../host/details.ts";
import type { ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { contentText } from "../host/stored.ts";
import { type Asked, questionLine } from "../questions/asked.ts";
import { component } from "../ui/component.ts";
import { keyText } from "../ui/key-text.ts";
import { limited, type Pen } from "../ui/pen.ts";
import { bodyLines, type Call, type Card, cardOf, headLines } from "./card.ts";
import { hint, INDENT } from "./frame.ts";
import { noteCall, noteResult, shownSecond } from "./state.ts";
import { type Mode, planOf } from "./tasks.ts";

export type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;

/** Questions that wait, one line each; the others stand above the editor. */
const QUESTIONS = 3;
/** Lines of a result that is not ours, collapsed. */
const FOREIGN_LINES = 10;

const MODES: Readonly<Record<string, Mode>> = {
	subagent: "single",
	subagent_parallel: "parallel",
	subagent_chain: "chain",
};

/** The renderers of the tool with this name. */
export function renderers(tool: string, asked: (callId: string) => readonly Asked[] = () => []): Renderers {
	const mode = MODES[tool] ?? "single";
	const callOf = (args: unknown, text: string, context: ToolRenderContext): Call => ({
		...{ mode, plan: planOf(mode, args), text },
		...{ expanded: context.expanded, expandKey: keyText("app.tools.expand", context) },
	});
	return {
		/** Draws the upper part of the card: who works on what. */
		renderCall(args, theme, context) {
			const state = noteCall(context);
			const call = callOf(args, "", context);
			const waiting = () => asked(context.toolCallId).slice(0, QUESTIONS);
			const questions = (pen: Pen) => waiting().map((question) => questionLine(question, pen));
			const draw = (pen: Pen) => [...headLines(cardOf(call, state), pen), ...pen.indented(INDENT, questions)];
			return component(theme, draw, () => `${shownSecond(state, context)} ${waiting().map(({ id }) => id)}`);
		},
		/** Draws the lower part: how it goes, and what came of it. */
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const text = contentText(result);
			const state = noteResult(runDetailsIn(result.details), text, context);
			const call = callOf(context.args, text, context);
			const lines = state.details ? bodyLines : foreignLines;
			const draw = (pen: Pen) => lines(cardOf(call, state), pen);
			return component(theme, draw, () => shownSecond(state, context));
		},
	};
}

/** What pi itself, another extension or another release has left: as it reads. */
function foreignLines(card: Card, pen: Pen): string[] {
	return pen.indented(INDENT, (inner) => {
		const lines = inner.paragraph(card.text, card.failed ? "error" : "toolOutput");
		return card.expanded ? lines : limited(lines, FOREIGN_LINES, (rest) => hint(`${rest} more lines`, card, inner));
	});
}
