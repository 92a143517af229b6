/**
 * Nothing of ours ends pi. An exception in a component, a key handler, a timer or a listener would; each of them is called
 * through here. A failure is noted once per session, and what failed is left out.
 */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { clip, oneLine } from "../ui/text.ts";
import { placeOf } from "./build.ts";
import { say } from "./notices.ts";

/** Characters of a failure in a notice. */
const MAX_WORDS = 300;

/** The session that was heard of last, and what it is still to be told. */
let session: ExtensionContext | undefined;
let isTold = false;
let untold: string | undefined;

/** Says whose user hears of failures from now on; one that begins hears of the first again. Until then they are kept. */
export function tellFailuresTo(context: ExtensionContext | undefined, isNew: boolean): void {
	session = context;
	if (isNew) isTold = untold !== undefined;
	if (untold !== undefined) tell();
}

/** Notes a failure. The user hears of it later than now: pi may be drawing. */
export function failed(what: string, error: unknown): void {
	if (isTold) return;
	isTold = true;
	untold = `${failure(what, error)}. Everything else goes on; please report this`;
	setImmediate(tell);
}

function tell(): void {
	if (untold === undefined || !session) return;
	try {
		say(untold, session);
		untold = undefined;
	} catch {
		// That session is closed: the next one hears of it.
	}
}

/** The line that stands where something could not be drawn. */
export function failureLine(what: string, error: unknown, width: number): string {
	return clip(`✗ pi-subagent-native: ${failure(what, error)}`, width);
}

/** What went wrong and where, on one line; anything can be thrown. */
export function failure(what: string, error: unknown): string {
	try {
		const words = `${what} failed: ${error}`.slice(0, MAX_WORDS);
		const place = error instanceof Error && placeOf(error);
		return oneLine(place ? `${words} (${place})` : words);
	} catch {
		return `${what} failed`;
	}
}

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Calls `run`. Where it fails, or its promise does, that is noted and the result is `otherwise`. */
export function contained<T>(what: string, run: () => T, otherwise?: Awaited<T>): T | Awaited<T> | undefined {
	const recover = (error: unknown) => {
		failed(what, error);
		return otherwise;
	};
	try {
		const result = run();
		return result instanceof Promise ? (result.catch(recover) as T) : result;
	} catch (error) {
		return recover(error);
	}
}

/** Notes it when a promise fails that nobody waits for: Node ends a process for that. */
export function unwaited(what: string, promise: Promise<unknown>): void {
	promise.catch((error: unknown) => failed(what, error));
}

/** `setInterval` for what must not end pi, and does not keep it alive. */
export function guardedInterval(what: string, run: () => void, everyMs: number): NodeJS.Timeout {
	return setInterval(() => contained(what, run), everyMs).unref();
}

/** `setTimeout` for the same. */
export function guardedTimeout(what: string, run: () => void, afterMs: number): NodeJS.Timeout {
	return setTimeout(() => contained(what, run), afterMs).unref();
}
