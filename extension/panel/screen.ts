/** `/subagents` in a terminal: a full screen with the session's live runs and a stack of views. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type KeybindingsManager, type TUI, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { BackgroundSession, HostCallbacks } from "../../index.js";
import type { Background } from "../background/registry.ts";
import { guardedInterval } from "../host/guard.ts";
import type { Screen } from "../host/pi.ts";
import { cached } from "../ui/component.ts";
import { type AnyTheme, Pen } from "../ui/pen.ts";
import { cell, widthOf } from "../ui/text.ts";
import { runActions } from "./actions.ts";
import { type Hint, panelFoot } from "./foot.ts";
import { type Action, type PanelKeys, panelKeys } from "./keys.ts";
import { listView } from "./list.ts";
import { repeated } from "./repeated.ts";
import { reportView } from "./report.ts";
import { panelRuns } from "./runs.ts";
import { transcriptView } from "./transcript.ts";
import { type PanelHost, rule, type View } from "./view.ts";

/** Covers the whole screen. pi redraws its own lines when the panel closes. */
const WHOLE_SCREEN = { width: "100%", maxHeight: "100%", anchor: "top-left" } as const;
/** Draws at most ten times a second, and once a second for the clocks. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1_000;
/** Screens with fewer rows than this show only the view. */
const RULES_FROM_ROWS = 16;
/** The height to use if the terminal does not report one. */
const ROWS = 24;
/** The maximum number of lines that one turn of the mouse wheel scrolls. */
const WHEEL_LINES = 10;
/** Wide enough for `pageDown ctrl+f space`. */
const KEY_COLUMNS = 22;
/** pi's own lines begin in the second column. */
const MARGIN = " ";

/**
 * Opens the panel, with the transcript of the run `opened` if given. Resolves when the panel has closed: by the user,
 * or because its session or pi ends.
 */
export async function openPanel(
	context: ExtensionContext,
	background: Background,
	callbacks: HostCallbacks = {},
	answer?: (runId: string) => void,
	opened?: string,
): Promise<void> {
	const { session } = background;
	if (!session) {
		context.ui.notify(
			"Background runs are not available in this session. `/subagents doctor` shows the reason",
			"warning",
		);
		return;
	}
	const closed = Promise.withResolvers<void>();
	const setting = { background, session, callbacks, answer, opened, onClosed: closed.resolve };
	const shown = context.ui.custom(
		(terminal, theme, keys, done) => panel(setting, terminal, theme, keys, () => done(undefined)),
		{ overlay: true, overlayOptions: WHOLE_SCREEN },
	);
	// pi never resolves its own promise when it replaces its extensions, and it would wait for this command before the
	// next one.
	await Promise.race([shown, closed.promise]);
}

interface Setting {
	background: Background;
	session: BackgroundSession;
	callbacks: HostCallbacks;
	/** Opens the question of a run. */
	answer: ((runId: string) => void) | undefined;
	/** The key of the run whose transcript opens as soon as the run is known. */
	opened: string | undefined;
	/** Called when the panel has left the screen, for any reason. */
	onClosed(): void;
}

