#!/usr/bin/env node
/**
 * Adds our error message for a missing addon to the loader that `napi build` has written. Last step of `npm run
 * build:addon`.
 */

import { writeLoader } from "./lib/loader.mjs";
import { runMain } from "./lib/problem.mjs";

await runMain(async () => {
	writeLoader();
	return 0;
});
