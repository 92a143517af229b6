/** The programs of an engine: the short ones that a launcher starts, and those that run until the scenes are over. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { Missing } from "./missing.mjs";

/** How long a server may take to be there. Those here take a tenth of a second. */
const starting = 20_000;
/** How long one may take to end by itself. */
const ending = 5_000;

/** Ends a server whose starter is killed. */
export const dyingWithParent = ["setpriv", "--pdeathsig", "TERM", "--"];

/**
 * Writes a program that runs another one with an environment of its own, into the folder that is first in PATH.
 *
 * @param {string} place
 * @param {string} name
 * @param {string[]} words the program and its first arguments
 * @param {Record<string, string>} [env]
 */
export function wrap(place, name, words, env = {}) {
	const folder = programsOf(place);
	mkdirSync(folder, { recursive: true });
	const path = join(folder, name);
	const settings = Object.entries(env).map(([key, value]) => `${key}=${quoted(value)}\nexport ${key}\n`);
	writeFileSync(path, `#!/bin/sh\n${settings.join("")}exec ${words.map(quoted).join(" ")} "$@"\n`);
	chmodSync(path, 0o755);
	return path;
}

/** @param {string} place */
export function programsOf(place) {
	return join(place, "bin");
}

/** @param {string} word */
function quoted(word) {
	return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Runs a command of an engine to its end and throws what it said where it fails.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, input?: string }} [options]
 */
export function command(program, args, options = {}) {
	const result = spawnSync(program, args, { encoding: "utf8", timeout: starting, ...options });
	if (result.error) throw new Error(`${program}: ${result.error.message}`);
	if (result.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${result.stderr.trim() || result.status}`);
	return result.stdout;
}

/**
 * As {@link command}, for what this machine may not permit: its failure is no fault of the engine.
 *
 * @param {string} program
 * @param {string[]} args
 */
export function permitted(program, args) {
	try {
		return command(program, args);
	} catch (error) {
		throw new Missing(`not permitted here: ${error instanceof Error ? error.message : error}`);
	}
}

/**
 * Ports that are free now.
 *
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function freePorts(count) {
	const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
	await Promise.all(servers.map((server) => once(server, "listening")));
	const ports = servers.map((server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port);
	for (const server of servers) server.close();
	return ports;
}

/** Programs that run until they are stopped. */
export class Servers {
	/** @type {{ child: import("node:child_process").ChildProcess, said: string }[]} */
	#all = [];
	#isStopping = false;

	/**
	 * Starts one, in the foreground.
	 *
	 * @param {string[]} words
	 * @param {NodeJS.ProcessEnv} env
	 * @param {{ again?: boolean }} [how] `again`: it is started once more when it has ended by itself with success, as a test asks it to
	 */
	start(words, env, how = {}) {
		const [program = "", ...args] = [...dyingWithParent, ...words];
		const begin = () => {
			// In a group of its own, so that an interrupt from a terminal leaves it to be stopped in order.
			const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
			child.once("error", (error) => {
				server.said += error.message;
			});
			child.stderr.on("data", (bytes) => {
				server.said = `${server.said}${bytes}`.slice(-4000);
			});
			child.once("exit", (code) => {
				if (how.again && code === 0 && !this.#isStopping) server.child = begin();
			});
			return child;
		};
		const server = { child: /** @type {import("node:child_process").ChildProcess} */ ({}), said: "" };
		server.child = begin();
		this.#all.push(server);
		return server;
	}

	/**
	 * Waits until something holds, and throws what the servers said where one of them has ended or it never does.
	 *
	 * @param {string} what
	 * @param {() => boolean} holds
	 */
	async until(what, holds) {
		const limit = Date.now() + starting;
		for (;;) {
			if (holds()) return;
			const ended = this.#all.find(({ child }) => isOver(child));
			if (ended || Date.now() > limit) {
				const said = (ended ? [ended] : this.#all).map((server) => server.said.trim().split("\n").at(-1));
				throw new Error(`${what}: ${said.filter(Boolean).join("; ")}`);
			}
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}

	/** Ends them, the last one first. */
	async stop() {
		this.#isStopping = true;
		for (const { child } of this.#all.reverse()) {
			if (isOver(child)) continue;
			const over = once(child, "exit");
			child.kill("SIGTERM");
			const forced = setTimeout(() => child.kill("SIGKILL"), ending);
			await over;
			clearTimeout(forced);
		}
	}
}

/** @param {import("node:child_process").ChildProcess} child */
function isOver(child) {
	return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}
