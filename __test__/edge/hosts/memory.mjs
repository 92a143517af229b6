/** A run; prints its result, and by how many bytes this process was larger at most than before. */

import { readFileSync } from "node:fs";

import { startRun } from "../../../native.js";

const options = JSON.parse(process.argv[2] ?? "");
// Loads everything that each run needs.
await startRun({ ...options, aborted: true }).result();
const before = process.memoryUsage.rss();
const run = startRun(options);
const result = await run.result();
const grownBytes = Math.max(highestBytes() - before, 0);
console.log(JSON.stringify({ result, grownBytes }));

/** The kernel's own highest mark: memory that was given back counts too. */
function highestBytes() {
	// Linux passes `maxRSS` on from the program that started this one, which may be larger.
	if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1_024;
	return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1_024;
}
