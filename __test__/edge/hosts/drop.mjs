/** Forgets a run, and has the engine notice: Node is started with `--expose-gc`. */

import { setTimeout as delay } from "node:timers/promises";

/** Forces a garbage collection. */
export async function collect() {
	for (let round = 0; round < 5; round++) {
		globalThis.gc?.();
		await delay(10);
	}
}

/**
 * Keeps the handle of a run until its child has started. A handle collected earlier ends a run without a child.
 *
 * @param {() => object} start
 * @param {() => Promise<void>} up
 */
export async function dropOnceUp(start, up) {
	/** @type {{ handle?: object }} */
	const kept = { handle: start() };
	await up();
	delete kept.handle;
	await collect();
}
