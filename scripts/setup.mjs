#!/usr/bin/env node
/**
 * Prepares a fresh clone: checks the machine, installs the requirements below the clone, and builds the addon, the
 * warden and the extension. It can be run again and interrupted; parts that are up to date are skipped. The demo, the
 * tests and the benchmarks call it.
 */

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { buildAddon } from "./lib/addon.mjs";
import { freshenBundle } from "./lib/bundle.mjs";
import { checkMachine } from "./lib/checks.mjs";
import { installDependencies } from "./lib/dependencies.mjs";
import { withLock } from "./lib/install.mjs";
import { installNodeForPi } from "./lib/node-for-pi.mjs";
import { installPi } from "./lib/pi.mjs";
import { newestPi, oldestPi, root, setupDir } from "./lib/places.mjs";
import { runMain } from "./lib/problem.mjs";
import { endRunning } from "./lib/programs.mjs";
import { note } from "./lib/progress.mjs";
import { buildWarden } from "./lib/warden.mjs";

/**
 * Sets the clone up.
 *
 * @param {{ addon?: boolean, pi?: string[] }} [wanted] the parts to set up; all by default
 * @returns {Promise<{ node: string, pi: Record<string, string> }>} the Node for pi, and pi's program by version
 */
export async function setUp(wanted = {}) {
	const versions = wanted.pi ?? [newestPi, oldestPi];
	checkMachine();
	if (!isSetUp()) {
		note(
			"Setting up, once: npm packages, a Node for pi and pi, all inside this clone, about 1.1 GB; then the addon is compiled.",
		);
		note("On two cores that takes three to five minutes. Later starts take seconds.");
	}
	const interrupted = () => {
		endRunning();
		process.exit(130);
	};
	process.once("SIGINT", interrupted);
	process.once("SIGTERM", interrupted);
	try {
		return await withLock(async () => {
			await installDependencies();
			await freshenBundle();
			const node = await installNodeForPi();
			/** @type {Record<string, string>} */
			const pi = {};
			for (const version of versions) pi[version] = await installPi(version);
			if (wanted.addon !== false) {
				await buildAddon();
				await buildWarden();
			}
			return { node, pi };
		});
	} finally {
		process.removeListener("SIGINT", interrupted);
		process.removeListener("SIGTERM", interrupted);
	}
}

/** Returns true if the parts that take long to make exist, up to date or not. */
function isSetUp() {
	return existsSync(setupDir) && readdirSync(root).some((name) => name.endsWith(".node"));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
	await runMain(async () => {
		const { node, pi } = await setUp();
		note(`Ready. Node for pi: ${node}`);
		for (const [version, path] of Object.entries(pi)) note(`pi ${version}: ${path}`);
		return 0;
	});
}
