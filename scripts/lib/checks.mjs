/** Checks the machine's requirements before anything is installed or built. */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { oldestNode, oldestRust } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { npm, pathWith, probe } from "./programs.mjs";

/**
 * @typedef {{ major: number, minor: number }} Version
 * @typedef {{ what: string, how: string }} Missing
 */

/**
 * Returns the first version number in a text.
 *
 * @param {string | undefined} text
 * @returns {Version | undefined}
 */
export function versionIn(text) {
	const match = /(\d+)\.(\d+)/.exec(text ?? "");
	return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}

/**
 * @param {Version | undefined} version
 * @param {Version} floor
 */
export function atLeast(version, floor) {
	if (!version) return false;
	return version.major > floor.major || (version.major === floor.major && version.minor >= floor.minor);
}

/**
 * Checks everything at once, so that a user can fix all problems together.
 *
 * @throws {SetupProblem} that lists all problems
 */
export function checkMachine() {
	findCargoHome();
	const missing = [platform(), node(), npmProgram(), rust(), linker(), archiver()].filter(
		(found) => found !== undefined,
	);
	const [first, ...rest] = missing;
	if (!first) return;
	const more = rest.map(({ what, how }) => `\n${what}\n${how}`).join("\n");
	throw new SetupProblem(first.what, `${first.how}${more ? `\n${more}` : ""}`);
}

/**
 * Adds cargo's folder to the path. rustup puts cargo into a folder that is not on the path of a shell started earlier.
 */
function findCargoHome() {
	if (probe("cargo", ["--version"])) return;
	const folder = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
	if (existsSync(folder)) process.env.PATH = pathWith(folder);
}

/** @returns {Missing | undefined} */
function platform() {
	const supported = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
	const here = `${process.platform}-${process.arch}`;
	if (supported.includes(here)) return undefined;
	return {
		what: `This platform (${here}) is not supported.`,
		how: `Supported are ${supported.join(", ")}. On 32-bit Node for a 64-bit system, install the 64-bit one.`,
	};
}

/** @returns {Missing | undefined} */
function node() {
	if (atLeast(versionIn(process.version), oldestNode)) return undefined;
	return {
		what: `Node ${process.version} is too old; ${oldestNode.major} or newer is needed.`,
		how: "Install a current one from https://nodejs.org or with your version manager, for instance: nvm install 24",
	};
}

/** @returns {Missing | undefined} */
function npmProgram() {
	const [program, ...args] = npm();
	if (probe(program, [...args, "--version"])) return undefined;
	return {
		what: "npm is missing.",
		how: "It comes with Node from https://nodejs.org; on Debian and Ubuntu: sudo apt install npm",
	};
}

/** @returns {Missing | undefined} */
function rust() {
	const how = [
		"Install Rust with rustup, https://rustup.rs:",
		"  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
		"and open a new shell. If rustup is there already: rustup update stable",
	].join("\n");
	const needed = `${oldestRust.major}.${oldestRust.minor}`;
	const cargo = probe("cargo", ["--version"]);
	const rustc = probe("rustc", ["--version"]);
	if (!cargo || !rustc) return { what: `Rust is missing: ${cargo ? "rustc" : "cargo"} cannot be run.`, how };
	if (atLeast(versionIn(rustc), oldestRust)) return undefined;
	return { what: `Rust is too old: ${rustc}; ${needed} or newer is needed.`, how };
}

/** @returns {Missing | undefined} */
function linker() {
	// On Windows rustc finds Microsoft's linker itself, and its own message explains how to install it.
	if (process.platform === "win32" || probe("cc", ["--version"])) return undefined;
	const how =
		process.platform === "darwin"
			? "Install Apple's command line tools: xcode-select --install"
			: [
					"Rust needs it to link. Install one of",
					"  Debian, Ubuntu: sudo apt install build-essential",
					"  Fedora, RHEL:   sudo dnf install gcc",
					"  Arch:           sudo pacman -S base-devel",
					"  Alpine:         sudo apk add build-base",
				].join("\n");
	return { what: "A C compiler (cc) is missing.", how };
}

/** @returns {Missing | undefined} */
function archiver() {
	if (probe("tar", ["--version"])) return undefined;
	return { what: "tar is missing.", how: "It unpacks pi. Install it with your system's package manager." };
}
