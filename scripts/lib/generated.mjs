/** Checks the committed generated files. A check fails if a file differs from the output for the present sources. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleFiles, writeBundle } from "./bundle.mjs";
import { writePlatformPackages } from "./packages.mjs";
import { root, setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { run } from "./programs.mjs";
import { wardenName } from "./warden.mjs";

/** The maximum number of characters of a difference to show. For the module it can be half a megabyte. */
const maxDiff = 20_000;

/**
 * Checks the addon's loader and its types, which the build has just written.
 *
 * @throws {SetupProblem}
 */
export async function checkLoader() {
	await checkCommitted("The generated loader", ["native.js", "native.d.ts"], "npm run build");
}

/**
 * Checks the module that pi loads, with its source map and the licences.
 *
 * @throws {SetupProblem}
 */
export async function checkBundle() {
	await writeBundle();
	await checkCommitted("The generated extension", bundleFiles, "npm run build:extension");
}

/**
 * Fails if files that were just written differ from the committed or staged ones.
 *
 * @param {string} what
 * @param {string[]} files
 * @param {string} build
 * @throws {SetupProblem}
 */
async function checkCommitted(what, files, build) {
	const how = `Run \`${build}\` and commit ${files.join(", ")}.`;
	const known = await run(["git", "ls-files", "--error-unmatch", ...files], { onOutput: () => {} });
	if (known !== 0) throw new SetupProblem(`${what} is not under version control.`, how);
	let diff = "";
	const collect = (/** @type {Buffer} */ chunk) => {
		diff += chunk.toString();
	};
	const code = await run(["git", "--no-pager", "diff", "--exit-code", "--", ...files], {
		onOutput: collect,
	});
	if (code !== 0) throw new SetupProblem(`${what} is stale.`, `${how}\n\n${diff.slice(0, maxDiff)}`);
}

/**
 * Checks the platform packages below `npm/`.
 *
 * @throws {SetupProblem}
 */
export async function checkPlatformPackages() {
	const folder = mkdtempSync(join(setupDir, "npm.part-"));
	try {
		await writePlatformPackages(folder);
		const wanted = files(folder);
		const found = files(join(root, "npm"));
		const names = new Set([...wanted.keys(), ...found.keys()]);
		const stale = [...names].filter((name) => wanted.get(name) !== found.get(name)).sort();
		if (stale.length === 0) return;
		const list = stale.map((name) => `npm/${name}`).join("\n");
		throw new SetupProblem("The platform packages are stale.", `Run \`npm run packages\`:\n${list}`);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/**
 * Returns every text file below a folder by its relative path. Build outputs are skipped.
 *
 * @param {string} folder
 */
function files(folder) {
	/** @type {Map<string, string>} */
	const found = new Map();
	if (!existsSync(folder)) return found;
	for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
		const path = join(folder, name);
		const isBuilt = name.endsWith(".node") || basename(name) === wardenName;
		if (statSync(path).isFile() && !isBuilt) found.set(name, readFileSync(path, "utf8"));
	}
	return found;
}
