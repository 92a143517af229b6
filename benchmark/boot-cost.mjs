/** Measures the cost of booting a pi in RPC mode, until it answers its first command. Linux only. */

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/**
 * The time after the first answer at which a pi's cost is measured. Work that it starts until then belongs to its boot.
 */
const settleMs = 400;

/** The time limit for the first answer. */
const limitMs = 60_000;

/**
 * @typedef {{ ms: number, cpuMs: number, pssMib: number }} BootCost the time until the answer, and the resources of all
 * its processes a short time later
 */

/**
 * Boots a pi and ends it.
 *
 * @param {string[]} command
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} place
 * @returns {Promise<BootCost>}
 */
export async function bootCost([program = "", ...args], { cwd, env }) {
	const began = performance.now();
	const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
	const complaints = /** @type {string[]} */ ([]);
	child.stderr.setEncoding("utf8").on("data", (text) => complaints.push(text));
	// If the process has exited, its end is reported instead of this error.
	child.stdin.on("error", () => undefined);
	const ended = new Promise((resolve) => {
		child.once("error", (error) => resolve(error.message));
		child.once("close", (code, signal) => resolve(code ?? signal));
	});
	const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
	try {
		child.stdin.write('{"id":"booted","type":"get_state"}\n');
		const ms = await Promise.race([
			answered(child.stdout).then(() => performance.now() - began),
			ended.then((end) => Promise.reject(new Error(`pi has ended (${end}): ${complaints.join("")}`))),
		]);
		await delay(settleMs);
		const tree = withDescendants(child.pid ?? 0);
		return { ms, cpuMs: sum(tree.map(cpuMs)), pssMib: sum(tree.map(pssMib)) };
	} finally {
		child.stdin.end();
		await ended;
		clearTimeout(timer);
	}
}

/**
 * Resolves with the response to the command.
 *
 * @param {import("node:stream").Readable} stdout
 */
async function answered(stdout) {
	let text = "";
	stdout.setEncoding("utf8");
	await new Promise((resolve) => {
		stdout.on("data", (more) => {
			text += more;
			if (/"id":"booted".*\n/.test(text)) resolve(undefined);
		});
	});
}

/** @param {number[]} values */
function sum(values) {
	return values.reduce((total, value) => total + value, 0);
}

/**
 * Returns a process and all of its descendants.
 *
 * @param {number} pid
 * @returns {number[]}
 */
export function withDescendants(pid) {
	const children = tasks(pid).flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(" "));
	return [pid, ...children.filter(Boolean).flatMap((child) => withDescendants(Number(child)))];
}

/** @param {number} pid */
function tasks(pid) {
	try {
		return readdirSync(`/proc/${pid}/task`);
	} catch {
		return [];
	}
}

/** @param {number} pid */
function cpuMs(pid) {
	return sum(tasks(pid).map((task) => Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0]) / 1e6));
}

/**
 * Returns the proportional set size: shared pages count in equal parts for all processes that map them. @param {number}
 * pid
 */
export function pssMib(pid) {
	return Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024;
}

/** Returns a file's text, or an empty text if the process has exited. @param {string} path */
function read(path) {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
