#!/usr/bin/env node
/**
 * `npm run cross -- TARGET…` builds the addon and the warden of a platform package into `artifacts/TARGET`, where `npm
 * run artifacts` finds them. `--check` only compiles the code for that platform, without linking.
 */

import { parseArgs } from "node:util";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";
import { buildFor, checkFor, crossTargets, planFor } from "./lib/cross.mjs";

await runMain(async () => {
	const options = { check: { type: /** @type {const} */ ("boolean") } };
	const { values, positionals } = parseArgs({ options, allowPositionals: true });
	const known = crossTargets();
	const unknown = positionals.find((target) => !known.includes(target));
	if (unknown || positionals.length === 0) {
		const what = unknown ? `There is no package for ${unknown}.` : "No target was named.";
		throw new SetupProblem(what, `npm run cross -- [--check] TARGET…, of\n${known.join("\n")}`);
	}
	// Check all targets before the first build, which takes minutes.
	const plans = positionals.map((target) => planFor(target, { check: values.check === true }));
	for (const plan of plans) await (values.check ? checkFor(plan) : buildFor(plan));
	return 0;
});
