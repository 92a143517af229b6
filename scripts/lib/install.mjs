/** Puts files into `.setup` completely or not at all, and keeps two setups from running at the same time. */

import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { note } from "./progress.mjs";

/**
 * The time that one setup waits for another in the same clone. A first build of the addon takes a few minutes at most.
 */
const lockWaitMs = 15 * 60_000;

/**
 * Fills a folder below `.setup`. The folder gets another name until it is complete.
 *
 * @param {string} name
 * @param {(folder: string) => Promise<void>} fill
 * @returns {Promise<string>} the folder
 */
export async function installInto(name, fill) {
	const place = join(setupDir, name);
	mkdirSync(setupDir, { recursive: true });
	const folder = mkdtempSync(join(setupDir, `${name}.part-`));
	try {
		// Without its own package.json, npm would use the clone's for this folder.
		writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true })}\n`);
		await fill(folder);
		rmSync(place, { recursive: true, force: true });
		// `mkdtemp` closes the folder to other users, but some tests run as another user.
		chmodSync(folder, 0o755);
		renameSync(folder, place);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
	return place;
}

/**
 * Runs work while no other setup runs in this clone.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(work) {
	mkdirSync(setupDir, { recursive: true });
	const path = join(setupDir, "lock");
	const deadline = performance.now() + lockWaitMs;
	let isShown = false;
	while (!take(path)) {
		const holder = Number(readOrEmpty(path));
		if (holder > 0 && !isAlive(holder)) {
			rmSync(path, { force: true });
			continue;
		}
		if (!isShown) note(`  … waiting for another setup in this clone (process ${holder})`);
		isShown = true;
		if (performance.now() > deadline) {
			throw new SetupProblem(`Another setup (process ${holder}) does not end.`, `End it, or remove ${path}.`);
		}
		await delay(250);
	}
	const release = () => rmSync(path, { force: true });
	process.once("exit", release);
	try {
		removeParts();
		return await work();
	} finally {
		process.removeListener("exit", release);
		release();
	}
}

/** @param {string} path */
function take(path) {
	try {
		writeFileSync(path, `${process.pid}\n`, { flag: "wx" });
		return true;
	} catch (error) {
		if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
		throw error;
	}
}

/** @param {string} path */
function readOrEmpty(path) {
	return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** @param {number} pid */
function isAlive(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
	}
}

/** Removes the parts of an interrupted setup. Only the holder of the lock may do this. */
function removeParts() {
	for (const name of readdirSync(setupDir)) {
		if (name.includes(".part-")) rmSync(join(setupDir, name), { recursive: true, force: true });
	}
}
