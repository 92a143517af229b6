/** The runs this load of the extension has started, so that none outlives it. */

import type { RunHandle } from "../index.js";

export class Runs {
	private readonly live = new Set<RunHandle>();

	/** Keeps `handle` until its run is over. */
	async settle<T>(handle: RunHandle, result: Promise<T>): Promise<T> {
		this.live.add(handle);
		try {
			return await result;
		} finally {
			this.live.delete(handle);
		}
	}

	/** Ends every live run because pi is going, and waits until the children are gone. */
	async close(): Promise<void> {
		await Promise.allSettled([...this.live].map((handle) => handle.close()));
	}
}
