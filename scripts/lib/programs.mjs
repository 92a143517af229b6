/** Runs other programs: quietly with a log that is shown on failure, or with their output passed through. */

import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";

/** How many lines of a failed program's output are shown: npm says what is wrong first, cargo last. */
const shownLines = { first: 10, last: 30 };

/** How much of a program's output is kept to show it. */
const keptCharacters = 64 * 1024;

/** How long the rest of its output is waited for after a program has ended. */
const drainMs = 2_000;

/** @typedef {[program: string, ...args: string[]]} Command */

/**
 * cargo's flags for everything but the napi edge. They name the warden's own feature, because the first flag alone would
 * switch off the program of that member as well.
 */
export const coreFeatures = ["--no-default-features", "--features", "pi-subagent-warden/guardian"];

/**
 * Every program that runs now, so that an interrupt ends them.
 *
 * @type {Set<import("node:child_process").ChildProcess>}
 */
const running = new Set();

/**
 * The environment of programs that set-up starts. npm hands its own settings down as `npm_config_…` when a script runs
 * under `npm run`; they stay, because a proxy or a registry may be among them.
 *
 * @param {Record<string, string>} [extra]
 */
export function programEnv(extra = {}) {
	return { ...process.env, ...extra };
}

/**
 * `PATH` with folders in front.
 *
 * @param {...string} folders
 */
export function pathWith(...folders) {
	return [...folders, process.env.PATH ?? ""].filter(Boolean).join(delimiter);
}

/**
 * First line that a program prints, or nothing when it cannot be run.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {string | undefined}
 */
export function probe(program, args) {
	return outputOf(program, args)?.split("\n")[0];
}

/**
 * What a program prints, or nothing when it cannot be run.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {string | undefined}
 */
export function outputOf(program, args) {
	const result = spawnSync(program, args, { encoding: "utf8", timeout: 30_000, windowsHide: true });
	if (result.error || result.status !== 0) return undefined;
	return `${result.stdout}${result.stderr}`.trim();
}

/**
 * The npm that runs this script, else the one on the path: a program and its first arguments.
 *
 * @returns {Command}
 */
export function npm() {
	const script = process.env.npm_execpath;
	if (script && /npm-cli\.[cm]?js$/.test(script)) return [process.execPath, script];
	if (process.platform !== "win32") return ["npm"];
	return [process.execPath, `${dirname(process.execPath)}\\node_modules\\npm\\bin\\npm-cli.js`];
}

/**
 * Runs a program to its end with its output kept, and throws with the end of that output when it fails.
 *
 * @param {string} what a short name for messages, for instance `npm ci`
 * @param {Command} command
 * @param {{ cwd?: string, env?: Record<string, string>, hint?: string }} [options]
 * @returns {Promise<string>} the output
 */
export async function runQuietly(what, command, options = {}) {
	let output = "";
	const keep = (/** @type {Buffer} */ chunk) => {
		output = (output + chunk.toString()).slice(-keptCharacters);
	};
	const code = await run(command, { ...options, onOutput: keep });
	if (code === 0) return output;
	throw new SetupProblem(`${what} failed (${code}).`, `${options.hint ? `${options.hint}\n\n` : ""}${ends(output)}`);
}

/** @param {string} output */
function ends(output) {
	const lines = output.trimEnd().split("\n");
	const { first, last } = shownLines;
	if (lines.length <= first + last) return lines.join("\n");
	return [...lines.slice(0, first), "…", ...lines.slice(-last)].join("\n");
}

/**
 * Runs a program and resolves with its exit code, or with a sentence where there is none.
 *
 * @param {Command} command
 * @param {{ cwd?: string, env?: Record<string, string>, onOutput?: (chunk: Buffer) => void, priority?: number }} [options]
 * `priority` is one of `os.constants.priority`, and holds for what the program starts as well
 * @returns {Promise<number | string>}
 */
export function run(command, options = {}) {
	const [program, ...args] = command;
	return new Promise((resolve) => {
		const output = options.onOutput ? "pipe" : "inherit";
		/** @type {import("node:child_process").ChildProcess} */
		const child = spawn(program, args, {
			cwd: options.cwd ?? root,
			env: programEnv(options.env),
			stdio: ["ignore", output, output],
			windowsHide: true,
		});
		running.add(child);
		if (options.priority !== undefined && child.pid) lower(child.pid, options.priority);
		if (options.onOutput) {
			child.stdout?.on("data", options.onOutput);
			child.stderr?.on("data", options.onOutput);
		}
		child.once("error", (error) => {
			running.delete(child);
			resolve(`cannot start ${program}: ${error.message}`);
		});
		// A process it left behind may hold its output open for ever.
		child.once("exit", () => {
			setTimeout(() => {
				child.stdout?.destroy();
				child.stderr?.destroy();
			}, drainMs).unref();
		});
		child.once("close", (code, signal) => {
			running.delete(child);
			resolve(code ?? `ended by ${signal}`);
		});
	});
}

/**
 * @param {number} pid
 * @param {number} priority
 */
function lower(pid, priority) {
	try {
		setPriority(pid, priority);
	} catch {
		// It has ended already, or the system does not allow it: then it competes with the others.
	}
}

/** Ends every program that `run` started and that is still there. */
export function endRunning() {
	for (const child of running) child.kill("SIGTERM");
}

/**
 * A program of an installed npm package, run by the present Node, which works on every platform.
 *
 * @param {string} name of the package
 * @param {string} program
 * @returns {[node: string, script: string]}
 */
export function packageProgram(name, program) {
	const folder = join(root, "node_modules", name);
	const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	return [process.execPath, join(folder, typeof bin === "string" ? bin : bin[program])];
}
