/** A run; prints its result, and by how many bytes this process was larger at most than before. */

import { startRun } from "../../../index.js";

const options = JSON.parse(process.argv[2] ?? "");
// What the first run needs, every one needs.
await startRun({ ...options, aborted: true }).result();
const before = process.memoryUsage.rss();
const run = startRun(options);
const result = await run.result();
// The kernel's own highest mark: memory that was given back counts too.
const grownBytes = Math.max(process.resourceUsage().maxRSS * 1_024 - before, 0);
console.log(JSON.stringify({ result, grownBytes }));
