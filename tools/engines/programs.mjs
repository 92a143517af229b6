/**
 * Starts the programs of an engine: short ones, which a launcher runs, and servers, which run until the scenes have
 * ended.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { Missing } from "./missing.mjs";

/** The time limit for a server's start. The servers here need a tenth of a second. */
const startLimitMs = 20_000;
/** The time limit for a server to exit on its own. */
const stopLimitMs = 5_000;

/** Ends a server when its starter is killed. */
export const dyingWithParent = ["setpriv", "--pdeathsig", "TERM", "--"];

/**
 * Writes a program that runs another one with its own environment, into the first folder of PATH.
 *
 * @param {string} place
 * @param {string} name
 * @param {string[]} argv the program and its first arguments
 * @param {Record<string, string>} [env]
 */
export function wrap(place, name, argv, env = {}) {
	const folder = programsOf(place);
	mkdirSync(folder, { recursive: true });
	const path = join(folder, name);
	const settings = Object.entries(env).map(([key, value]) => `${key}=${quoted(value)}\nexport ${key}\n`);
	writeFileSync(path, `#!/bin/sh\n${settings.join("")}exec ${argv.map(quoted).join(" ")} "$@"\n`);
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
 * Runs a command of an engine to its end, and throws its output if it fails.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, input?: string }} [options]
 */
export function command(program, args, options = {}) {
	const result = spawnSync(program, args, { encoding: "utf8", timeout: startLimitMs, ...options });
	if (result.error) throw new Error(`${program}: ${result.error.message}`);
	if (result.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${result.stderr.trim() || result.status}`);
	return result.stdout;
}

/**
 * Runs a command like {@link command}, but throws `Missing` if it fails, because the machine may not permit it.
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
 * Returns ports that are free now.
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
	/** @type {{ child: import("node:child_process").ChildProcess, output: string }[]} */
	#all = [];
	#isStopping = false;

	/**
	 * Starts a program in the foreground.
	 *
	 * @param {string[]} argv
	 * @param {NodeJS.ProcessEnv} env
	 * @param {{ again?: boolean }} [options] `again`: start it again after it has exited with success, as a test requests
	 */
	start(argv, env, options = {}) {
		const [program = "", ...args] = [...dyingWithParent, ...argv];
		const begin = () => {
			// A process group of its own, so that an interrupt from a terminal does not reach it before it is stopped in
			// order.
			const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
			child.once("error", (error) => {
				server.output += error.message;
			});
			child.stderr.on("data", (bytes) => {
				server.output = `${server.output}${bytes}`.slice(-4000);
			});
			child.once("exit", (code) => {
				if (options.again && code === 0 && !this.#isStopping) server.child = begin();
			});
			return child;
		};
		const server = { child: /** @type {import("node:child_process").ChildProcess} */ ({}), output: "" };
		server.child = begin();
		this.#all.push(server);
		return server;
	}

	/**
	 * Waits until a condition holds. Throws the servers' output if one of them exits or the time limit is reached.
	 *
	 * @param {string} what
	 * @param {() => boolean} holds
	 */
	async until(what, holds) {
		const limit = Date.now() + startLimitMs;
		for (;;) {
			if (holds()) return;
			const ended = this.#all.find(({ child }) => hasEnded(child));
			if (ended || Date.now() > limit) {
				const outputs = (ended ? [ended] : this.#all).map((server) => server.output.trim().split("\n").at(-1));
				throw new Error(`${what}: ${outputs.filter(Boolean).join("; ")}`);
			}
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}

	/** Stops all programs, the last one first. */
	async stop() {
		this.#isStopping = true;
		for (const { child } of this.#all.reverse()) {
			if (hasEnded(child)) continue;
			const exited = once(child, "exit");
			child.kill("SIGTERM");
			const forced = setTimeout(() => child.kill("SIGKILL"), stopLimitMs);
			await exited;
			clearTimeout(forced);
		}
	}
}

/** @param {import("node:child_process").ChildProcess} child */
function hasEnded(child) {
	return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}
