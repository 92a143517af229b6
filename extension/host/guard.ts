/**
 * Keeps failures of this package from ending pi, and shows notices. An exception in a component, a key handler, a timer or
 * a listener would end pi, so each of them is called through here. A failure is reported once per session, and the failed
 * part is left out.
 */

import { writeSync } from "node:fs";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { clip, oneLine } from "../ui/text.ts";
import { positionOf } from "./build.ts";

/** The maximum length of a failure in a notice, in characters. */
const MAX_CHARACTERS = 300;

/** The latest session, and the failure that its user has not seen yet. */
let session: ExtensionContext | undefined;
let isReported = false;
let pending: string | undefined;

/**
 * Sets the session whose user sees failures. A new session shows the first failure again. Failures before a session are
 * kept for it.
 */
export function showFailuresIn(context: ExtensionContext | undefined, isNew: boolean): void {
	session = context;
	if (isNew) isReported = pending !== undefined;
	if (pending !== undefined) showPending();
}

/** Records a failure. The user sees it later, because pi may be drawing now. */
export function recordFailure(what: string, error: unknown): void {
	if (isReported) return;
	isReported = true;
	pending = `${failureText(what, error)}. The rest of the extension continues. Please report this`;
	setImmediate(showPending);
}

function showPending(): void {
	if (pending === undefined || !session) return;
	try {
		showNotice(pending, session);
		pending = undefined;
	} catch {
		// That session is closed; the next one shows the failure.
	}
}

/** Returns the line that replaces a part that could not be drawn. */
export function failureLine(what: string, error: unknown, width: number): string {
	return clip(`✗ pi-subagent-native: ${failureText(what, error)}`, width);
}

/** Returns the error and its position on one line. Any value can be thrown. */
export function failureText(what: string, error: unknown): string {
	try {
		const text = `${what} failed: ${error}`.slice(0, MAX_CHARACTERS);
		const position = error instanceof Error && positionOf(error);
		return oneLine(position ? `${text} (${position})` : text);
	} catch {
		return `${what} failed`;
	}
}

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Calls `run`. If it throws or its promise rejects, records the failure and returns `otherwise`. */
export function runGuarded<T>(what: string, run: () => T, otherwise?: Awaited<T>): T | Awaited<T> | undefined {
	const recover = (error: unknown) => {
		recordFailure(what, error);
		return otherwise;
	};
	try {
		const result = run();
		return result instanceof Promise ? (result.catch(recover) as T) : result;
	} catch (error) {
		return recover(error);
	}
}

/** Records the failure of a promise that no caller awaits; Node would end the process for it. */
export function reportFailure(what: string, promise: Promise<unknown>): void {
	promise.catch((error: unknown) => recordFailure(what, error));
}

/** Calls `setInterval` for a function that must not end pi. The timer does not keep pi alive. */
export function guardedInterval(what: string, run: () => void, everyMs: number): NodeJS.Timeout {
	return setInterval(() => runGuarded(what, run), everyMs).unref();
}

/** Calls `setTimeout` in the same way. */
export function guardedTimeout(what: string, run: () => void, afterMs: number): NodeJS.Timeout {
	return setTimeout(() => runGuarded(what, run), afterMs).unref();
}

const STDERR = 2;

/** Shows each notice once: in pi's UI, or else on stderr, which no mode uses for its output. */
export class Notices {
	private readonly shown = new Set<string>();

	announce(notices: readonly string[], context: ExtensionContext): void {
		const fresh = notices.filter((notice) => !this.shown.has(notice));
		if (fresh.length === 0) return;
		for (const notice of fresh) this.shown.add(notice);
		showNotice(fresh.join("\n"), context);
	}
}

/** Shows a notice, even if it was shown before. */
export function showNotice(notice: string, context: ExtensionContext): void {
	const text = `pi-subagent-native: ${notice}`;
	if (context.hasUI) context.ui.notify(text, "warning");
	else printError(text);
}

function printError(text: string): void {
	try {
		writeSync(STDERR, `${text}\n`);
	} catch {
		// stderr is closed, which is no reason to end pi.
	}
}

/**
 * Prints a text when pi's process exits, because pi has given the terminal back by then. Lines are wrapped between
 * words; the terminal itself would break them in the middle of a command.
 */
export function printAtExit(text: string): void {
	process.once("exit", () => printError(wrapTextWithAnsi(text, process.stderr.columns || text.length).join("\n")));
}
