#!/usr/bin/env node
/**
 * Fills the platform packages below `npm/` before publishing. `artifacts/` holds one folder per platform, with the
 * addon and the warden of its build. `--check` only fails if a package has an addon but no warden; `--all` also fails
 * if a package has no addon.
 */

import { join } from "node:path";
import { parseArgs } from "node:util";

import { checkFilledPackages, fillPlatformPackages } from "../scripts/lib/packages.mjs";
import { root } from "../scripts/lib/places.mjs";
import { runMain } from "../scripts/lib/problem.mjs";
import { packageProgram, runQuietly } from "../scripts/lib/programs.mjs";

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
