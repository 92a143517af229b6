#!/usr/bin/env node
/**
 * `npm run lint:workflows`: runs zizmor on the workflows of the hosted CI. It is installed from PyPI below the clone.
 */

import { join } from "node:path";

import { root } from "../scripts/lib/places.mjs";
import { runMain } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/programs.mjs";
import { findPython, pythonPackages } from "./lib/python.mjs";

const linter = "zizmor==1.32.0";

await runMain(async () => {
	const python = findPython();
	if (!python) {
		console.log(`skipped: there is no Python with pip here to install ${linter} with`);
		return 0;
	}
	const env = await pythonPackages(python, "zizmor", [linter]);
	// Offline, without queries to GitHub: the commits of the actions were compared with their tags when they were written
	// down.
	const options = ["--offline", "--no-progress", "--persona", "pedantic"];
	const code = await run(["zizmor", ...options, join(root, ".github", "workflows")], { env });
	return typeof code === "number" ? code : 1;
});
