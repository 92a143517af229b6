/** Connects pi's renderers with the cards of tool calls and with the messages that announce results. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Box, type KeyId, Spacer, Text } from "@earendil-works/pi-tui";
import type { CallCard, CardExtent } from "../../native.js";
import { guardedTimeout, runGuarded } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import type { RenderedMessage, RenderOptions, ToolDefinition, ToolRenderContext } from "../host/pi.ts";
import { asJson, contentText } from "../host/stored.ts";
import { type Asked, questionLine } from "../questions/questions.ts";
import { keyName, keyText } from "../ui/keys.ts";
import { component, type Pen, Style } from "../ui/pen.ts";

export type Renderers = Pick<ToolDefinition, "renderCall" | "renderResult">;

/** The maximum number of pending questions on a card, one line each. The other questions are shown above the editor. */
const QUESTIONS = 3;
/** The indentation of a card's text below its first line. */
const INDENT = 2;
const SECOND_MS = 1_000;

/** The state shared by both renderers of a card: the card and its last input. */
interface Shared {
	card?: CallCard;
	args?: unknown;
	details?: unknown;
	hasEnded?: boolean;
	/** True if this process carries the call out, or did. */
	ranInProcess?: boolean;
	/** True if the upper part was last drawn before there was a result. */
	isHeadEarly?: boolean;
	/** The last value of `Sources.settled` that the card has. */
	settled?: string;
	tick?: NodeJS.Timeout;
}

/** The cards that will be redrawn, so that the end of the session can stop their timers. */
const ticking = new Set<Shared>();

/** The cards of calls that have ended, with the function that redraws them. */
const ended = new Map<Shared, () => void>();

/** The facts outside of a call that its card shows. */
export interface Sources {
	/** The pending questions of a call. */
	asked?(callId: string): readonly Asked[];
	/** Returns true if this process carries out a call. */
	isUnderWay?(callId: string): boolean;
	/** The key that moves waiting calls to the background, if there is one. */
	backgroundKey?(): string | undefined;
	/** The state of each run's changes after commands, as JSON for `CallCard.settle`. */
	settled?(): string;
}

/**
 * Returns the renderers of the tool `tool`. pi's HTML export calls the renderers of every call in a session as if it had
 * begun, and redraws no upper part once there is a result.
 */
export function renderers(tool: string, sources: Sources = {}): Renderers {
	const { asked = () => [], isUnderWay = () => true, backgroundKey = () => undefined, settled = () => "{}" } = sources;
	return {
		/** Draws the upper part of the card: the agents and their tasks. */
		renderCall(args, theme, context) {
			const card = cardOf(tool, args, context);
			const state = context.state as Shared;
			state.isHeadEarly = context.isPartial;
			// pi draws a call first and carries it out then, so this is asked again whenever the card is shown.
			const begin = () => {
				if (!context.isPartial || !context.executionStarted || !isUnderWay(context.toolCallId)) return;
				state.ranInProcess = true;
				card?.start(Date.now());
			};
			begin();
			const waiting = () => asked(context.toolCallId).slice(0, QUESTIONS);
			const questions = (pen: Pen) => waiting().map((question) => questionLine(question, pen));
			const plain = context.isError ? `✗ ${tool}` : tool;
			const head = (pen: Pen) => linesOf(card, "head", extentOf(context), plain, pen);
			const draw = (pen: Pen) => [...head(pen), ...pen.indented(INDENT, questions)];
			const stamp = () => {
				begin();
				return `${card?.isRunning} ${shownSecond(context)} ${waiting().map(({ id }) => id)}`;
			};
			return component(theme, draw, stamp, context);
		},
		/** Draws the lower part of the card: the progress and the results. */
		renderResult(result, _options, theme, context: ToolRenderContext & { args?: unknown }) {
			const text = contentText(result);
			const card = cardOf(tool, context.args, context);
			if (card) updateCard(card, result.details, text, context);
			const { ranInProcess, isHeadEarly } = context.state as Shared;
			const lacksOutcome = !context.isPartial && !ranInProcess && isHeadEarly === true;
			const draw = (pen: Pen) => {
				if (card && !context.isPartial) settleCard(card, settled(), context.state as Shared);
				const extent = extentOf(context, backgroundKey());
				const outcome = lacksOutcome && card ? linesOf(card, "head", extent, "", pen).slice(0, 1) : [];
				return [...outcome, ...linesOf(card, "body", extent, text, pen)];
			};
			if (card && !context.isPartial) ended.set(context.state as Shared, () => context.invalidate());
			return component(theme, draw, () => `${shownSecond(context)} ${settled()}`, context);
		},
	};
}

