#!/usr/bin/env node
/**
 * `npm run test:kill`: kills a host of background runs at random moments, and prints the outcomes of its runs. The
 * default is `--times 1000`. `--seed N` repeats the moments of an earlier run.
 */

import { join } from "node:path";

import { root } from "../scripts/lib/places.mjs";
import { runMain } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/programs.mjs";
import { setUp } from "../scripts/setup.mjs";

await runMain(async () => {
	const { node } = await setUp({ pi: [] });
	const program = join(root, "__test__", "edge", "kill-loop-run.ts");
	const code = await run([node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", program, ...process.argv.slice(2)]);
	return typeof code === "number" ? code : 1;
});
