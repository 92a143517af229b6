/**
 * A run whose updates are answered by promises that reject after so many milliseconds; prints how it has ended and how many
 * updates there were. Ends when the last promise has rejected.
 */

import { setTimeout as delay } from "node:timers/promises";

import { startRun } from "../../../native.js";

const [options, ms] = [JSON.parse(process.argv[2] ?? ""), Number(process.argv[3])];
let updates = 0;
const run = startRun(options, async () => {
	updates++;
	if (ms > 0) await delay(ms);
	throw new Error("a mistake in the host");
});
const { details } = await run.result();
// Timers of the same length fire in the order in which they were set.
await delay(ms);
console.log(JSON.stringify({ outcome: details.results[0]?.outcome, updates }));
