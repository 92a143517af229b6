#!/usr/bin/env node
/**
 * Injects faults in real pi, with this package and with the example extension that pi ships, and writes the table of
 * `docs/faults.md`. With words as arguments, plays only the faults that contain all of them, and prints the result.
 */

import { join } from "node:path";

import { findNodeForPi } from "../scripts/lib/node-for-pi.mjs";
import { newestPi, root } from "../scripts/lib/places.mjs";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/programs.mjs";
import { setUp } from "../scripts/setup.mjs";

await runMain(async () => {
	if (process.platform !== "linux")
		throw new SetupProblem("The check for surviving processes needs /proc.", "Run it on Linux.");
	await setUp({ pi: [newestPi] });
	const node = findNodeForPi();
	if (!node) throw new SetupProblem("There is no Node for pi.", "Run `npm run setup`.");
	const main = join(root, "benchmark", "faults", "main.ts");
	const code = await run([node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", main, ...process.argv.slice(2)]);
	return typeof code === "number" ? code : 1;
});
