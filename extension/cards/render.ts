/** Connects pi's tool renderers with the cards. */

import { runDetailsIn } from "../host/details.ts";
import type { ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { contentText, isObject } from "../host/stored.ts";
import { type Asked, questionLine } from "../questions/asked.ts";
import { component } from "../ui/component.ts";
import { keyText } from "../ui/key-text.ts";
import { limited, paragraph } from "../ui/lines.ts";
import type { Style } from "../ui/style.ts";
import { indented } from "../ui/text.ts";
import { bodyLines as bodyOfOne, headLines as headOfOne } from "./card.ts";
import { type CardInput, expandedRows, INDENT } from "./frame.ts";
import { bodyLines as bodyOfMany, headLines as headOfMany } from "./many.ts";
import { hint } from "./result.ts";
import { type CardState, cardState, noteCall, noteResult, shownSecond } from "./state.ts";
import { plannedTask, plannedTasks } from "./tasks.ts";

type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;
type Mode = CardInput["mode"];

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
	return {
		/** Draws the upper part of the card: who works on what. */
		renderCall(args, theme, context) {
			const state = cardState(context);
			noteCall(state, context);
			const input = inputOf(mode, args, "", context);
			const draw = mode === "single" ? headOfOne : headOfMany;
			const waiting = () => asked(context.toolCallId).slice(0, QUESTIONS);
			const lines = (width: number, style: Style) => {
				const questions = waiting().map((question) => questionLine(question, width - INDENT, style));
				return [...draw(input, state, width, style), ...indented(questions, INDENT)];
			};
			const stamp = () => `${shownSecond(state, context)} ${waiting().map(({ id }) => id)}`;
			return component(theme, lines, stamp);
		},
		/** Draws the lower part: how it goes, and what came of it. */
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const state = cardState(context);
			const text = contentText(result);
			noteResult(state, runDetailsIn(result.details), text, context);
			const input = inputOf(mode, context.args, text, context);
			const draw = !state.details ? foreignLines : mode === "single" ? bodyOfOne : bodyOfMany;
			const lines = (width: number, style: Style) => draw(input, state, width, style);
			return component(theme, lines, () => shownSecond(state, context));
		},
	};
}

/** What pi itself, another extension or another release has left: as it reads. */
function foreignLines(input: CardInput, state: CardState, width: number, style: Style): string[] {
	const room = width - INDENT;
	const lines = paragraph(input.text, room, style, state.failed ? "error" : "toolOutput");
	const more = (rest: number) => hint(`${rest} more lines`, input, room, style);
	return indented(input.expanded ? lines : limited(lines, FOREIGN_LINES, more), INDENT);
}

function inputOf(mode: Mode, args: unknown, text: string, context: ToolRenderContext): CardInput {
	const { tasks, steps } = isObject(args) ? args : {};
	return {
		mode,
		tasks: mode === "single" ? [plannedTask(args)] : plannedTasks(mode === "chain" ? steps : tasks),
		text,
		expanded: context.expanded,
		expandKey: keyText("app.tools.expand", context),
		rows: expandedRows(process.stdout.rows),
	};
}
