/** Installs programs from PyPI below the clone, like all other setup. */

import { existsSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { withLock } from "../../scripts/lib/install.mjs";
import { setupDir } from "../../scripts/lib/places.mjs";
import { pathWith, probe, runQuietly } from "../../scripts/lib/programs.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { dropStamp, hashOf, readStamp, writeStamp } from "../../scripts/lib/stamp.mjs";

const names = process.platform === "win32" ? ["python", "python3"] : ["python3", "python"];

/** Returns a Python that has pip, if there is one. */
export function findPython() {
	return names.find((name) => probe(name, ["-m", "pip", "--version"]));
}

/**
 * Installs packages if they are missing, and returns the environment variables that a program needs to find them.
 *
 * @param {string} python
 * @param {string} name of the folder below `.setup`
 * @param {string[]} packages with their versions; dependencies are not installed
 * @returns {Promise<{ PATH: string, PYTHONPATH: string }>}
 */
export async function pythonPackages(python, name, packages) {
	const folder = join(setupDir, name);
	const wanted = hashOf([], [...packages, python, process.arch]);
	await withLock(async () => {
		if (existsSync(folder) && readStamp(name) === wanted) return;
		await step(`${packages.join(", ")} (pip)`, async () => {
			dropStamp(name);
			rmSync(folder, { recursive: true, force: true });
			const options = ["--target", folder, "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"];
			await runQuietly("pip install", [python, "-m", "pip", "install", ...options, ...packages]);
			writeStamp(name, wanted);
		});
	});
	const paths = [folder, process.env.PYTHONPATH ?? ""].filter(Boolean);
	return { PATH: pathWith(join(folder, "bin")), PYTHONPATH: paths.join(delimiter) };
}
