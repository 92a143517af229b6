#!/usr/bin/env node
/** Builds `extensions/`, the module that pi loads, from `extension/`. Takes a tenth of a second. */

import { bundleFiles, writeBundle } from "./lib/bundle.mjs";
import { runMain } from "./lib/problem.mjs";
import { note } from "./lib/progress.mjs";

await runMain(async () => {
	const bytes = await writeBundle();
	note(`${bundleFiles[0]}: ${Math.round(bytes / 1024)} KiB`);
	return 0;
});
