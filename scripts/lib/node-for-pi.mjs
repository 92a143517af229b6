/**
 * Finds or installs Nodes: one that is new enough for pi, which may be the one that runs this script, and those that
 * programs are tested on. Installed ones are below `.setup`.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";

import { atLeast, versionIn } from "./checks.mjs";
import { registryHint } from "./dependencies.mjs";
import { installInto } from "./install.mjs";
import { installedNode, nodeForPi, setupDir, testedNodes } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { npm, probe, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";

/**
 * Returns the npm package with a Node binary for this platform. It is installed directly, because the package `node`
 * would fetch it with an install script. There is no package for musl.
 */
function packageName() {
	const platform = process.platform === "win32" ? "win" : process.platform;
	const prefix = `${process.platform}-${process.arch}` === "darwin-arm64" ? "node-bin" : "node";
	return `${prefix}-${platform}-${process.arch}`;
}

/** @param {string} version the major one */
function installedBinary(version) {
	const name = process.platform === "win32" ? "node.exe" : "node";
	return join(setupDir, `node-${version}`, "node_modules", packageName(), "bin", name);
}

/**
 * Returns the Node of a major version, if there is one: below `.setup`, or the one that runs this script.
 *
 * @param {string} version
 */
export function findNode(version) {
	if (existsSync(installedBinary(version))) return installedBinary(version);
	return process.versions.node.split(".")[0] === version ? process.execPath : undefined;
}

/**
 * Installs a Node of a major version below `.setup` if there is none, and returns it.
 *
 * @param {string} version
 * @param {{ purpose: string, hint: string }} texts
 */
export async function installNode(version, texts) {
	return findNode(version) ?? install(version, texts);
}

/**
 * @param {string} version
 * @param {{ purpose: string, hint: string }} texts
 */
function install(version, { purpose, hint }) {
	return step(`Node ${version} for ${purpose}`, async () => {
		await installInto(`node-${version}`, async (place) => {
			const wanted = `${packageName()}@${version}`;
			/** @type {import("./programs.mjs").Command} */
			const command = [...npm(), "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", wanted];
			await runQuietly(`Installing ${wanted}`, command, { cwd: place, hint });
		});
		const binary = installedBinary(version);
		if (probe(binary, ["--version"])) return binary;
		throw new SetupProblem(`The Node binary of ${packageName()} does not run here.`, hint);
	});
}

/**
 * Returns the versions of Node that programs are tested on here. Other platforms than Linux x64 with glibc test only the
 * Node that runs the tests, because npm has not every version for them.
 */
export function nodesOfTests() {
	const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
	const hasAll = `${process.platform}-${process.arch}` === "linux-x64" && header.glibcVersionRuntime;
	return hasAll ? testedNodes : [process.versions.node.split(".")[0] ?? ""];
}

/** Installs every Node that programs are tested on. */
export async function installNodesOfTests() {
	// Elsewhere the Node that runs the tests is the only one.
	if (nodesOfTests() !== testedNodes) return;
	for (const version of testedNodes) {
		// The Node that runs this script does not count, because the tests may run on another one.
		if (!existsSync(installedBinary(version))) await install(version, { purpose: "the tests", hint: registryHint });
	}
}

/** Returns the Node that runs pi, if there is one. */
export function findNodeForPi() {
	const override = process.env.PI_TEST_NODE;
	if (override) return override;
	if (atLeast(versionIn(process.version), nodeForPi)) return process.execPath;
	return existsSync(installedBinary(installedNode)) ? installedBinary(installedNode) : undefined;
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
	return installNode(installedNode, { purpose: "pi", hint: `${needed}\n${byHand}\n${registryHint}` });
}