/** Returns the panel as a component for pi. `done` removes it from the screen. */
function panel(
	{ background, session, callbacks, answer, opened, onClosed }: Setting,
	terminal: TUI,
	theme: AnyTheme,
	keybindings: KeybindingsManager,
	done: () => void,
): Screen {
	/**
	 * The numbers of content changes and theme changes so far. Lines are laid out again only if one of them has changed.
	 */
	let changes = 0;
	let themes = 0;
	const penFor = cached((columns: number, _themes: number) => new Pen(theme, Math.max(1, columns - 2 * MARGIN.length)));
	const linesFor = cached((pen: Pen, rows: number, _changes: number) => layout(pen, rows));
	let isDisposed = false;
	const views: View[] = [];

	const draw = () => {
		changes += 1;
		terminal.requestRender();
	};
	const drawing = repeated(draw, DRAW_EVERY_MS);
	const open = (view: View) => {
		if (isDisposed) {
			view.dispose?.();
			return;
		}
		foot.clear();
		views.push(view);
		drawing.want();
	};
	const dispose = () => {
		if (isDisposed) return;
		isDisposed = true;
		unsubscribe();
		clearInterval(tick);
		drawing.dispose();
		for (const view of views) view.dispose?.();
		onClosed();
	};
	const close = () => {
		dispose();
		done();
	};
	const refresh = () => {
		for (const view of views) view.refresh?.();
	};
	const runsChanged = () => {
		// The user has left the session that the listed runs belong to.
		if (background.session !== session) {
			close();
			return;
		}
		runs.join();
		openRequested();
		refresh();
	};
	const openRequested = () => {
		const run = background.runs.find(({ key }) => key === requested);
		if (!run) return;
		requested = undefined;
		open(transcriptView(host, actions, run));
	};
	const press = (action: Action | undefined) => {
		if (foot.press(action) || action === undefined || views.at(-1)?.press(action)) return;
		if (action === "back" || (action === "left" && views.length > 1)) {
			views.pop()?.dispose?.();
			if (views.length === 0) close();
		} else if (action === "keys") open(reportView(host, { title: "Keys", draw: (pen) => keyLines(keys, pen) }));
	};
	/** Returns exactly `rows` lines: head, body, foot. With one row, only the head is shown. */
	const layout = (pen: Pen, rows: number): string[] => {
		const view = views.at(-1);
		if (!view) return [];
		const edges = rows < RULES_FROM_ROWS ? [] : [rule("", pen)];
		const room = Math.max(0, rows - 2 - 2 * edges.length);
		const body = view.body(pen, room).slice(0, room);
		const blank = Array.from({ length: room - body.length }, () => "");
		const hints: Hint[] = [...view.hints(), ["keys", "keys"], ["back", views.length === 1 ? "close" : "back"]];
		const last = foot.line(hints, pen, screen.focused);
		const lines = [view.head(pen), ...edges, ...body, ...blank, ...edges, last].slice(0, Math.max(1, rows));
		return lines.map((line) => MARGIN + line);
	};

	const keys = panelKeys(keybindings);
	const foot = panelFoot(keys, drawing.want);
	const runs = panelRuns(background, session, drawing.want);
	const host: PanelHost = { foot, session, runs, open, changed: drawing.want };
	const actions = runActions(host, callbacks, answer);
	let requested = opened;
	views.push(listView(host, actions));
	openRequested();
	const unsubscribe = background.subscribe(runsChanged);
	const onTick = () => {
		refresh();
		drawing.want();
	};
	const tick = guardedInterval("the clock of the panel", onTick, TICK_MS);
	runs.ask(true);

	const screen: Screen = {
		/** Set by pi: true if the panel has the keyboard, and not a dialog that opened later. */
		focused: false,
		render(columns) {
			// A dialog is drawn below an overlay that covers the screen, and would be hidden.
			if (!screen.focused) return [];
			const rows = terminal.terminal?.rows ?? process.stdout.rows ?? ROWS;
			return linesFor(penFor(columns, themes), rows, changes);
		},
		invalidate() {
			themes += 1;
		},
		handleInput(data) {
			if (!foot.type(data)) press(keys.actionOf(data));
			draw();
		},
		handleMouse({ type, wheelDelta = 0 }) {
			const lines = type === "wheel" ? Math.min(WHEEL_LINES, Math.abs(Math.round(wheelDelta))) : 0;
			for (let line = 0; line < lines; line++) views.at(-1)?.press(wheelDelta < 0 ? "up" : "down");
			changes += lines;
			return { handled: true };
		},
		dispose,
	};
	return screen;
}

/** Returns the lines with the keys and their effects. */
function keyLines(keys: PanelKeys, pen: Pen): string[] {
	return keys.table().flatMap(([names, description]) => {
		const lead = cell(names, Math.min(KEY_COLUMNS, Math.floor(pen.width / 2)));
		const lines = wrapTextWithAnsi(pen.fg("toolOutput", description), Math.max(1, pen.width - widthOf(lead) - 1));
		return lines.map((line, index) => `${index === 0 ? pen.fg("accent", lead) : " ".repeat(widthOf(lead))} ${line}`);
	});
}
