/** Measures the time to require the addon in a process that has not loaded it before. */

const started = performance.now();
require("../native.js");
process.stdout.write(`${JSON.stringify({ ms: performance.now() - started })}\n`);
