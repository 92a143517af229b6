/**
 * Runs the measured programs. Each prints one line of JSON, runs in a process group of its own and has a time limit.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";

import { root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { closeAfterExit } from "../../scripts/lib/programs.mjs";

/**
 * @typedef {"events" | "text" | "children" | "trees" | "entries" | "definitions" | "records"} Program a program of `crates/…/benches`
 *
 * @typedef {object} Setting
 *
 * @property {Record<Program, string>} programs the paths of the native programs that the chosen sections need
 * @property {string} folder for data
 * @property {boolean} quick
 * @property {{ node: string, program: string }} [pi] the newest pi and the Node that runs it, if a section needs them
 */

/** Long enough for the slowest baseline on a slow machine. Slower programs set their own limit. */
const usualLimitMs = 180_000;

/** @type {Set<number>} */
const groups = new Set();

/**
 * Runs a program and returns its report.
 *
 * @param {string[]} command
 * @param {{ limitMs?: number, env?: Record<string, string> }} [options] its time limit, and additional environment
 * variables
 * @returns {Promise<any>} the report; nothing if the limit was reached, after the end of the program
 */
export async function report(command, options = {}) {
	const [program, ...args] = command;
	// A process group of its own, so that a pipeline ends as a whole.
	const env = { ...process.env, ...options.env };
	const child = spawn(program, args, { cwd: root, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
	let output = "";
	let complaints = "";
	child.stdout.setEncoding("utf8").on("data", (text) => {
		output += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text) => {
		complaints = (complaints + text).slice(-4000);
	});
	if (child.pid) groups.add(child.pid);
	closeAfterExit(child);
	let overran = false;
	const timer = setTimeout(() => {
		overran = true;
		if (child.pid) endGroup(child.pid);
	}, options.limitMs ?? usualLimitMs);
	const end = await new Promise((resolve) => {
		child.once("error", (error) => resolve(error.message));
		child.once("close", (code, signal) => resolve(code ?? signal));
	});
	clearTimeout(timer);
	if (child.pid) groups.delete(child.pid);
	if (overran) return undefined;
	if (end !== 0) throw new SetupProblem(`${command.join(" ")} failed (${end}).`, complaints || "It printed no error.");
	return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}

/**
 * Returns a pipeline of a writer and a reader, connected by a pipe that the shell creates.
 *
 * @param {[program: string, a: string, b: string, c: string]} writer
 * @param {string[]} reader
 * @returns {string[]}
 */
export function pipeline(writer, reader) {
	const script = 'a=$1 b=$2 c=$3 d=$4; shift 4; "$a" "$b" "$c" "$d" | "$@"';
	return ["/bin/sh", "-c", script, "sh", ...writer, ...reader];
}

/**
 * Runs commands in turn, several times, and returns the reports of each.
 *
 * @template {string} Name
 * @param {Record<Name, string[]>} commands
 * @param {number} rounds
 * @param {Parameters<typeof report>[1]} [options]
 * @returns {Promise<Record<Name, any[]>>}
 */
export async function alternate(commands, rounds, options) {
	const found = /** @type {Record<Name, any[]>} */ ({});
	for (let round = 0; round < rounds; round++) {
		for (const [name, command] of /** @type {[Name, string[]][]} */ (Object.entries(commands))) {
			const one = await report(command, options);
			if (!one) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
			found[name] ??= [];
			found[name].push(one);
		}
	}
	return found;
}

/**
 * Runs commands once and all at the same time, only to check that they work.
 *
 * @template {string} Name
 * @param {Record<Name, string[]>} commands
 * @returns {Promise<Record<Name, any[]>>}
 */
export async function together(commands) {
	const entries = /** @type {[Name, string[]][]} */ (Object.entries(commands));
	const found = await Promise.all(entries.map(([name, command]) => alternate({ [name]: command }, 1)));
	return Object.assign({}, ...found);
}

/**
 * Returns the command of a program in `benchmark/`, on the Node that runs this script.
 *
 * @param {string} name
 */
export function baseline(name) {
	return [process.execPath, join(root, "benchmark", `${name}.mjs`)];
}

/** Returns the pi of a section that needs one. @param {Setting} setting */
export function piOf({ pi }) {
	if (!pi) throw new Error("this section is missing from the list of sections that need pi");
	return pi;
}

/** Ends every measurement that is still running. */
export function endReports() {
	for (const pid of groups) endGroup(pid);
}

/** @param {number} pid */
function endGroup(pid) {
	try {
		process.kill(-pid, "SIGKILL");
	} catch {
		// The process has already ended.
	}
}

/**
 * Returns the median of several measurements and their range, such as `40 ms, 38 ms to 49 ms`.
 *
 * @param {number[]} values
 * @param {(value: number) => string} word formats a value with its unit
 */
export function spread(values, word) {
	if (values.length < 2) return word(median(values));
	return `${word(median(values))}, ${word(Math.min(...values))} to ${word(Math.max(...values))}`;
}

/** @param {number[]} values */
export function median(values) {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = sorted.length / 2;
	const upper = sorted[Math.floor(middle)] ?? Number.NaN;
	const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
	return (lower + upper) / 2;
}

/**
 * @param {number[]} values
 * @param {number} part 0.9 for p90
 */
export function quantile(values, part) {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
