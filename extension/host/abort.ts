/** Adapts an `AbortSignal` to a run. The addon takes none: its own support replaces `onabort` and misses old aborts. */

import { contained } from "./guard.ts";

/** Aborts `handle` when `signal` fires, or at once when it already has. Returns what removes the listener. */
export function forwardAbort(signal: AbortSignal | undefined, handle: { abort(reason?: string): void }): () => void {
	if (!signal) return () => {};
	const abort = () => contained("an abort", () => handle.abort(), undefined);
	if (signal.aborted) abort();
	else signal.addEventListener("abort", abort, { once: true });
	return () => signal.removeEventListener("abort", abort);
}
