/** Runs other programs, either quietly with a log that is shown on failure, or with their output passed through. */

import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { seconds } from "./progress.mjs";

/** The numbers of lines of a failed program's output to show. npm prints the cause first, cargo last. */
const shownLines = { first: 10, last: 30 };

/** The number of characters of a program's output to keep. cargo prints a kilobyte for each crate. */
const maxOutput = 1024 * 1024;

/** The time to wait for the rest of a program's output after the program has ended. */
const drainMs = 2_000;

/** The time between the request to exit and the kill of a program that has printed nothing for too long. */
const graceMs = 10_000;

/** The limits of a list of processes. */
const listed = { processes: 40, columns: 200 };

/** @typedef {[program: string, ...args: string[]]} Command */

/**
 * cargo's flags for everything except the napi edge. They name the warden's own feature, because the first flag would
 * also disable its program.
 */
export const coreFeatures = ["--no-default-features", "--features", "pi-subagent-warden/guardian"];

/** The same with the napi edge, and without the names `default`, which would be other features of the same code. */
export const edgeFeatures = [...coreFeatures, "--features", "pi-subagent-native/node"];

/**
 * The running programs, so that an interrupt can end them.
 *
 * @type {Set<import("node:child_process").ChildProcess>}
 */
const running = new Set();

/**
 * Returns the environment for programs that the setup starts. Under `npm run`, npm passes its own settings down as
 * `npm_config_…`. They stay, because they may contain a proxy or a registry.
 *
 * @param {Record<string, string>} [extra]
 */
export function programEnv(extra = {}) {
	return { ...process.env, ...extra };
}

/**
 * Returns `PATH` with folders in front.
 *
 * @param {...string} folders
 */
export function pathWith(...folders) {
	return [...folders, process.env.PATH ?? ""].filter(Boolean).join(delimiter);
}

/**
 * Returns the first line that a program prints, or nothing if it cannot be run.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {string | undefined}
 */
export function probe(program, args) {
	return outputOf(program, args)?.split("\n")[0];
}

/**
 * Returns a program's output, or nothing if it cannot be run.
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
 * Returns the npm that runs this script, or else the npm on the path, as a program and its first arguments.
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
 * Runs a program to its end and returns its output. If the program fails, throws an error with the end of the output.
 *
 * @param {string} what a short name for messages, for instance `npm ci`
 * @param {Command} command
 * @param {{ cwd?: string, env?: Record<string, string>, hint?: string }} [options]
 * @returns {Promise<string>} the output
 */
export async function runQuietly(what, command, options = {}) {
	let output = "";
	const collect = (/** @type {Buffer} */ chunk) => {
		output = (output + chunk.toString()).slice(-maxOutput);
	};
	const code = await run(command, { ...options, onOutput: collect });
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
 * Runs a program and resolves with its exit code, or with a sentence if there is none.
 *
 * With `silenceMs`, a program that prints nothing for that time is ended. A list of the processes that have started
 * since its start is appended to its output. Otherwise a program that waits forever would block a whole test run.
 *
 * @param {Command} command
 * @param {{ cwd?: string, env?: Record<string, string>, onOutput?: (chunk: Buffer) => void, priority?: number,
 *   silenceMs?: number }} [options] `priority` is one of `os.constants.priority`, and also applies to child processes.
 * `silenceMs` needs `onOutput`
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
		const silence = options.silenceMs === undefined ? undefined : endIfSilent(child, options.silenceMs);
		if (options.onOutput) {
			const { onOutput } = options;
			const pass = (/** @type {Buffer} */ chunk) => {
				silence?.timer.refresh();
				onOutput(chunk);
			};
			child.stdout?.on("data", pass);
			child.stderr?.on("data", pass);
		}
		child.once("error", (error) => {
			clearTimeout(silence?.timer);
			running.delete(child);
			resolve(`cannot start ${program}: ${error.message}`);
		});
		closeAfterExit(child);
		child.once("close", (code, signal) => {
			clearTimeout(silence?.timer);
			running.delete(child);
			const processes = silence?.processes();
			if (processes === undefined) return resolve(code ?? `ended by ${signal}`);
			options.onOutput?.(Buffer.from(`\nThese processes ran when it was ended:\n${processes}\n`));
			resolve(`no output for ${seconds(options.silenceMs ?? 0)}`);
		});
	});
}

/**
 * Closes the output of a program soon after its exit: a process that it has left behind may keep the output open forever.
 *
 * @param {import("node:child_process").ChildProcess} child
 */
export function closeAfterExit(child) {
	child.once("exit", () => {
		setTimeout(() => {
			child.stdout?.destroy();
			child.stderr?.destroy();
		}, drainMs).unref();
	});
}

/**
 * Ends a program when its timer expires, which a caller restarts at every output.
 *
 * @param {import("node:child_process").ChildProcess} child
 * @param {number} limitMs
 * @returns {{ timer: NodeJS.Timeout, processes: () => string | undefined }} `processes` returns the list of processes
 * if the timer has expired
 */
function endIfSilent(child, limitMs) {
	const began = Date.now();
	/** @type {string | undefined} */
	let processes;
	const timer = setTimeout(() => {
		if (processes !== undefined) return;
		processes = startedSince(began);
		child.kill("SIGTERM");
		setTimeout(() => child.kill("SIGKILL"), graceMs).unref();
	}, limitMs);
	return { timer, processes: () => processes };
}

/**
 * Returns a table of the processes that have started since a time, the oldest first, or an empty text if the system
 * cannot tell.
 *
 * @param {number} began in milliseconds since the epoch
 * @returns {string}
 */
function startedSince(began) {
	const oldest = (Date.now() - began) / 1000 + 1;
	const rows = (outputOf("ps", ["-eo", "etime=,pid=,ppid=,args="]) ?? "")
		.split("\n")
		.map((line) => ({ line: line.trim(), age: ageOf(line.trim()) }))
		.filter(({ line, age }) => age <= oldest && !line.includes("etime=,pid="))
		.sort((one, other) => other.age - one.age);
	if (rows.length === 0) return "";
	const shown = rows.slice(0, listed.processes).map(({ line }) => line.slice(0, listed.columns));
	if (rows.length > shown.length) shown.push(`and ${rows.length - shown.length} more`);
	return ["age, process, parent, command", ...shown].map((line) => `    ${line}`).join("\n");
}

/**
 * Returns the age of a process in seconds, from a line that begins with `days-hours:minutes:seconds`, as `ps` prints it
 * without the parts that are zero.
 *
 * @param {string} line
 */
function ageOf(line) {
	const [clock = "", days = "0"] = (line.split(" ")[0] ?? "").split("-").reverse();
	return 86_400 * Number(days) + clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
}

/**
 * @param {number} pid
 * @param {number} priority
 */
function lower(pid, priority) {
	try {
		setPriority(pid, priority);
	} catch {
		// The process has already ended, or the system does not allow the change. It keeps its priority then.
	}
}

/** Ends every running program that `run` started. */
export function endRunning() {
	for (const child of running) child.kill("SIGTERM");
}

/**
 * Returns a program of an installed npm package, run by the present Node. This works on every platform.
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
