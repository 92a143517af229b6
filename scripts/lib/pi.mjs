/**
 * Installs pi in the versions that the project is tested with. The oldest is a development dependency, the others are
 * below `.setup`.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { registryHint } from "./dependencies.mjs";
import { installInto } from "./install.mjs";
import { newestPi, oldestPi, piOverride, root, setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { npm, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";

const packageName = "@earendil-works/pi-coding-agent";
const program = join("dist", "bundle", "cli.js");

/**
 * The runtime packages that the bundle of the newest version loads from outside. A plain install of that version fails
 * if the registry lacks one of its workspace packages.
 */
const unbundled = ["jiti@2.7.0", "@silvia-odwyer/photon-node@0.3.4", "quickjs-wasi@3.6.2"];

const quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];

/**
 * The path of each version's program, and the function that fills its folder if `npm ci` does not install it.
 *
 * @type {Record<string, { program: string, lacks?: () => boolean, fill?: (folder: string) => Promise<void> }>}
 */
const recipes = {
	[newestPi]: {
		program: join(setupDir, `pi-${newestPi}`, "package", program),
		// An installation of an earlier release of this file may lack a package.
		lacks: () => unbundled.some((name) => !existsSync(join(setupDir, `pi-${newestPi}`, "node_modules", nameOf(name)))),
		async fill(folder) {
			const source = `${packageName}@${newestPi}`;
			await inFolder(folder, `npm pack ${source}`, [...npm(), "pack", source]);
			const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
			if (!archive) throw new SetupProblem(`npm pack ${source} wrote no archive.`, registryHint);
			await inFolder(folder, "tar", ["tar", "-xzf", archive]);
			await inFolder(folder, "npm install", [...npm(), "install", ...quiet, ...unbundled]);
		},
	},
	[oldestPi]: { program: join(root, "node_modules", packageName, program) },
};

/**
 * Returns the name of a package without its version.
 *
 * @param {string} source
 */
function nameOf(source) {
	return source.slice(0, source.lastIndexOf("@"));
}

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
 * Returns the program file of one version of pi, if it is installed.
 *
 * @param {string} version
 * @returns {string | undefined}
 */
export function findPi(version) {
	const override = process.env[piOverride(version)];
	if (override) return override;
	const { program } = recipeOf(version);
	return existsSync(program) ? program : undefined;
}

/**
 * Installs one version of pi if it is missing, and returns its program file.
 *
 * @param {string} version
 * @returns {Promise<string>}
 */
export async function installPi(version) {
	const found = findPi(version);
	const isWhole = process.env[piOverride(version)] !== undefined || !recipeOf(version).lacks?.();
	if (found && existsSync(found) && isWhole) return found;
	if (found && isWhole)
		throw new SetupProblem(`${piOverride(version)} names ${found}, which does not exist.`, "Unset it.");
	const { fill } = recipeOf(version);
	if (!fill) throw new SetupProblem(`pi ${version} is not in node_modules.`, "Run `npm ci`.");
	return step(`pi ${version}`, async () => {
		await installInto(`pi-${version}`, fill);
		const path = findPi(version);
		if (path) return path;
		throw new SetupProblem(
			`pi ${version} has no ${program}.`,
			`Remove ${join(setupDir, `pi-${version}`)} and run \`npm run setup\` again.`,
		);
	});
}
