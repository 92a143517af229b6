/** Debian packages, unpacked below the setup directory and never installed. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { setupDir } from "../../scripts/lib/places.mjs";
import { Missing } from "./missing.mjs";

/** The time limit in ms. Reading a package list or unpacking takes a second; a download may wait for a slow mirror. */
const limitMs = 120_000;

/**
 * Unpacks packages once, with the dependencies that this machine lacks.
 *
 * @param {string} name the folder's name
 * @param {string[]} wanted
 * @returns {string} the folder with the unpacked packages
 * @throws {Missing} if they are not available
 */
export function unpack(name, wanted) {
	const folder = folderOf(name);
	if (isUnpacked(name)) return folder;
	if (!existsSync("/usr/bin/apt-get"))
		throw new Missing(`apt-get is missing; it is needed to fetch ${wanted.join(", ")}`);
	const fresh = `${folder}.${process.pid}`;
	const files = join(fresh, "packages");
	mkdirSync(files, { recursive: true });
	try {
		execute("apt-get", ["download", ...withDependencies(wanted)], files);
		for (const file of readdirSync(files)) execute("dpkg", ["-x", join(files, file), fresh], files);
		rmSync(files, { recursive: true });
		renameSync(fresh, folder);
	} finally {
		rmSync(fresh, { recursive: true, force: true });
	}
	return folder;
}

/** Returns true if the packages of an engine are unpacked. @param {string} name */
export function isUnpacked(name) {
	return existsSync(folderOf(name));
}

/** @param {string} name */
function folderOf(name) {
	return join(setupDir, "engines", name);
}

/**
 * Returns the packages that apt would install here, including the given ones if they are installed already.
 *
 * @param {string[]} wanted
 */
function withDependencies(wanted) {
	const plan = execute("apt-get", ["install", "--simulate", "--no-install-recommends", ...wanted]);
	// An upgrade shows the old version in brackets; the installed version is good enough.
	const added = plan.matchAll(/^Inst (\S+) \(/gm);
	return new Set([...wanted, ...[...added].map(([, name]) => /** @type {string} */ (name))]);
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} [cwd]
 */
function execute(program, args, cwd) {
	try {
		return execFileSync(program, args, { cwd, encoding: "utf8", stdio: "pipe", timeout: limitMs });
	} catch (error) {
		const message = /** @type {{ stderr?: string }} */ (error).stderr?.match(/^E: .*$/m)?.[0];
		throw new Missing(message ? `${program}: ${message.slice(3)}` : `${program} cannot be run`);
	}
}

/** The folder of the shared libraries in unpacked packages. */
export const libraries = join("usr", "lib", architecture());

function architecture() {
	return process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}
