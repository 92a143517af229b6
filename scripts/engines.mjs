#!/usr/bin/env node
/**
 * `npm run test:engines [-- NAME…]`: plays the scenes of `tests/launchers.rs` through the engines in `scripts/engines/`, each set up
 * below a temporary directory from Debian packages that are unpacked and not installed. What cannot be had here is skipped, with
 * the reason; the exit code says whether something failed.
 */

import { playAll } from "./engines/main.mjs";
import { runMain } from "./lib/problem.mjs";

await runMain(() => playAll(process.argv.slice(2)));
