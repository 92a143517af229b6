#!/usr/bin/env node
/** Writes the descriptions of the platform packages below `npm/` again, after a change of package.json. */

import { join } from "node:path";

import { writePlatformPackages } from "./lib/packages.mjs";
import { root } from "./lib/places.mjs";
import { runMain } from "./lib/problem.mjs";

await runMain(async () => {
	await writePlatformPackages(join(root, "npm"));
	return 0;
});
