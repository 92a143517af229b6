/** Waiting for a state that nothing announces. */

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

import { slower } from "./machine.ts";

/** Longer than anything takes on any machine that has this kind of processor, shorter than a person waits for a stuck test. */
export const patienceMs: number = 60_000 * slower;

const pollEveryMs = 10;

/** Waits until something holds, and fails when it does not in time. */
export async function eventually(
	holds: () => boolean | Promise<boolean>,
	what: string,
	limitMs = patienceMs,
): Promise<void> {
	const deadline = performance.now() + limitMs;
	while (!(await holds())) {
		assert.ok(performance.now() < deadline, `timed out waiting for: ${what}`);
		await delay(pollEveryMs);
	}
}
