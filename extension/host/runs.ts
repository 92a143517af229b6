/** The runs of a session, so that none outlives it. They pass from one call of the factory to the next. */

import type { RunHandle } from "../../index.js";

/** Runs of sessions that are being reloaded, by the session's id. */
const handedOver = new Map<string, Set<RunHandle>>();

export class Runs {
	private live = new Set<RunHandle>();

	/** Keeps `handle` until its run is over. */
	async settle<T>(handle: RunHandle, result: Promise<T>): Promise<T> {
		// The set is what is handed over, so a run that ends later is forgotten after a reload as well.
		const { live } = this;
		live.add(handle);
		try {
			return await result;
		} finally {
			live.delete(handle);
		}
	}

	/** Leaves the live runs to what `/reload` makes in this session. */
	handOver(session: string): void {
		handedOver.set(session, this.live);
		this.live = new Set();
	}

	/** Takes over what was there before a reload. */
	takeOver(session: string): void {
		this.live = handedOver.get(session) ?? this.live;
		handedOver.delete(session);
	}

	/** How many are live. */
	get count(): number {
		return this.live.size;
	}

	/** Ends every live run because the user wants that; their calls tell the results. */
	abort(): void {
		for (const handle of this.live) handle.abort();
	}

	/** Ends every live run because pi is going, and waits until the children are gone. */
	async close(): Promise<void> {
		await Promise.allSettled([...this.live].map((handle) => handle.close()));
	}
}
