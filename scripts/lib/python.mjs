/** Programs that come from PyPI. They go below the clone, as everything that set-up makes. */

import { existsSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { withLock } from "./install.mjs";
import { setupDir } from "./places.mjs";
import { pathWith, probe, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";
import { dropStamp, hashOf, readStamp, writeStamp } from "./stamp.mjs";

const names = process.platform === "win32" ? ["python", "python3"] : ["python3", "python"];

/** A Python that has pip, or nothing. */
export function findPython() {
	return names.find((name) => probe(name, ["-m", "pip", "--version"]));
}

/**
 * Installs packages, unless they are there, and returns what a program needs in its environment to find them.
 *
 * @param {string} python
 * @param {string} name of the folder below `.setup`
 * @param {string[]} packages with their versions; what they depend on is not installed
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
