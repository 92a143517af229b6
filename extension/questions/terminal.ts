/** Questions in pi's terminal: lines above the editor, and one of them over the screen when nobody is typing. */

import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { isKeyRelease, type OverlayHandle, type TUI } from "@earendil-works/pi-tui";
import type { Answer } from "../../index.js";
import { guardedInterval, unwaited } from "../host/guard.ts";
import { component } from "../ui/component.ts";
import { keyName } from "../ui/key-text.ts";
import type { Pen } from "../ui/pen.ts";
import { type Asked, questionLine } from "./asked.ts";
import { QuestionOverlay } from "./overlay.ts";
import type { Presenter, Waiting } from "./questions.ts";

/** What opens the question that waits longest, wherever pi's editor has the keys. */
export const SHORTCUT = "alt+a";

const WIDGET = "subagents-questions";
const MOST_LINES = 3;
/** A question opens by itself when no key has come for so long; this is looked at so often. */
const QUIET_MS = 2_000;
const LOOK_EVERY_MS = 200;

/** What a terminal sends without a key: the mouse, the focus of its window, answers to what pi has asked it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how they begin
const REPORT = /^\u001b(?:\[(?:<|M|[IO]$|\?|[\d;]+[cnRt]$)|\]|P|_)/;

interface Shown {
	asked: Waiting;
	overlay?: QuestionOverlay;
	handle?: OverlayHandle;
	close?: () => void;
}

export class TerminalQuestions implements Presenter {
	private readonly ui: ExtensionUIContext;
	private readonly labelOf: (runId: string) => string | undefined;
	private readonly release: () => void;
	private readonly clock: NodeJS.Timeout;
	private waiting: readonly Waiting[] = [];
	/** Where pi draws, known while there are lines of ours. */
	private tui: TUI | undefined;
	private shown: Shown | undefined;
	/** Questions that somebody has looked at and put off; they do not open by themselves again. */
	private readonly putOff = new Set<number>();
	private lastKey = performance.now();

	constructor(ui: ExtensionUIContext, labelOf: (runId: string) => string | undefined) {
		this.ui = ui;
		this.labelOf = labelOf;
		this.release = ui.onTerminalInput((data) => this.heard(data));
		this.clock = guardedInterval("opening a question", () => this.look(), LOOK_EVERY_MS);
	}

	update(waiting: readonly Waiting[]): void {
		this.waiting = waiting;
		if (this.shown && !waiting.includes(this.shown.asked)) this.hide();
		this.drawLines();
	}

	open(id: number): void {
		const asked = this.waiting.find((other) => other.id === id);
		if (!asked) return;
		this.hide();
		this.show(asked, true);
	}

	close(): void {
		this.release();
		clearInterval(this.clock);
		this.hide();
		if (this.waiting.length > 0) this.ui.setWidget(WIDGET, undefined);
		this.waiting = [];
	}

	/** Every key on its way to whoever has the focus; what is put away here gets out of the way of this one. */
	private heard(data: string): undefined {
		if (isKeyRelease(data) || REPORT.test(data)) return;
		this.lastKey = performance.now();
		const { overlay, asked } = this.shown ?? {};
		if (!overlay?.focused || !asked || overlay.takes(data)) return;
		if (!overlay.isNew()) this.putOff.add(asked.id);
		this.hide();
	}

	private look(): void {
		const next = this.waiting.find(({ id }) => !this.putOff.has(id));
		if (!next || this.shown || !this.isEditorFree()) return;
		if (performance.now() - Math.max(this.lastKey, next.since) >= QUIET_MS) this.show(next, false);
	}

	private isEditorFree(): boolean {
		if (this.ui.getEditorText() !== "" || !this.tui) return false;
		// Every pi has it, none promises it.
		const { getFocusedComponent } = this.tui as { getFocusedComponent?(): object | null };
		const focused = getFocusedComponent?.call(this.tui);
		return focused ? "getText" in focused && "setText" in focused : !this.tui.hasOverlay();
	}

	private show(asked: Waiting, byHand: boolean): void {
		const shown: Shown = { asked };
		this.shown = shown;
		const label = this.labelOf(asked.runId);
		const open: Parameters<typeof this.ui.custom<undefined>>[0] = (tui, theme, keybindings, close) => {
			shown.close = () => close(undefined);
			const done = (answer?: Answer) => this.answered(asked, answer);
			shown.overlay = new QuestionOverlay({ tui, theme, keybindings, asked, label, byHand, done });
			return shown.overlay;
		};
		const onHandle = (handle: OverlayHandle) => {
			shown.handle = handle;
			if (this.shown !== shown) takeAway(shown);
		};
		const overlayOptions = { anchor: "center", width: "100%" } as const;
		// What fails to open stays a line.
		this.ui.custom(open, { overlay: true, overlayOptions, onHandle }).catch(() => {
			this.putOff.add(asked.id);
			if (this.shown === shown) this.shown = undefined;
		});
	}

	private hide(): void {
		const { shown } = this;
		this.shown = undefined;
		if (shown) takeAway(shown);
	}

	private answered(asked: Waiting, answer?: Answer): void {
		this.hide();
		if (answer) asked.settle(answer);
		else unwaited("a question", this.write(asked));
	}

	/** Text of any length is written in pi's own editor, which nothing closes but the person. */
	private async write({ id, title, prefill, settle }: Waiting): Promise<void> {
		this.putOff.add(id);
		const value = await this.ui.editor(title, prefill).catch(() => undefined);
		settle(value === undefined ? {} : { value });
	}

	private drawLines(): void {
		const { waiting } = this;
		if (waiting.length === 0) {
			if (this.tui) this.ui.setWidget(WIDGET, undefined);
			this.tui = undefined;
			return;
		}
		const shown = waiting.slice(0, waiting.length > MOST_LINES ? MOST_LINES - 1 : MOST_LINES);
		const more = waiting.length - shown.length;
		const labels = () => shown.map(({ runId }) => this.labelOf(runId));
		const lines = (pen: Pen) =>
			labels().map((label, index) => {
				const hint = index === 0 ? `${keyName(SHORTCUT)} answers` : "";
				return questionLine(shown[index] as Asked, pen, label, hint);
			});
		this.ui.setWidget(WIDGET, (tui, theme) => {
			this.tui = tui;
			const layout = (pen: Pen) => [
				...pen.indented(1, lines),
				...(more > 0 ? [pen.fg("dim", ` +${more} more questions`)] : []),
			];
			// After a reload the names of the runs are known a little later than their questions.
			return component(theme, layout, () => labels().join("\n"));
		});
	}
}

/** pi 0.87.1 closes whichever overlay is on top, so that one below others is taken away by its handle. */
function takeAway({ handle, close }: Shown): void {
	if (handle?.isFocused()) close?.();
	else handle?.hide();
}
