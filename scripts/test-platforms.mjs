#!/usr/bin/env node

/**
 * `npm run test:platforms [-- TARGET…]`: builds addon and warden for the platforms that have a package, and runs what this
 * machine can run of them: the tests of the edge and one delegation in real pi, on a Node of that platform, emulated where the
 * processor is another. What cannot be had here is skipped, with the reason; the exit code says whether something failed.
 *
 * `--release` builds what is published instead of what compiles fast. `--part loaded` (or `edge`, `pi`) plays one part; `--whole`
 * plays all of the edge where the processor is emulated, too, and `--file NAME` single files of it.
 */

import { runMain } from "./lib/problem.mjs";
import { playPlatforms } from "./platforms/main.mjs";

await runMain(() => playPlatforms(process.argv.slice(2)));
