#!/usr/bin/env node
/**
 * `npm run test:packages`: packs the packages, publishes them to a registry on the loopback interface, and installs
 * them from there like a user does. Then runs the snippets and examples of the docs on every Node and in Bun. The addon and the
 * warden come from the last build. The registry, pnpm, Bun and the versions of Node come from npm and are installed below
 * the setup directory.
 */

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { registryHint } from "../scripts/lib/dependencies.mjs";
import { installInto } from "../scripts/lib/install.mjs";
import { installNodesOfTests } from "../scripts/lib/node-for-pi.mjs";
import { root, setupDir } from "../scripts/lib/places.mjs";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";
import { npm, run, runQuietly } from "../scripts/lib/programs.mjs";
import { step } from "../scripts/lib/progress.mjs";
import { setUp } from "../scripts/setup.mjs";

const tools = { verdaccio: "6.10.4", pnpm: "12.21.0" };
const bun = { folder: "bun-1.4.5", name: "@oven/bun-linux-x64", version: "1.4.5" };
/** A dependency of the registry asks for it by a tag, which mirrors of npm's registry may lack. */
const overrides = { "node-fetch": "2.7.0" };

await runMain(async () => {
	if (`${process.platform}-${process.arch}` !== "linux-x64") {
		throw new SetupProblem("The packages are tested on Linux x64 only.", "Run it on Linux x64.");
	}
	const { node } = await setUp();
	await installNodesOfTests();
	for (const [name, version] of Object.entries(tools)) await install(`${name}-${version}`, `${name}@${version}`);
	await install(bun.folder, `${bun.name}@${bun.version}`);
	const folder = join(root, "__test__", "packages");
	const files = readdirSync(folder).filter((name) => name.endsWith(".spec.ts"));
	const args = ["--test", "--test-timeout=300000", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];
	const programs = join(root, "__test__", "support", "nodes.spec.ts");
	const env = { BUN_PROGRAM: join(setupDir, bun.folder, "node_modules", bun.name, "bin", "bun") };
	const code = await run([node, ...args, ...files.map((name) => join(folder, name)), programs], { env });
	return typeof code === "number" ? code : 1;
});

/**
 * @param {string} folder below the setup directory
 *
 * @param {string} specifier
 */
async function install(folder, specifier) {
	if (existsSync(join(setupDir, folder))) return;
	await step(specifier, () =>
		installInto(folder, async (place) => {
			writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, overrides }));
			/** @type {import("../scripts/lib/programs.mjs").Command} */
			const command = [...npm(), "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", specifier];
			await runQuietly(`Installing ${specifier}`, command, { cwd: place, hint: registryHint });
		}),
	);
}
