/**
 * The paths in a clone, and the versions of pi that the project is tested with. All files of the setup are below
 * `.setup/` and `node_modules/`, so deleting these two folders undoes it.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/, "");
export const setupDir = join(root, ".setup");

/** The newest pi that the project supports. The demo runs it. */
export const newestPi = "1.6.0";

/** The oldest pi that the project supports. The tests run both. */
export const oldestPi = "0.87.1";

/** The Node version that pi needs. It also strips types from the tests' TypeScript. */
export const nodeForPi = { major: 22, minor: 19 };

/** The version installed below `.setup` if the system's Node is too old. */
export const installedNode = "24";

/** The Node versions that programs are tested on. */
export const testedNodes = ["20", "22", "24"];

/** The oldest Node that the npm scripts here support. */
export const oldestNode = { major: 20, minor: 0 };

/** `rust-version` of Cargo.toml. */
export const oldestRust = { major: 1, minor: 88 };

/**
 * Returns the environment variable that replaces the installed pi of one version, for instance `PI_TEST_PI_1_5_2`.
 *
 * @param {string} version
 */
export function piOverride(version) {
	return `PI_TEST_PI_${version.replaceAll(".", "_")}`;
}
