/** Puts something into `.setup` as a whole or not at all, and keeps two set-ups out of each other's way. */

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

/** How long one set-up waits for another in the same clone; a first build of the addon takes a few minutes at most. */
const lockWaitMs = 15 * 60_000;

/**
 * Fills a folder below `.setup`: made beside its place and renamed when complete.
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
		// Without a package.json of its own, npm would take the clone's for this folder's.
		writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true })}\n`);
		await fill(folder);
		rmSync(place, { recursive: true, force: true });
		// `mkdtemp` closes it to others, and a test becomes another user to be refused.
		chmodSync(folder, 0o755);
		renameSync(folder, place);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
	return place;
}

/**
 * Runs work while no other set-up in this clone does.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(work) {
	mkdirSync(setupDir, { recursive: true });
	const path = join(setupDir, "lock");
	const deadline = performance.now() + lockWaitMs;
	let told = false;
	while (!take(path)) {
		const holder = Number(readOrEmpty(path));
		if (holder > 0 && !isAlive(holder)) {
			rmSync(path, { force: true });
			continue;
		}
		if (!told) note(`  … waiting for another set-up in this clone (process ${holder})`);
		told = true;
		if (performance.now() > deadline) {
			throw new SetupProblem(`Another set-up (process ${holder}) does not end.`, `End it, or remove ${path}.`);
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

/** What an interrupted set-up left behind; only the holder of the lock may do this. */
function removeParts() {
	for (const name of readdirSync(setupDir)) {
		if (name.includes(".part-")) rmSync(join(setupDir, name), { recursive: true, force: true });
	}
}
