/** Writes the loader's error message for a missing addon. The rest of `native.js` comes from napi. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { writeWhole } from "./stamp.mjs";

const path = join(root, "native.js");

/**
 * napi's own end of a search. Its message names neither platform nor libc, and its advice to remove the lock file
 * rarely helps.
 */
const ofNapi = /^if \(!nativeBinding\) \{\n {2}if \(loadErrors\.length > 0\) \{\n.*?^\}\n/ms;

const heading = "// Written by scripts/lib/loader.mjs up to the end of the search.";
const ownPattern = new RegExp(`^${heading}\n.*?^if \\(!nativeBinding\\) \\{\n.*?^\\}\n`, "ms");

/**
 * Replaces the message in the loader that the build has just written.
 *
 * @throws {SetupProblem}
 */
export function writeLoader() {
	writeWhole(path, withOwnMessage(readFileSync(path, "utf8")));
}

/**
 * Returns a loader's text with our message instead of napi's, or instead of our earlier one.
 *
 * @param {string} text
 * @throws {SetupProblem}
 */
export function withOwnMessage(text) {
	const pattern = [ownPattern, ofNapi].find((pattern) => pattern.test(text));
	if (!pattern) {
		const how = "scripts/lib/loader.mjs replaces its error message. Compare native.js, and adapt the pattern.";
		throw new SetupProblem("The end of napi's loader has changed.", how);
	}
	return text.replace(pattern, () => ending(readdirSync(join(root, "npm")).sort()));
}

/** @param {string[]} platforms the platforms that have a package */
function ending(platforms) {
	const isClone = "require('fs').existsSync(require('path').join(__dirname, 'Cargo.toml'))";
	return `${heading}
${missingAddon}

if (!nativeBinding) {
	const packages = ${JSON.stringify(platforms)}
	const folder = ${isClone} ? __dirname : undefined
	const error = missingAddon(process, isMusl(), packages, loadErrors, folder)
	error.cause = createLoadErrorChain(loadErrors)
	throw error
}
`;
}

/**
 * Returns the error for a missing addon. Its fields let a caller suggest a better remedy. The function is copied into
 * `native.js` as it is, so it uses nothing from outside.
 *
 * @param {{ platform: string, arch: string, versions: { node: string } }} process
 * @param {boolean} isMusl
 * @param {string[]} platforms the platforms that have a package
 * @param {{ code?: string, message?: string }[]} failures the errors of the attempts
 * @param {string} [clone] the folder of the sources, if there is one
 * @returns {Error & { platform: string, reason: string, isSupported: boolean }}
 */
export function missingAddon(process, isMusl, platforms, failures, clone) {
	const system = `${process.platform}-${process.arch}`;
	const library = isMusl ? "musl" : "glibc";
	/** @type {Record<string, string>} */
	const abis = { linux: isMusl ? "-musl" : "-gnu", win32: "-msvc" };
	const name = `${system}${abis[process.platform] ?? ""}`;
	// The files that exist and do not load, for instance because they need a newer system.
	const broken = failures.find((failure) => failure?.code !== "MODULE_NOT_FOUND");
	const isSupported = platforms.includes(name);
	let reason = `its package pi-subagent-native-${name} is not installed`;
	let remedy = "Install it with `npm install --include=optional pi-subagent-native`.";
	if (!isSupported) {
		reason = "there is no package for this platform";
		remedy = `There are: ${platforms.join(", ")}.`;
	} else {
		if (broken) reason = String(broken.message).split("\n", 1)[0] ?? "";
		else if (clone) reason = "it has not been built";
		if (clone) remedy = `Run \`npm run setup\` in ${clone}.`;
	}
	const platform = `${system}${process.platform === "linux" ? `, ${library}` : ""}, Node ${process.versions.node}`;
	const words = `the native addon of pi-subagent-native could not be loaded (${platform}): ${reason}. ${remedy}`;
	return Object.assign(new Error(words), { platform, reason, isSupported });
}
