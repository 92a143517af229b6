/**
 * Shows questions in pi's terminal: as lines above the editor, and one of them as an overlay while the user is not
 * typing.
 */

import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { isKeyRelease, type OverlayHandle, type TUI } from "@earendil-works/pi-tui";
import type { Answer } from "../../native.js";
import { guardedInterval, reportFailure } from "../host/guard.ts";
import { keyName } from "../ui/keys.ts";
import type { Pen } from "../ui/pen.ts";
import { component } from "../ui/pen.ts";
import { type QuestionOverlay, questionOverlay } from "./overlay.ts";
import type { Presenter, Waiting } from "./questions.ts";
import { isForConversation, questionLine } from "./questions.ts";

/** The key that opens the oldest question while pi's editor has the keyboard. */
export const SHORTCUT = "alt+a";

const WIDGET = "subagents-questions";
const MAX_LINES = 3;
/** The time without a key after which a question opens by itself, and the interval of this check while a question waits. */
const QUIET_MS = 2_000;
const CHECK_EVERY_MS = 200;

/** Matches terminal input that is not a key: mouse events, window focus, and answers to pi's own queries. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
const REPORT = /^\u001b(?:\[(?:<|M|[IO]$|\?|[\d;]+[cnRt]$)|\]|P|_)/;

interface Shown {
	asked: Waiting;
	overlay?: QuestionOverlay;
	handle?: OverlayHandle;
	close?: () => void;
}

export function terminalQuestions(ui: ExtensionUIContext): Presenter {
	let waiting: readonly Waiting[] = [];
	/** pi's terminal, known while our lines are on the screen. */
	let screen: TUI | undefined;
	let shown: Shown | undefined;
	/** The questions that the user has seen and postponed. They do not open by themselves again. */
	const postponed = new Set<number>();
	let lastKey = performance.now();

	/**
	 * Receives every key before the focused component. If the key is not for the open question, closes the question, so that
	 * the editor gets the key.
	 */
	function noteKey(data: string): undefined {
		if (isKeyRelease(data) || REPORT.test(data)) return;
		lastKey = performance.now();
		const { overlay, asked } = shown ?? {};
		if (!overlay?.focused || !asked || overlay.takes(data)) return;
		if (!overlay.isNew()) postponed.add(asked.id);
		hide();
	}

	function openWhenQuiet(): void {
		const next = waiting.find((asked) => !isForConversation(asked) && !postponed.has(asked.id));
		if (!next || shown || !isEditorFree()) return;
		if (performance.now() - Math.max(lastKey, next.since) >= QUIET_MS) show(next, false);
	}

	function isEditorFree(): boolean {
		if (ui.getEditorText() !== "" || !screen) return false;
		// Every pi has this method, but no type declares it.
		const { getFocusedComponent } = screen as { getFocusedComponent?(): object | null };
		const focused = getFocusedComponent?.call(screen);
		return focused ? "getText" in focused && "setText" in focused : !screen.hasOverlay();
	}

	function show(asked: Waiting, byHand: boolean): void {
		const now: Shown = { asked };
		shown = now;
		const open: Parameters<typeof ui.custom<undefined>>[0] = (tui, theme, keybindings, close) => {
			now.close = () => close(undefined);
			const done = (answer?: Answer) => answered(asked, answer);
			now.overlay = questionOverlay({ tui, theme, keybindings, asked, byHand, done });
			return now.overlay;
		};
		const onHandle = (handle: OverlayHandle) => {
			now.handle = handle;
			if (shown !== now) removeOverlay(now);
		};
		const overlayOptions = { anchor: "center", width: "100%" } as const;
		// A question that fails to open stays a line.
		ui.custom(open, { overlay: true, overlayOptions, onHandle }).catch(() => {
			postponed.add(asked.id);
			if (shown === now) shown = undefined;
		});
	}

	function hide(): void {
		const hidden = shown;
		shown = undefined;
		if (hidden) removeOverlay(hidden);
	}

	function answered(asked: Waiting, answer?: Answer): void {
		hide();
		if (answer) asked.settle(answer);
		else reportFailure("a question", write(asked));
	}

	/** Asks for text of any length in pi's own editor, which only the user can close. */
	async function write({ id, title, prefill, settle }: Waiting): Promise<void> {
		postponed.add(id);
		const value = await ui.editor(title, prefill).catch(() => undefined);
		settle(value === undefined ? {} : { value });
	}

	function drawLines(): void {
		if (waiting.length === 0) {
			if (screen) ui.setWidget(WIDGET, undefined);
			screen = undefined;
			return;
		}
		const seen = waiting.slice(0, waiting.length > MAX_LINES ? MAX_LINES - 1 : MAX_LINES);
		const more = waiting.length - seen.length;
		const lines = (pen: Pen) =>
			seen.map((asked, index) => {
				const hint = index === 0 ? `${keyName(SHORTCUT)} answers` : "";
				return questionLine(asked, pen, hint);
			});
		ui.setWidget(WIDGET, (tui, theme) => {
			screen = tui;
			const others = (pen: Pen) => (more > 0 ? [pen.fg("muted", ` +${more} more questions`)] : []);
			return component(theme, (pen) => [...pen.indented(1, lines), ...others(pen)]);
		});
	}

	const release = ui.onTerminalInput(noteKey);
	let clock: NodeJS.Timeout | undefined;

	function watch(): void {
		if (waiting.length > 0) {
			clock ??= guardedInterval("opening a question", openWhenQuiet, CHECK_EVERY_MS);
			return;
		}
		clearInterval(clock);
		clock = undefined;
	}

	return {
		update(now) {
			waiting = now;
			watch();
			if (shown && !now.includes(shown.asked)) {
				hide();
				// The next question must not open at once, because the keys that follow were meant for this one.
				lastKey = performance.now();
			}
			drawLines();
		},
		open(id) {
			const asked = waiting.find((other) => other.id === id);
			if (!asked) return;
			hide();
			show(asked, true);
		},
		close() {
			release();
			hide();
			if (waiting.length > 0) ui.setWidget(WIDGET, undefined);
			waiting = [];
			watch();
		},
	};
}

/**
 * Removes an overlay. pi 0.87.1 closes the topmost overlay, so an overlay below another one is removed through its
 * handle.
 */
function removeOverlay({ handle, close }: Shown): void {
	if (handle?.isFocused()) close?.();
	else handle?.hide();
}
