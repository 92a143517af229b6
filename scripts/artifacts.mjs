#!/usr/bin/env node
/**
 * Fills the platform packages below `npm/` before they are published. `artifacts/` holds one folder for each platform, in
 * which its build left the addon and, beside it, the warden. `--check` only says whether any package lacks its warden,
 * `--all` also whether any lacks its addon.
 */

import { join } from "node:path";
import { parseArgs } from "node:util";

import { checkFilledPackages, fillPlatformPackages } from "./lib/packages.mjs";
import { root } from "./lib/places.mjs";
import { runMain } from "./lib/problem.mjs";
import { packageProgram, runQuietly } from "./lib/programs.mjs";

await runMain(async () => {
	const { values } = parseArgs({ options: { all: { type: "boolean" }, check: { type: "boolean" } } });
	const packages = join(root, "npm");
	if (!values.check) {
		await runQuietly("napi artifacts", [...packageProgram("@napi-rs/cli", "napi"), "artifacts"]);
		fillPlatformPackages(join(root, "artifacts"), packages);
	}
	checkFilledPackages(packages, values.all === true);
	return 0;
});
