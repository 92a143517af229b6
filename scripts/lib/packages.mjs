/**
 * Writes the npm packages of the platforms. Their descriptions are generated; the addon and the warden are added for
 * publishing.
 */

import {
	chmodSync,
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { root, setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { packageProgram, runQuietly } from "./programs.mjs";
import { hasWarden, wardenName } from "./warden.mjs";

/**
 * Writes the description of each platform's package: napi's output for package.json, with the warden added to the
 * files.
 *
 * @param {string} folder for one folder per platform
 */
export async function writePlatformPackages(folder) {
	const napi = packageProgram("@napi-rs/cli", "napi");
	// napi creates and removes folders next to the package.json that it reads. A cargo that scans the project at the same
	// time would fail on a folder that has just been removed.
	mkdirSync(setupDir, { recursive: true });
	const scratch = mkdtempSync(join(setupDir, "packages.part-"));
	try {
		copyFileSync(join(root, "package.json"), join(scratch, "package.json"));
		await runQuietly("napi create-npm-dirs", [...napi, "create-npm-dirs", "--cwd", scratch, "--npm-dir", "npm"]);
		cpSync(join(scratch, "npm"), folder, { recursive: true });
	} finally {
		rmSync(scratch, { recursive: true, force: true });
	}
	for (const platform of readdirSync(folder).filter(hasWarden)) {
		const path = join(folder, platform, "package.json");
		const description = JSON.parse(readFileSync(path, "utf8"));
		description.files.push(wardenName);
		writeFileSync(path, `${JSON.stringify(description, null, 2)}\n`);
	}
}

/**
 * Copies each platform's build into its package. The warden is next to its addon, as in every other place.
 *
 * @param {string} artifacts the folder with a folder for each platform's build, at any depth
 * @param {string} packages the folder with the packages
 */
export function fillPlatformPackages(artifacts, packages) {
	const built = readdirSync(artifacts, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".node"));
	for (const platform of readdirSync(packages)) {
		const addon = built.find((name) => name.endsWith(`.${platform}.node`));
		if (!addon || !hasWarden(platform)) continue;
		const warden = join(dirname(join(artifacts, addon)), wardenName);
		if (!existsSync(warden)) {
			throw new SetupProblem(`There is no warden for ${platform}.`, `Expected ${warden} next to ${addon}.`);
		}
		const place = join(packages, platform, wardenName);
		copyFileSync(warden, place);
		// The archives of a build service drop file modes.
		chmodSync(place, 0o755);
	}
}

/**
 * Fails for a package that has an addon but no executable warden.
 *
 * @param {string} packages the folder with the packages
 * @param {boolean} [all] also fail for a package without an addon
 */
export function checkFilledPackages(packages, all = false) {
	const hasAddon = (/** @type {string} */ platform) =>
		readdirSync(join(packages, platform)).some((name) => name.endsWith(".node"));
	const empty = all ? readdirSync(packages).filter((platform) => !hasAddon(platform)) : [];
	if (empty.length > 0) {
		const how = "Each build leaves its own in a folder below artifacts/: npm run cross -- TARGET";
		throw new SetupProblem(`Packages without an addon: ${empty.join(", ")}.`, how);
	}
	const bad = readdirSync(packages).filter((platform) => {
		const folder = join(packages, platform);
		if (!hasAddon(platform) || !hasWarden(platform)) return false;
		const warden = statSync(join(folder, wardenName), { throwIfNoEntry: false });
		return !warden || (warden.mode & 0o111) !== 0o111;
	});
	if (bad.length === 0) return;
	throw new SetupProblem(`Packages without a warden: ${bad.join(", ")}.`, "Run `npm run artifacts`.");
}
