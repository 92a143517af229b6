/** The runs this load of the extension has started, so that none outlives it. */

import type { RunHandle } from "../index.js";

/** How long a shutdown waits for aborted children: the default grace period of 5 s, and a little to reap them. */
const SHUTDOWN_WAIT_MS = 7_000;

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

	/** Aborts every live run, synchronously. */
	abortAll(reason: string): void {
		for (const handle of this.live) handle.abort(reason);
	}

	/** Aborts every live run and waits, bounded, until the children are gone. */
	async close(reason: string): Promise<void> {
		const ending = [...this.live].map((handle) => handle.result());
		this.abortAll(reason);
		if (ending.length === 0) return;
		let timer: NodeJS.Timeout | undefined;
		const bound = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, SHUTDOWN_WAIT_MS);
		});
		await Promise.race([Promise.allSettled(ending), bound]);
		clearTimeout(timer);
	}
}
