/** Installs the npm packages that building and testing need. */

import { existsSync } from "node:fs";
import { join } from "node:path";

import { root } from "./places.mjs";
import { npm, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";
import { dropStamp, hashOf, readStamp, writeStamp } from "./stamp.mjs";

export const registryHint =
	"npm has to reach its registry; behind a proxy set npm's `proxy`, `https-proxy` and `cafile`.";

/** Runs `npm ci` unless `node_modules` matches the lock file. */
export async function installDependencies() {
	const wanted = hashOf(["package-lock.json"], [process.platform, process.arch]);
	const installed = existsSync(join(root, "node_modules", ".package-lock.json"));
	if (installed && readStamp("dependencies") === wanted) return;
	await step("npm packages (npm ci)", async () => {
		dropStamp("dependencies");
		await runQuietly("npm ci", [...npm(), "ci", "--no-audit", "--no-fund"], { hint: registryHint });
		writeStamp("dependencies", wanted);
	});
}
