/** pi itself, in the versions the project is tried with, each in a folder of its own below `.setup`. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { registryHint } from "./dependencies.mjs";
import { installInto } from "./install.mjs";
import { newestPi, oldestPi, piOverride, setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { npm, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";

const packageName = "@earendil-works/pi-coding-agent";
const program = join("dist", "bundle", "cli.js");

/**
 * The run time packages that the bundle of 1.5.2 loads from outside itself. A plain install of that version fails where
 * the registry lacks one of its workspace packages.
 */
const besideBundle = ["jiti@2.7.0", "@silvia-odwyer/photon-node@0.3.4"];

const quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];

/**
 * How each version is installed, and where its program lies then.
 *
 * @type {Record<string, { program: string, fill: (folder: string) => Promise<void> }>}
 */
const recipes = {
	[newestPi]: {
		program: join("package", program),
		async fill(folder) {
			const source = `${packageName}@${newestPi}`;
			await inFolder(folder, `npm pack ${source}`, [...npm(), "pack", source]);
			const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
			if (!archive) throw new SetupProblem(`npm pack ${source} left no archive.`, registryHint);
			await inFolder(folder, "tar", ["tar", "-xzf", archive]);
			await inFolder(folder, "npm install", [...npm(), "install", ...quiet, ...besideBundle]);
		},
	},
	[oldestPi]: {
		program: join("node_modules", packageName, program),
		async fill(folder) {
			const source = `${packageName}@${oldestPi}`;
			await inFolder(folder, `npm install ${source}`, [...npm(), "install", ...quiet, source]);
		},
	},
};

/** @param {string} version */
function recipeOf(version) {
	const recipe = recipes[version];
	if (!recipe) throw new Error(`no recipe for pi ${version}`);
	return recipe;
}

/**
 * @param {string} folder
 * @param {string} what
 * @param {import("./programs.mjs").Command} command
 */
async function inFolder(folder, what, command) {
	await runQuietly(what, command, { cwd: folder, hint: registryHint });
}

/**
 * The program file of one version of pi, as far as it is installed.
 *
 * @param {string} version
 * @returns {string | undefined}
 */
export function findPi(version) {
	const override = process.env[piOverride(version)];
	if (override) return override;
	const path = join(setupDir, `pi-${version}`, recipeOf(version).program);
	return existsSync(path) ? path : undefined;
}

/**
 * Makes sure that one version of pi is there.
 *
 * @param {string} version
 * @returns {Promise<string>}
 */
export async function installPi(version) {
	const found = findPi(version);
	if (found && existsSync(found)) return found;
	if (found) throw new SetupProblem(`${piOverride(version)} names ${found}, which does not exist.`, "Unset it.");
	return step(`pi ${version}`, async () => {
		await installInto(`pi-${version}`, recipeOf(version).fill);
		const path = findPi(version);
		if (path) return path;
		throw new SetupProblem(`pi ${version} has no ${program}.`, `Look into ${join(setupDir, `pi-${version}`)}.`);
	});
}
