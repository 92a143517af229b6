/** The common parts of tests that kill a program again and again. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { assertNothingLeft } from "../support/survivors.ts";

/** Kills of a program. */
export interface Kills {
	/** The number of times the program is killed. */
	times: number;
	/** The seed of all random choices. */
	seed: number;
	/** The directory of all files. */
	root: string;
	/** In the environment of every process, children included. */
	mark: string;
	/** Receives the number of kills so far. */
	onKill?: (kills: number) => void;
}

/** Makes the directory and the mark of a test. After the test, checks that no process is left, and removes the directory. */
export function killPlace(t: TestContext): Pick<Kills, "root" | "mark"> {
	const [root, mark] = [realpathSync(mkdtempSync(join(tmpdir(), "psn-kill-"))), randomUUID()];
	t.after(async () => {
		await assertNothingLeft(mark);
		rmSync(root, { recursive: true, force: true, maxRetries: 5 });
	});
	return { root, mark };
}

/** Numbers from 0 to 1, always the same ones for a seed. */
export function chances(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
