/** The runs of a session, so that none outlives it. They pass from one load of the extension to the next. */

import type { RunHandle } from "../../index.js";

/** Where every load of the extension finds what the one before has left: modules are loaded anew. */
const place: { [key: symbol]: Map<string, Set<RunHandle>> | undefined } = globalThis;
const key = Symbol.for("pi-subagent-native.runs");

/** Runs of sessions that are being reloaded, by the session's id. */
const handedOver = place[key] ?? new Map<string, Set<RunHandle>>();
place[key] = handedOver;

export class Runs {
	private live = new Set<RunHandle>();

	/** Keeps `handle` until its run is over. */
	async settle<T>(handle: RunHandle, result: Promise<T>): Promise<T> {
		// The set is what is handed over, so a run that ends later is forgotten by the next load as well.
		const { live } = this;
		live.add(handle);
		try {
			return await result;
		} finally {
			live.delete(handle);
		}
	}

	/** Leaves the live runs to the next load of the extension in this session. */
	handOver(session: string): void {
		handedOver.set(session, this.live);
		this.live = new Set();
	}

	/** Takes over what the load before has left. */
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
