/** How long it takes to require the addon in a process that has not seen it. */

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const started = performance.now();
require("../index.js");
process.stdout.write(`${JSON.stringify({ ms: performance.now() - started })}\n`);
