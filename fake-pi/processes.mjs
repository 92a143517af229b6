/** Starts descendants that are hard to find or hard to end. Each exits after a while in any case. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { lifetimeMs, log } from "./stage.mjs";

const program = fileURLToPath(new URL("fake-pi.mjs", import.meta.url));

/** The time limit for a descendant to set up its signal handling. */
const startLimitMs = 10_000;

/**
 * Returns the shell script of a descendant: it prints its process id once its signal handling is set up, then sleeps.
 */
const sleeper = (/** @type {boolean} */ isPolite, /** @type {number} */ seconds) =>
	`${isPolite ? "" : 'trap "" TERM HUP INT; '}echo $$ >&3; exec 3>&-; exec sleep ${seconds}`;

/**
 * The ways in which a descendant leaves its parent.
 *
 * @type {Record<string, { shell?: string, script: (sleeper: string) => string, detached?: boolean }>}
 */
export const forks = {
	/** A child in fake-pi's own process group. */
	plain: { script: (sleeper) => sleeper },
	/** The leader of its own process group, below a parent that stays, like a job of bash with job control. */
	group: { shell: "bash", script: (sleeper) => `set -m; sh -c '${sleeper}' & wait` },
	/** The leader of its own session. */
	session: { script: (sleeper) => sleeper, detached: true },
	/** A daemon: a member of another session without living parents. */
	daemon: { script: (sleeper) => `sh -c '${sleeper}' & exit 0`, detached: true },
};

/**
 * Starts a descendant and waits until it is set up.
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
		const late = setTimeout(() => reject(new Error(`${child.spawnfile} did not start in time`)), startLimitMs);
		child.once("error", reject);
		pipe.once("data", (line) => {
			clearTimeout(late);
			pipe.destroy();
			resolve(Number(String(line)));
		});
	});
}

/**
 * Plays steps in a separate process without output.
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

/** Ends this process after its maximum lifetime, even if it waits for nothing. */
export function limitLifetime() {
	setTimeout(() => process.exit(1), lifetimeMs).unref();
}
