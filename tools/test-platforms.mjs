#!/usr/bin/env node

/**
 * `npm run test:platforms [-- TARGET…]`: builds addon and warden for the platforms that have a package, and runs the
 * parts that this machine can run: the edge tests and one delegation in real pi, on a Node of that platform, emulated
 * if the processor differs. Parts that are not available here are skipped with the reason. The exit code is 1 if a part
 * failed.
 *
 * `--release` builds the published form instead of the fast one. `--part loaded` (or `edge`, `pi`) plays
 * one part. `--whole` plays all edge tests even on an emulated processor, and `--file NAME` only some files.
 */

import { runMain } from "../scripts/lib/problem.mjs";
import { playPlatforms } from "./platforms/main.mjs";

await runMain(() => playPlatforms(process.argv.slice(2)));
