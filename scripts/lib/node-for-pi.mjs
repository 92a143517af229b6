/** Finds or installs a Node that is new enough for pi: the one that runs this script, or one below `.setup`. */

import { existsSync } from "node:fs";
import { join } from "node:path";

import { atLeast, versionIn } from "./checks.mjs";
import { registryHint } from "./dependencies.mjs";
import { installInto } from "./install.mjs";
import { installedNode, nodeForPi, setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { npm, probe, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";

const folder = `node-${installedNode}`;

/**
 * Returns the npm package with a Node binary for this platform. It is installed directly, because the package `node`
 * would fetch it with an install script. There is no package for musl.
 */
function packageName() {
	const platform = process.platform === "win32" ? "win" : process.platform;
	const prefix = `${process.platform}-${process.arch}` === "darwin-arm64" ? "node-bin" : "node";
	return `${prefix}-${platform}-${process.arch}`;
}

/** Returns the path of the installed binary. */
function installedBinary() {
	const name = process.platform === "win32" ? "node.exe" : "node";
	return join(setupDir, folder, "node_modules", packageName(), "bin", name);
}

/** Returns the Node that runs pi, if there is one. */
export function findNodeForPi() {
	const override = process.env.PI_TEST_NODE;
	if (override) return override;
	if (atLeast(versionIn(process.version), nodeForPi)) return process.execPath;
	return existsSync(installedBinary()) ? installedBinary() : undefined;
}

/** Installs a Node for pi if there is none, and returns it. */
export async function installNodeForPi() {
	const found = findNodeForPi();
	if (found && atLeast(versionIn(probe(found, ["--version"])), nodeForPi)) return found;
	const needed = `pi needs Node ${nodeForPi.major}.${nodeForPi.minor} or newer, and this is ${process.version}.`;
	const byHand = "Install one from https://nodejs.org or with your version manager, and run this again with it.";
	if (found && found === process.env.PI_TEST_NODE) {
		throw new SetupProblem(`PI_TEST_NODE (${found}) cannot be run or is too old.`, needed);
	}
	return step(`Node ${installedNode} for pi`, async () => {
		await installInto(folder, async (place) => {
			const wanted = `${packageName()}@${installedNode}`;
			/** @type {import("./programs.mjs").Command} */
			const command = [...npm(), "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", wanted];
			await runQuietly(`Installing ${wanted}`, command, { cwd: place, hint: `${needed}\n${byHand}\n${registryHint}` });
		});
		if (probe(installedBinary(), ["--version"])) return installedBinary();
		throw new SetupProblem(`The Node binary of ${packageName()} does not run here.`, `${needed}\n${byHand}`);
	});
}