/** Returns the lines of a part of a card. Without the addon there is no card, and the text is drawn instead. */
function linesOf(
	card: CallCard | undefined,
	part: "head" | "body",
	extent: CardExtent,
	text: string,
	pen: Pen,
): string[] {
	const lines = card && pen.drawn((_native, ...on) => card[part](...on, extent));
	return lines ?? pen.indented(INDENT, (inner) => inner.paragraph(text, "toolOutput"));
}

/** Returns the card for `context`, updated with the arguments received so far. */
function cardOf(tool: string, args: unknown, context: ToolRenderContext): CallCard | undefined {
	const state = context.state as Shared;
	const { native } = loadAddon();
	if (!state.card && native) state.card = new native.CallCard(tool);
	if (state.args !== args) state.card?.ask(asJson(args));
	state.args = args;
	return state.card;
}

/** Passes an update or a result to a card. pi draws the same update many times; it is passed once. */
function updateCard(card: CallCard, details: unknown, text: string, context: ToolRenderContext): void {
	const state = context.state as Shared;
	if (context.isPartial) {
		if (details !== state.details || details === undefined) card.update(asJson(details), text, Date.now());
	} else if (!state.hasEnded) {
		card.finish(asJson(details), text, context.isError, Date.now());
		state.hasEnded = true;
		stopClock(state);
	}
	state.details = details;
}

/** Passes on what commands have done with the changes of runs, if that has changed. */
function settleCard(card: CallCard, settled: string, state: Shared): void {
	if (state.settled !== settled) card.settle(settled);
	state.settled = settled;
}

/** Redraws the cards of the calls that have ended. Call it when `Sources.settled` has changed. */
export function redrawEnded(): void {
	for (const redraw of [...ended.values()]) runGuarded("redrawing a card", redraw);
}

/** `backgroundKey` moves the calls that wait to the background, if a key does. */
function extentOf(context: ToolRenderContext, backgroundKey?: string): CardExtent {
	const { rows } = process.stdout;
	const keys = {
		stopKey: keyText("app.interrupt", context),
		...(backgroundKey && { backgroundKey: keyName(backgroundKey as KeyId) }),
	};
	return { isExpanded: context.expanded, nowMs: Date.now(), ...keys, ...(rows !== undefined && { rows }) };
}

/**
 * Returns the second that a card shows, and schedules the next redraw while the run is live. The timer is set only when
 * the card is drawn, so a card that pi has dropped stops on its own.
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

/** Stops the timers of the cards that will not receive a result any more, and forgets the ended ones. */
export function stopClocks(): void {
	for (const state of ticking) stopClock(state);
	ended.clear();
}

const LABEL = "[subagents]";

/**
 * Registers the renderer. The message type comes from the addon; without the addon, pi draws these messages as plain
 * text.
 */
export function registerAnnouncementRenderer(pi: ExtensionAPI, settled: () => string): void {
	const { native } = loadAddon();
	if (!native) return;
	pi.registerMessageRenderer(native.ANNOUNCEMENT, (message, options: RenderOptions, theme) => {
		const style = new Style(theme);
		// Same box as pi's default for custom messages.
		const box = new Box(options.outputPad ?? 1, 1, (text) => style.bg("customMessageBg", text));
		box.addChild(new Text(style.fg("customMessageLabel", style.bold(LABEL)), 0, 0));
		box.addChild(new Spacer(1));
		const draw = (pen: Pen) => announcementLines(message, options.expanded, pen, settled());
		box.addChild(component(theme, draw, settled, options));
		return box;
	});
}

/**
 * Returns the lines of an announcement. A message that the addon cannot read, for example from another release, is
 * shown as its text.
 */
export function announcementLines(message: RenderedMessage, isExpanded: boolean, pen: Pen, settled?: string): string[] {
	const details = asJson(message.details);
	const lines = pen.drawn((native, ...on) => native.drawAnnouncement(...on, details, isExpanded, settled));
	return lines ?? pen.paragraph(contentText(message), "customMessageText");
}
