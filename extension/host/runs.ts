/** The runs that calls wait for, so that none outlives its session. They stay through `/reload`, as this module does. */

import type { RunHandle, ToolResult } from "../../index.js";

/** The sessions of those that are live. */
const live = new Map<RunHandle, string>();

/** Keeps `handle` until its run is over. */
export async function settled(handle: RunHandle, session: string): Promise<ToolResult> {
	live.set(handle, session);
	try {
		return await handle.result();
	} finally {
		live.delete(handle);
	}
}

/** Ends the runs of a session, or all, because pi goes on without them, and waits until the children are gone. */
export async function closeRuns(session?: string): Promise<void> {
	const ending = [...live].filter(([, of]) => session === undefined || of === session);
	await Promise.allSettled(ending.map(([handle]) => handle.close()));
}
