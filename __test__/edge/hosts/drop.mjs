/** Forgets a run, and has the engine notice: Node is started with `--expose-gc`. */

import { setTimeout as delay } from "node:timers/promises";

/** Has everything collected that nobody keeps. */
export async function collect() {
	for (let round = 0; round < 5; round++) {
		globalThis.gc?.();
		await delay(10);
	}
}

/**
 * Keeps the handle of a run until its child is up: one that is collected before ends a run that has no child yet.
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
