/**
 * Tracks the runs that calls wait for, so that no run outlives its session. The map survives `/reload`, because this
 * module is not evaluated again.
 */

import type { RunHandle, ToolResult } from "../../index.js";

/** The session of each live run. */
const live = new Map<RunHandle, string>();

/** Keeps `handle` until its run has ended. */
export async function settled(handle: RunHandle, session: string): Promise<ToolResult> {
	live.set(handle, session);
	try {
		return await handle.result();
	} finally {
		live.delete(handle);
	}
}

/** Ends the runs of one session, or of all sessions, and waits until their children have exited. */
export async function closeRuns(session?: string): Promise<void> {
	const ending = [...live].filter(([, of]) => session === undefined || of === session);
	await Promise.allSettled(ending.map(([handle]) => handle.close()));
}
