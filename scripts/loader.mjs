#!/usr/bin/env node
/** Puts into the loader that `napi build` has written what it says when there is no addon. The end of `npm run build:addon`. */

import { writeLoader } from "./lib/loader.mjs";
import { runMain } from "./lib/problem.mjs";

await runMain(async () => {
	writeLoader();
	return 0;
});
