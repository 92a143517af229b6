#!/usr/bin/env node
/**
 * `npm test`: sets up, then runs every check in the order in which failures are cheapest to find.
 *
 * `npm test -- rust` (or `lint`, `edge`, `extension`) runs one part, `--keep-going` does not stop at the first failure.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { checkMachine } from "./lib/checks.mjs";
import { checkLoader, checkPlatformPackages } from "./lib/generated.mjs";
import { findNodeForPi } from "./lib/node-for-pi.mjs";
import { root } from "./lib/places.mjs";
import { runMain, SetupProblem } from "./lib/problem.mjs";
import { packageProgram, probe, run } from "./lib/programs.mjs";
import { bold, note } from "./lib/progress.mjs";
import { table } from "./lib/table.mjs";
import { setUp } from "./setup.mjs";

/** A test that takes longer hangs: each waits for a few starts of pi at most. */
const testLimitMs = 120_000;

/** Test files at once. Those that drive pi wait for it most of the time. */
const filesAtOnce = 2;

/**
 * @typedef {import("./lib/programs.mjs").Command} Command
 * @typedef {{ part: string, name: string, command?: () => Command, check?: () => Promise<void> }} Step
 */

const parts = ["lint", "rust", "edge", "extension"];
/** Without the edge, but with the warden: the flag alone would switch off the program of that member as well. */
const core = ["--no-default-features", "--features", "pi-subagent-warden/guardian"];
const clippy = ["clippy", "--locked", "--workspace", "--all-targets"];

/** @type {Step[]} */
const steps = [
	{ part: "lint", name: "cargo fmt", command: () => ["cargo", "fmt", "--all", "--check"] },
	{ part: "lint", name: "clippy, core", command: () => cargo(...clippy, ...core, "--", "-D", "warnings") },
	{ part: "lint", name: "clippy, edge", command: () => cargo(...clippy, "--", "-D", "warnings") },
	{ part: "rust", name: "Rust tests", command: rustTests },
	{ part: "rust", name: "Rust doc tests", command: () => cargo("test", "--locked", "--doc", "--workspace", ...core) },
	{ part: "lint", name: "generated loader", check: checkLoader },
	{ part: "lint", name: "platform packages", check: checkPlatformPackages },
	{ part: "lint", name: "types", command: () => [...packageProgram("typescript", "tsc"), "-p", root] },
	{ part: "lint", name: "biome", command: () => [...packageProgram("@biomejs/biome", "biome"), "check", root] },
	{ part: "edge", name: "edge tests", command: () => nodeTests(nodeForPi(), "edge", ".spec.ts") },
	{ part: "extension", name: "support tests", command: () => nodeTests(nodeForPi(), "support", ".spec.ts") },
	{ part: "extension", name: "extension tests", command: () => nodeTests(nodeForPi(), "extension", ".spec.ts") },
	{ part: "edge", name: `on Node ${process.version}`, command: () => nodeTests(process.execPath, "edge", ".spec.mjs") },
];

await runMain(async () => {
	const words = process.argv.slice(2);
	const wanted = words.filter((word) => !word.startsWith("--"));
	const unknown = words.find((word) => word !== "--keep-going" && !parts.includes(word));
	if (unknown) throw new SetupProblem(`There is no test part ${unknown}.`, `${parts.join(", ")}, --keep-going`);
	const chosen = steps.filter(({ part }) => wanted.length === 0 || wanted.includes(part));
	if (chosen.every(({ part }) => part === "rust")) checkMachine();
	else await setUp(chosen.some(({ part }) => part === "extension") ? {} : { pi: [] });
	if (chosen.some(({ part }) => part === "extension")) checkTerminal();
	return await runSteps(chosen, words.includes("--keep-going"));
});

/**
 * @param {Step[]} chosen
 * @param {boolean} keepGoing
 * @returns {Promise<number>} the exit code
 */
async function runSteps(chosen, keepGoing) {
	/** @type {import("./lib/table.mjs").Row[]} */
	const rows = [];
	let failed = false;
	for (const step of chosen) {
		if (failed && !keepGoing) {
			rows.push({ name: step.name, state: "not run" });
			continue;
		}
		note(`\n${bold(`── ${step.name} `)}`);
		const started = performance.now();
		const why = await outcome(step);
		failed ||= why !== undefined;
		const row = { name: step.name, ms: performance.now() - started };
		rows.push(why === undefined ? { ...row, state: "passed" } : { ...row, state: "failed", why });
	}
	note(table(rows));
	return failed ? 1 : 0;
}

/**
 * Runs one step.
 *
 * @param {Step} step
 * @returns {Promise<string | undefined>} why it failed
 */
async function outcome(step) {
	try {
		await step.check?.();
		const code = step.command ? await run(step.command()) : 0;
		if (code === 0) return undefined;
		return typeof code === "number" ? `exit code ${code}` : code;
	} catch (error) {
		if (!(error instanceof SetupProblem)) throw error;
		note(error.message);
		return error.message.split("\n")[0];
	}
}

/**
 * @param {...string} args
 * @returns {Command}
 */
function cargo(...args) {
	return ["cargo", ...args];
}

/** @returns {Command} */
function rustTests() {
	if (!probe("cargo", ["nextest", "--version"])) {
		return cargo("test", "--locked", "--workspace", "--all-targets", ...core);
	}
	return cargo("nextest", "run", "--locked", "--workspace", ...core);
}

/**
 * @param {string} node
 * @param {string} folder below `__test__`
 * @param {string} ending
 * @returns {Command}
 */
function nodeTests(node, folder, ending) {
	const place = join(root, "__test__", folder);
	const files = listOf(place).filter((name) => name.endsWith(ending));
	if (files.length === 0) {
		throw new SetupProblem(`There are no tests in __test__/${folder}.`, `Expected: *${ending}`);
	}
	const options = ["--test", "--test-reporter=spec", `--test-timeout=${testLimitMs}`];
	// The package is CommonJS for the generated loader's sake, while its TypeScript is written as modules.
	if (ending.endsWith(".ts")) options.push("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON");
	return [node, ...options, `--test-concurrency=${filesAtOnce}`, ...files.sort().map((name) => join(place, name))];
}

/** @param {string} folder */
function listOf(folder) {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}

/** @returns {string} */
function nodeForPi() {
	const node = findNodeForPi();
	if (node) return node;
	throw new SetupProblem("There is no Node for pi.", "Run `npm run setup`.");
}

/** The tests look at pi's own interface in a terminal. */
function checkTerminal() {
	if (probe("tmux", ["-V"])) return;
	const how =
		"The tests of pi's interface run in it. On Debian and Ubuntu: sudo apt install tmux; macOS: brew install tmux";
	throw new SetupProblem("tmux is missing.", how);
}
