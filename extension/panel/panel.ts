/**
 * `/subagents` in a terminal: a full screen of runs. The addon has the panel's state and draws it. This module passes keys,
 * events and answers on, and does the steps that the addon returns.
 */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { Input, type KeybindingsManager, matchesKey, setKeybindings, type TUI } from "@earendil-works/pi-tui";
import type { BackgroundSession, CommandReport, HostCallbacks, PanelStep } from "../../native.js";
import type { Background } from "../background/registry.ts";
import { guardedInterval, guardedTimeout, messageOf, reportFailure } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import type { Screen } from "../host/pi.ts";
import { asJson } from "../host/stored.ts";
import { keyText, panelKeys } from "../ui/keys.ts";
import { type AnyTheme, cached, Pen } from "../ui/pen.ts";
import { clip, plainText, widthOf } from "../ui/text.ts";
import { liveScripts } from "../workflows/workflows.ts";

/** Covers the whole screen. pi redraws its own lines when the panel closes. */
const WHOLE_SCREEN = { width: "100%", maxHeight: "100%", anchor: "top-left" } as const;
/** Draws at most ten times a second, and once a second for the clocks. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1_000;
/** The shortest interval between two reads of a transcript. */
const REST_MS = 400;
/** The height to use if the terminal does not report one. */
const ROWS = 24;
/** The maximum number of lines that one turn of the mouse wheel scrolls. */
const WHEEL_LINES = 10;
/** The maximum length of pasted text, because a user may paste a whole file. */
const MAX_CHARACTERS = 8_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
const PASTE = /^\u001b\[200~([\s\S]*)\u001b\[201~/;

/**
 * Opens the panel, with the transcript of the run `opened` if given. Resolves when the panel has closed: by the user,
 * or because its session or pi ends.
 */
export async function openPanel(
	context: ExtensionContext,
	background: Background,
	callbacks: HostCallbacks = {},
	{ answer, follow }: Actions = {},
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
	const setting = { background, session, callbacks, answer, follow, opened, onClosed: closed.resolve };
	const shown = context.ui.custom(
		(terminal, theme, keys, done) => panel(setting, terminal, theme, keys, () => done(undefined)),
		{ overlay: true, overlayOptions: WHOLE_SCREEN },
	);
	// pi never resolves its own promise when it replaces its extensions, and it would wait for this command before the
	// next one.
	await Promise.race([shown, closed.promise]);
}

/** The actions that the panel leaves to pi. */
interface Actions {
	/** Opens the question of a run. */
	answer?: ((runId: string) => void) | undefined;
	/** Starts and ends the scripts that a report names. */
	follow?: ((report: CommandReport) => void) | undefined;
}

interface Setting extends Actions {
	background: Background;
	session: BackgroundSession;
	callbacks: HostCallbacks;
	/** The key of the run whose transcript opens as soon as the run is known. */
	opened: string | undefined;
	/** Called when the panel has left the screen, for any reason. */
	onClosed(): void;
}

/** Returns the panel as a component for pi. `done` removes it from the screen. */
function panel(
	{ background, session, callbacks, answer, follow, opened, onClosed }: Setting,
	terminal: TUI,
	theme: AnyTheme,
	keybindings: KeybindingsManager,
	done: () => void,
): Screen {
	const { native, problem } = loadAddon();
	if (!native) throw new Error(problem);
	const state = new native.Panel(answer !== undefined, opened);
	const keys = panelKeys(keybindings);
	/** The numbers of content changes and theme changes. Lines are drawn again only if one of them has changed. */
	let changes = 0;
	let themes = 0;
	/** True if runs have changed since they were passed to the addon. */
	let hasNews = true;
	let isDisposed = false;
	/** The field for a message, while the user types. */
	let typing: { label: string; input: Input } | undefined;
	let resting: NodeJS.Timeout | undefined;
	let isDue = false;

	const dispose = () => {
		if (isDisposed) return;
		isDisposed = true;
		unsubscribe();
		clearInterval(tick);
		onClosed();
	};
	const close = () => {
		dispose();
		done();
	};
	/** Does the steps of the addon. */
	const perform = () => {
		for (let next = state.next(); next && !isDisposed; next = state.next()) carryOut(next);
	};
	const carryOut = ({ step, id, text, isAll, entries, tools }: PanelStep) => {
		if (step === "close") close();
		else if (step === "answer") answer?.(text);
		else if (step === "type") type(text);
		else if (step === "command") {
			reply(id, async () => {
				const report = await session.command(text, callbacks, undefined, liveScripts());
				follow?.(report);
				return report;
			});
		} else if (step === "runs") {
			const read = async () => {
				const runs = isAll ? session.runs(true) : session.projectRuns();
				const [listed, workflows] = await Promise.all([runs, session.workflows(isAll)]);
				return { runs: listed, workflows };
			};
			reply(id, read);
		} else {
			const rested = () => {
				state.rested(id);
				perform();
			};
			const read = async () => await session.transcript(text, { entries, tools });
			reply(id, read, () => guardedTimeout("the panel", rested, REST_MS));
		}
	};
	/** Passes the answer to a step on. */
	const reply = (id: number, ask: () => Promise<unknown>, then = () => {}) => {
		const take = (json: string | undefined, problem?: string) => {
			if (isDisposed) return;
			state.answer(id, json, problem, Date.now());
			then();
			perform();
			drawSoon();
		};
		const asked = ask().then(
			(value) => take(asJson(value)),
			(error: unknown) => take(undefined, messageOf(error)),
		);
		reportFailure("the panel", asked);
	};
	const type = (label: string) => {
		// The bundled library uses pi's default keys until this call.
		setKeybindings(keybindings);
		const input = new Input({ prompt: "" });
		input.onEscape = () => {
			typing = undefined;
		};
		input.onSubmit = (text) => {
			typing = undefined;
			state.submit(text);
		};
		typing = { label, input };
	};

	/** Passes the runs on that have changed. */
	const update = () => {
		if (!hasNews) return;
		hasNews = false;
		const unread = background.unread.map(({ key }) => `${key}`);
		state.setRuns(asJson(background.runs), unread, Date.now());
		perform();
	};
	const draw = () => {
		update();
		changes += 1;
		terminal.requestRender();
	};
	const drawSoon = () => {
		isDue = true;
		if (resting || isDisposed) return;
		const rested = () => {
			resting = undefined;
			if (isDue) drawSoon();
		};
		resting = guardedTimeout("the panel", rested, DRAW_EVERY_MS);
		isDue = false;
		draw();
	};
	const penFor = cached((columns: number, _themes: number) => new Pen(theme, columns));
	const linesFor = cached((columns: number, rows: number, themes: number, _changes: number): string[] => {
		const pen = penFor(columns, themes);
		const view = { rows, theme: themes, keys: keys.names(), nowMs: Date.now() };
		const lines = pen.drawn((_native, ...on) => state.draw(...on, view)) ?? [];
		// The addon reads older entries when the user has scrolled to them.
		perform();
		return typing && rows > 1 ? [...lines.slice(0, -1), typed(typing, pen)] : lines;
	});
	const typed = ({ label, input }: NonNullable<typeof typing>, pen: Pen) => {
		const room = Math.max(1, pen.width - 2);
		const lead = clip(label, Math.floor(room / 2));
		input.focused = screen.focused;
		const columns = room - widthOf(lead) - 1;
		const hint = `  ${keyText("tui.input.submit", keybindings)} send  escape cancel`;
		const hasHint = input.getValue() === "" && widthOf(hint) < columns;
		const field = input.render(hasHint ? 1 : columns)[0] ?? "";
		return ` ${pen.fg("accent", lead)} ${field}${hasHint ? pen.fg("muted", hint) : ""}`;
	};

	const unsubscribe = background.subscribe(() => {
		// The user has left the session that the listed runs belong to.
		if (background.session !== session) return close();
		hasNews = true;
		drawSoon();
	});
	const onTick = () => {
		state.tick(Date.now());
		perform();
		drawSoon();
	};
	const tick = guardedInterval("the clock of the panel", onTick, TICK_MS);

	const screen: Screen = {
		/** Set by pi: true if the panel has the keyboard, and not a dialog that opened later. */
		focused: false,
		render(columns) {
			// A dialog is drawn below an overlay that covers the screen, and would be hidden.
			if (!screen.focused) return [];
			return linesFor(columns, terminal.terminal?.rows ?? process.stdout.rows ?? ROWS, themes, changes);
		},
		invalidate() {
			themes += 1;
		},
		handleInput(data) {
			update();
			if (!typing) state.press(keys.actionOf(data));
			// These two keys always leave the text field, regardless of the user's bindings.
			else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) typing = undefined;
			else typing.input.handleInput(data.replace(PASTE, (_, text: string) => pasteOf(text)));
			perform();
			if (!isDisposed) draw();
		},
		handleMouse({ type, wheelDelta = 0 }) {
			const lines = Math.max(-WHEEL_LINES, Math.min(WHEEL_LINES, Math.round(wheelDelta)));
			if (type === "wheel" && lines !== 0) {
				state.scroll(lines);
				changes += 1;
			}
			return { handled: true };
		},
		dispose,
	};
	draw();
	return screen;
}

/** Returns pasted text as one line of safe text. */
function pasteOf(text: string): string {
	return `\u001b[200~${plainText(text.slice(0, MAX_CHARACTERS)).replace(/\s*\n\s*/g, " ")}\u001b[201~`;
}
