/** Descendants that are hard to find or hard to end. Each ends by itself after a while, whatever becomes of it. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { lifetimeMs, log } from "./stage.mjs";

const program = fileURLToPath(new URL("fake-pi.mjs", import.meta.url));

/** How long a descendant may take until it is as deaf as it was asked to be. */
const upWithinMs = 10_000;

/** The program of a descendant: says its process id when nothing can surprise it any more, then sleeps. */
const sleeper = (/** @type {boolean} */ isPolite, /** @type {number} */ seconds) =>
	`${isPolite ? "" : 'trap "" TERM HUP INT; '}echo $$ >&3; exec 3>&-; exec sleep ${seconds}`;

/**
 * How a descendant gets away.
 *
 * @type {Record<string, { shell?: string, script: (sleeper: string) => string, detached?: boolean }>}
 */
export const forks = {
	/** A child in our own process group. */
	plain: { script: (sleeper) => sleeper },
	/** Leader of a process group of its own, below a parent that stays: what bash makes of a job when told to. */
	group: { shell: "bash", script: (sleeper) => `set -m; sh -c '${sleeper}' & wait` },
	/** Leader of a session of its own. */
	session: { script: (sleeper) => sleeper, detached: true },
	/** In a session that it does not lead, its parents gone: a daemon. */
	daemon: { script: (sleeper) => `sh -c '${sleeper}' & exit 0`, detached: true },
};

/**
 * Starts one and waits until it is what it should be.
 *
 * @param {string} kind
 * @param {{ polite: boolean, holds: string, seconds: number }} how
 */
export async function fork(kind, { polite, holds, seconds }) {
	const { shell = "sh", script, detached = false } = forks[kind] ?? { script: String };
	const output = holds === "stdout" ? "inherit" : "ignore";
	const child = spawn(shell, ["-c", script(sleeper(polite, seconds))], {
		stdio: ["ignore", output, "ignore", "pipe"],
		detached,
	});
	child.unref();
	const pid = await firstLine(child, /** @type {import("node:stream").Readable} */ (child.stdio[3]));
	log({ forked: kind, pid });
}

/** @param {import("node:child_process").ChildProcess} child @param {import("node:stream").Readable} pipe */
async function firstLine(child, pipe) {
	return await new Promise((resolve, reject) => {
		const late = setTimeout(() => reject(new Error(`${child.spawnfile} did not come up`)), upWithinMs);
		child.once("error", reject);
		pipe.once("data", (line) => {
			clearTimeout(late);
			pipe.destroy();
			resolve(Number(String(line)));
		});
	});
}

/**
 * Plays steps in a process of its own, which says nothing.
 *
 * @param {unknown[]} steps
 * @param {{ detached: boolean }} how
 */
export function playInChild(steps, { detached }) {
	const env = { ...process.env, FAKE_PI_SCENARIO: JSON.stringify(["deaf", ...steps]) };
	const child = spawn(process.execPath, [program, "--mode", "json"], { stdio: "ignore", env, detached });
	child.unref();
	log({ child: child.pid });
}

/** Ends this process when its time is over, even one that waits for nothing. */
export function limitLifetime() {
	setTimeout(() => process.exit(1), lifetimeMs).unref();
}
