/** How long it takes to require the addon in a process that has not seen it. */

const started = performance.now();
require("../index.js");
process.stdout.write(`${JSON.stringify({ ms: performance.now() - started })}\n`);
