#!/usr/bin/env node

/**
 * `npm run test:engines [-- NAME…]`: plays the scenes of `tests/launchers.rs` through the engines in
 * `tools/engines/`. Each engine runs below a temporary directory, from Debian packages that are unpacked but not
 * installed. An engine that is not available here is skipped with the reason. The exit code is 1 if an engine failed.
 */

import { runMain } from "../scripts/lib/problem.mjs";
import { playAll } from "./engines/main.mjs";

await runMain(() => playAll(process.argv.slice(2)));
