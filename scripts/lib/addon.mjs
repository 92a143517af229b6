/** Builds the addon if its sources have changed since the last build. */

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { npm, probe, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";
import { dropStamp, hashOf, readStamp, writeStamp } from "./stamp.mjs";

const sources = ["Cargo.toml", "Cargo.lock", "src", "agents", "crates", "package.json", "scripts/lib/loader.mjs"];

/** Returns the files that a build writes into the clone: the addon and the two generated files. */
function products() {
	const addons = readdirSync(root).filter((name) => name.endsWith(".node"));
	return ["native.js", "native.d.ts", ...addons.sort()];
}

/** Builds the addon and its generated loader, unless they match the present sources. */
export async function buildAddon() {
	const wanted = hashOf(sources, [process.platform, process.arch, probe("rustc", ["--version"]) ?? ""]);
	const stamp = () => `${wanted} ${hashOf(products())}`;
	if (readStamp("addon") === stamp()) return;
	await step("the native addon (npm run build:addon; the first build takes a few minutes)", async () => {
		dropStamp("addon");
		await runQuietly("npm run build:addon", [...npm(), "run", "build:addon"]);
		if (!products().some((name) => name.endsWith(".node"))) {
			throw new SetupProblem("npm run build:addon made no .node file.", `Expected a file *.node in ${join(root)}.`);
		}
		writeStamp("addon", stamp());
	});
}
