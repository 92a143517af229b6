/** Stamps record the inputs of a step, so that it runs again only if they have changed. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

import { root, setupDir } from "./places.mjs";

/**
 * Returns the hash of files and folders of the clone, by path and content. A missing file has a hash too.
 *
 * @param {string[]} paths relative to the root
 * @param {string[]} [extra] further values that the step depends on
 */
export function hashOf(paths, extra = []) {
	const hash = createHash("sha256");
	for (const path of paths) addPath(hash, join(root, path));
	for (const value of extra) hash.update(`\0value\0${value}`);
	return hash.digest("hex");
}

/**
 * @param {import("node:crypto").Hash} hash
 * @param {string} path
 */
function addPath(hash, path) {
	const name = relative(root, path);
	const found = statSync(path, { throwIfNoEntry: false });
	if (!found) {
		hash.update(`\0missing\0${name}`);
	} else if (found.isDirectory()) {
		for (const entry of readdirSync(path).sort()) addPath(hash, join(path, entry));
	} else {
		hash.update(`\0file\0${name}\0${found.size}\0`).update(readFileSync(path));
	}
}

/**
 * @param {string} name
 * @returns {string | undefined}
 */
export function readStamp(name) {
	try {
		return readFileSync(join(setupDir, `${name}.stamp`), "utf8").trim();
	} catch {
		return undefined;
	}
}

/**
 * @param {string} name
 * @param {string} value
 */
export function writeStamp(name, value) {
	writeWhole(join(setupDir, `${name}.stamp`), `${value}\n`);
}

/** @param {string} name */
export function dropStamp(name) {
	rmSync(join(setupDir, `${name}.stamp`), { force: true });
}

/**
 * Writes a file of the project atomically, so that neither a reader nor an interrupt can meet a partial file. The
 * temporary file is in the setup directory: a cargo that scans the project would fail on a file that has just been
 * removed.
 *
 * @param {string} path
 * @param {string} text
 */
export function writeWhole(path, text) {
	for (const folder of [dirname(path), setupDir]) mkdirSync(folder, { recursive: true });
	const temporary = join(setupDir, `${basename(path)}.${process.pid}.tmp`);
	writeFileSync(temporary, text);
	renameSync(temporary, path);
}
