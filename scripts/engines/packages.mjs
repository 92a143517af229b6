/** Debian packages, unpacked below the set-up directory and never installed. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { setupDir } from "../lib/places.mjs";
import { Missing } from "./missing.mjs";

/** What reads a list of packages or unpacks one takes a second; a download may wait for a slow mirror. */
const limit = 120_000;

/**
 * Unpacks packages with what this machine lacks of their dependencies, once.
 *
 * @param {string} name of the folder
 * @param {string[]} wanted
 * @returns {string} where they are unpacked
 * @throws {Missing} where they cannot be had
 */
export function unpack(name, wanted) {
	const folder = folderOf(name);
	if (isUnpacked(name)) return folder;
	if (!existsSync("/usr/bin/apt-get")) throw new Missing(`no apt-get here, which brings ${wanted.join(", ")}`);
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

/** Whether the packages of an engine are there. @param {string} name */
export function isUnpacked(name) {
	return existsSync(folderOf(name));
}

/** @param {string} name */
function folderOf(name) {
	return join(setupDir, "engines", name);
}

/**
 * What apt would install for packages here, and the packages themselves where they are installed.
 *
 * @param {string[]} wanted
 */
function withDependencies(wanted) {
	const plan = execute("apt-get", ["install", "--simulate", "--no-install-recommends", ...wanted]);
	// An upgrade has the old version in brackets: what is installed will do.
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
		return execFileSync(program, args, { cwd, encoding: "utf8", stdio: "pipe", timeout: limit });
	} catch (error) {
		const said = /** @type {{ stderr?: string }} */ (error).stderr?.match(/^E: .*$/m)?.[0];
		throw new Missing(said ? `${program}: ${said.slice(3)}` : `${program} cannot be run`);
	}
}

/** Where the shared libraries of unpacked packages lie. */
export const libraries = join("usr", "lib", architecture());

function architecture() {
	return process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}
