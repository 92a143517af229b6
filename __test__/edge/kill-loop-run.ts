/** The long form of `kill-loop.spec.ts`, with figures. Its files stay if it fails. */

import { randomInt, randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { assertNothingLeft } from "../support/survivors.ts";
import { killLoop } from "./kill-loop.ts";

/** The number of kills between two lines of progress. */
const step = 100;

const { values } = parseArgs({ options: { times: { type: "string" }, seed: { type: "string" } } });
const [times, seed] = [Number(values.times ?? 1_000), Number(values.seed ?? randomInt(2 ** 31))];
if (!Number.isSafeInteger(times) || times < 1) throw new Error(`--times ${values.times}: a number from 1 is needed`);
if (!Number.isSafeInteger(seed)) throw new Error(`--seed ${values.seed}: a number is needed`);

const [root, mark] = [realpathSync(mkdtempSync(join(tmpdir(), "psn-kill-"))), randomUUID()];
console.log(`${times} kills, seed ${seed}, in ${root}`);
try {
	const onKill = (kills: number) => kills % step === 0 && console.log(`${kills} kills`);
	console.log(JSON.stringify(await killLoop({ times, seed, root, mark, onKill }), undefined, 2));
} finally {
	await assertNothingLeft(mark);
}
rmSync(root, { recursive: true, force: true, maxRetries: 5 });
console.log("each accepted run was delivered exactly once with its own status; no process remains");
