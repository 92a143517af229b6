/** Connects pi's tool renderers with the cards: those of calls that wait for runs, and those of calls about other runs. */

import type { CallCard, Row } from "../../index.js";
import { guardedTimeout } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import type { ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { asJson, contentText } from "../host/stored.ts";
import { type Asked, questionLine } from "../questions/asked.ts";
import { component } from "../ui/component.ts";
import { paint } from "../ui/paint.ts";
import type { Pen } from "../ui/pen.ts";

export type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;

/** Questions that wait, one line each; the others stand above the editor. */
const QUESTIONS = 3;
/** What stands below the first line of a card. */
const INDENT = 2;
const SECOND_MS = 1_000;

/** What both renderers of a card share: the card, and what it was told last. */
interface Shared {
	card?: CallCard;
	args?: unknown;
	details?: unknown;
	isOver?: boolean;
	tick?: NodeJS.Timeout;
}

/** Cards that are to be drawn again, so that a session's end can stop them. */
const ticking = new Set<Shared>();

/** The renderers of the tool with this name. */
export function renderers(tool: string, asked: (callId: string) => readonly Asked[] = () => []): Renderers {
	return {
		/** Draws the upper part of the card: who works on what. */
		renderCall(args, theme, context) {
			const card = cardOf(tool, args, context);
			if (context.isPartial && context.executionStarted) card?.start(Date.now());
			const waiting = () => asked(context.toolCallId).slice(0, QUESTIONS);
			const questions = (pen: Pen) => waiting().map((question) => questionLine(question, pen));
			const plain = context.isError ? `✗ ${tool}` : tool;
			const draw = (pen: Pen) => [
				...painted(card?.head(extentOf(context)), plain, pen),
				...pen.indented(INDENT, questions),
			];
			return component(theme, draw, () => `${shownSecond(context)} ${waiting().map(({ id }) => id)}`, context);
		},
		/** Draws the lower part: how it goes, and what came of it. */
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const text = contentText(result);
			const card = cardOf(tool, context.args, context);
			if (card) tell(card, result.details, text, context);
			const draw = (pen: Pen) => painted(card?.body(extentOf(context)), text, pen);
			return component(theme, draw, () => shownSecond(context), context);
		},
	};
}

/** The lines of a drawing; without the addon there is none, and the text is drawn that is there. */
function painted(drawing: readonly Row[] | undefined, text: string, pen: Pen): string[] {
	return drawing ? paint(drawing, pen) : pen.indented(INDENT, (inner) => inner.paragraph(text, "toolOutput"));
}

/** The card that `context` draws, with the arguments that have come. */
function cardOf(tool: string, args: unknown, context: ToolRenderContext): CallCard | undefined {
	const state = context.state as Shared;
	const { native } = loadAddon();
	if (!state.card && native) state.card = new native.CallCard(tool);
	if (state.args !== args) state.card?.ask(asJson(args));
	state.args = args;
	return state.card;
}

/** Tells a card its update or its result. One is drawn many times and counts once. */
function tell(card: CallCard, details: unknown, text: string, context: ToolRenderContext): void {
	const state = context.state as Shared;
	if (context.isPartial) {
		if (details !== state.details || details === undefined) card.update(asJson(details), text, Date.now());
	} else if (!state.isOver) {
		card.finish(asJson(details), text, context.isError, Date.now());
		state.isOver = true;
		stopClock(state);
	}
	state.details = details;
}

function extentOf({ expanded }: ToolRenderContext) {
	const { rows } = process.stdout;
	return { isExpanded: expanded, nowMs: Date.now(), ...(rows !== undefined && { rows }) };
}

/**
 * The second that a card shows. Asked for whenever it is drawn: only then, and while its run goes on, it is drawn again
 * when the next second begins. So the clock of a card that pi has dropped ends by itself.
 */
function shownSecond(context: ToolRenderContext): number {
	const state = context.state as Shared;
	const elapsed = state.card?.elapsedMs(Date.now()) ?? 0;
	if (state.card?.isRunning) {
		clearTimeout(state.tick);
		const redraw = () => {
			ticking.delete(state);
			context.invalidate();
		};
		state.tick = guardedTimeout("a card's clock", redraw, SECOND_MS - (elapsed % SECOND_MS));
		ticking.add(state);
	}
	return Math.floor(elapsed / SECOND_MS);
}

function stopClock(state: Shared): void {
	clearTimeout(state.tick);
	delete state.tick;
	ticking.delete(state);
}

/** Stops the clocks of cards that will see no result any more. */
export function stopClocks(): void {
	for (const state of ticking) stopClock(state);
}
