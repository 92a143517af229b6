/**
 * Where things lie in a clone, and which versions of pi the project is tried with.
 *
 * Everything that set-up makes goes below `.setup/` and `node_modules/`, so deleting those two undoes it.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/, "");
export const setupDir = join(root, ".setup");

/** The newest pi that the project supports: the demo runs it. */
export const newestPi = "1.6.0";

/** The oldest pi that the project supports: the tests run both. */
export const oldestPi = "0.87.1";

/** pi needs this Node, and it strips types from the tests' TypeScript as well. */
export const nodeForPi = { major: 22, minor: 19 };

/** What is installed below `.setup` when the system's Node is older than that. */
export const installedNode = "24";

/** The oldest Node that npm scripts here run on. */
export const oldestNode = { major: 20, minor: 0 };

/** `rust-version` of Cargo.toml. */
export const oldestRust = { major: 1, minor: 88 };

/**
 * The environment variable that replaces the installed pi of one version, for instance `PI_TEST_PI_1_5_2`.
 *
 * @param {string} version
 */
export function piOverride(version) {
	return `PI_TEST_PI_${version.replaceAll(".", "_")}`;
}
