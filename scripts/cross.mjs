#!/usr/bin/env node
/**
 * `npm run cross -- TARGET…` builds the addon and the warden of a platform package into `artifacts/TARGET`, from where
 * `npm run artifacts` takes them. `--check` only has the compiler read the code as that platform sees it.
 */

import { parseArgs } from "node:util";

import { buildFor, checkFor, crossTargets, planFor } from "./lib/cross.mjs";
import { runMain, SetupProblem } from "./lib/problem.mjs";

await runMain(async () => {
	const options = { check: { type: /** @type {const} */ ("boolean") } };
	const { values, positionals } = parseArgs({ options, allowPositionals: true });
	const known = crossTargets();
	const unknown = positionals.find((target) => !known.includes(target));
	if (unknown || positionals.length === 0) {
		const what = unknown ? `There is no package for ${unknown}.` : "No target was named.";
		throw new SetupProblem(what, `npm run cross -- [--check] TARGET…, of\n${known.join("\n")}`);
	}
	// All of it before the first build: that takes minutes.
	const plans = positionals.map((target) => planFor(target, { check: values.check === true }));
	for (const plan of plans) await (values.check ? checkFor(plan) : buildFor(plan));
	return 0;
});
