#!/usr/bin/env node
/**
 * `npm test`: runs the setup and then every check, in four parallel lanes: cargo, Node alone, pi, and the tests of the
 * tools with the benchmarks. Each lane waits often, so four keep two cores busy. The output of a step is printed as one
 * block when it has ended.
 *
 * `npm test -- rust` (or `lint`, `edge`, `extension`, `bench`) runs one part, `npm test -- NAME.spec.ts …` runs test
 * files of `__test__`, and `--keep-going` continues after the first failure.
 */

import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";

import { checkMachine } from "./lib/checks.mjs";
import { checkBundle, checkLoader, checkPlatformPackages } from "./lib/generated.mjs";
import { runLanes } from "./lib/lanes.mjs";
import { findNodeForPi, installNodesOfTests } from "./lib/node-for-pi.mjs";
import { newestPi, root } from "./lib/places.mjs";
import { runMain, SetupProblem } from "./lib/problem.mjs";
import { coreFeatures, edgeFeatures, packageProgram, probe, run } from "./lib/programs.mjs";
import { bold, dim, note, seconds } from "./lib/progress.mjs";
import { checkProse } from "./lib/prose.mjs";
import { checkAddonSize } from "./lib/size.mjs";
import { table } from "./lib/table.mjs";
import { setUp } from "./setup.mjs";

/**
 * The time limit of a single test. Each test waits for a few starts of pi at most, so a longer one hangs. Suites have
 * no limit of their own.
 */
const testLimitMs = 300_000;

/**
 * The time after which a step without any output is ended. Node waits without a limit for the output of a process that
 * a test file has left behind. On a busy machine a step may wait half an hour for the compilers of the others.
 */
const silenceMs = 60 * 60_000;

/**
 * The numbers of parallel test files. Files of the edge wait most of the time. Files of the extension start pi, which
 * uses a core, and wait for it.
 */
const filesAtOnce = { edge: 4, support: 2, extension: 4 };

/** The slowest test files. They begin first, so that no slow file runs alone at the end. */
const longest = [
	...["faults", "survivors", "background", "callbacks", "nodes"],
	...[
		"pi-credentials",
		"pi-questions-tui",
		"pi-endings",
		"pi-panel",
		"pi-permission-hooks",
		"pi-tools-sandbox",
		"pi-consent",
	],
	...["pi-ask-parent", "pi-survivors", "pi-card", "pi-lean", "pi-failures", "pi-offline", "pi-background"],
];

/** The number of parallel Rust tests. Most of them wait for a process. */
const rustTestsAtOnce = 3 * availableParallelism();

/**
 * The priority of compilers. They get a third of a test's share if both want a core. With less they would make no
 * progress on a shared machine.
 */
const backgroundPriority = 5;

/**
 * A step. `isBackground` lowers its priority: compiling can wait, but tests have time limits.
 *
 * @typedef {import("./lib/programs.mjs").Command} Command
 * @typedef {{ part: string, lane: string, name: string, command?: () => Command, check?: () => Promise<void>,
 *   isBackground?: true }} Step
 */

const parts = ["lint", "rust", "edge", "extension", "bench"];
const denied = ["--", "-D", "warnings"];
const keepsGoing = process.argv.includes("--keep-going");

/**
 * Everything is linted as core, which finds code that depends on Node, and code that only the edge uses. Then only the
 * edge itself is linted, because the tests are the same with it. The features of all dependencies are the same in both
 * steps and in the tests, so that each is checked once and compiled once. cargo takes the features that only tests need
 * into account if a test is named.
 *
 * @type {Step[]}
 */
const cargoSteps = [
	rust("cargo fmt", () => cargo("fmt", "--all", "--check")),
	inBackground(rust("clippy, core", () => clippy("--all-targets", ...coreFeatures, ...denied))),
	inBackground(rust("clippy, edge", () => clippy("--lib", "--test", "tree", ...edgeFeatures, ...denied))),
	inBackground(rust("Rust tests, compiled", () => rustTests("--no-run"))),
	rust("Rust tests", () => rustTests(...(keepsGoing ? ["--no-fail-fast"] : []))),
	rust("Rust doc tests", () => cargo("test", "--locked", "--doc", "--workspace", ...coreFeatures)),
];

/** @type {Step[]} */
const nodeSteps = [
	{ part: "lint", lane: "node", name: "generated loader", check: checkLoader },
	{ part: "lint", lane: "node", name: "generated extension", check: checkBundle },
	{ part: "lint", lane: "node", name: "platform packages", check: checkPlatformPackages },
	{ part: "lint", lane: "node", name: "plain English", check: checkProse },
	{ part: "lint", lane: "node", name: "size of the addon", check: checkAddonSize },
	lint("types", () => [...packageProgram("typescript", "tsc"), "-p", root]),
	lint("biome", () => [...packageProgram("@biomejs/biome", "biome"), "check", root]),
	tests("edge", `on Node ${process.version}`, () => nodeTests(process.execPath, "edge", ".spec.mjs")),
	tests("edge", "edge tests", () => nodeTests(nodeForPi(), "edge", ".spec.ts")),
];

/** @type {Step[]} */
const toolSteps = [
	{ ...tests("extension", "support tests", () => nodeTests(nodeForPi(), "support", ".spec.ts")), lane: "tools" },
	// Their native side is compiled with the tests. If that has not happened yet, they wait for cargo.
	inBackground({ part: "bench", lane: "tools", name: "benchmarks, quick form", command: quickBenchmarks }),
];

/** The longest lane. @type {Step[]} */
const piSteps = [
	{ ...tests("extension", "extension tests", () => nodeTests(nodeForPi(), "extension", ".spec.ts")), lane: "pi" },
];

const steps = [...cargoSteps, ...nodeSteps, ...toolSteps, ...piSteps];

await runMain(async () => {
	const args = process.argv.slice(2);
	const files = args.filter((word) => word.endsWith(".spec.ts"));
	const wanted = args.filter((word) => !word.startsWith("--") && !files.includes(word));
	const unknown = args.find((word) => word !== "--keep-going" && ![...parts, ...files].includes(word));
	if (unknown)
		throw new SetupProblem(`Unknown test part: ${unknown}.`, `${parts.join(", ")}, NAME.spec.ts, --keep-going`);
	const isAll = args.every((word) => word === "--keep-going");
	const chosen = [...steps.filter(({ part }) => isAll || wanted.includes(part)), ...singleFiles(files)];
	const has = (/** @type {string} */ wanted) => chosen.some(({ part }) => part === wanted);
	if (chosen.every(({ part }) => part === "rust")) checkMachine();
	else await setUp(has("extension") ? {} : { pi: has("bench") ? [newestPi] : [] });
	if (has("extension")) {
		await installNodesOfTests();
		checkTerminal();
	}
	return await runSteps(chosen, keepsGoing);
});

/**
 * @param {Step[]} chosen
 * @param {boolean} keepGoing
 * @returns {Promise<number>} the exit code
 */
async function runSteps(chosen, keepGoing) {
	const began = performance.now();
	const rows = await runLanes(chosen, {
		keepGoing,
		run: outcome,
		started: ({ name }) => note(dim(`… ${name}`)),
		ended: ({ name, ms, why }, output) => {
			note(`\n${bold(`── ${name} ${why ? "failed, " : ""}${seconds(ms ?? 0)} `)}`);
			process.stderr.write(Buffer.concat(output));
		},
	});
	note(table(rows, performance.now() - began));
	return rows.some(({ state }) => state === "failed") ? 1 : 0;
}

/**
 * Runs one step.
 *
 * @param {Step} step
 * @returns {Promise<import("./lib/lanes.mjs").Outcome>}
 */
async function outcome(step) {
	/** @type {Buffer[]} */
	const output = [];
	const collect = (/** @type {Buffer} */ chunk) => output.push(chunk);
	try {
		await step.check?.();
		const options = {
			onOutput: collect,
			silenceMs,
			...(step.isBackground && { priority: backgroundPriority }),
		};
		const code = step.command ? await run(step.command(), options) : 0;
		if (code === 0) return { output };
		return { output, why: typeof code === "number" ? `exit code ${code}` : code };
	} catch (error) {
		const text = error instanceof SetupProblem ? error.message : String(error instanceof Error ? error.stack : error);
		collect(Buffer.from(`${text}\n`));
		return { output, why: text.split("\n")[0] ?? text };
	}
}

/** @param {string} name @param {() => Command} command @returns {Step} */
function rust(name, command) {
	return { part: "rust", lane: "cargo", name, command };
}

/** @param {string} name @param {() => Command} command @returns {Step} */
function lint(name, command) {
	return { part: "lint", lane: "node", name, command };
}

/** @param {"edge" | "extension"} part @param {string} name @param {() => Command} command @returns {Step} */
function tests(part, name, command) {
	return { part, lane: "node", name, command };
}

/**
 * @param {string[]} names of test files, with or without their folders
 *
 * @returns {Step[]} one for each folder that has any of them
 */
function singleFiles(names) {
	/** @type {["edge", "support", "extension"]} */
	const folders = ["edge", "support", "extension"];
	const wanted = names.map((name) => basename(name));
	const found = folders.flatMap((folder) => {
		const files = listOf(join(root, "__test__", folder)).filter((name) => wanted.includes(name));
		const part = folder === "edge" ? "edge" : "extension";
		return files.length > 0
			? [{ files, step: tests(part, files.join(", "), () => nodeFiles(nodeForPi(), folder, files)) }]
			: [];
	});
	const missing = wanted.find((name) => !found.some(({ files }) => files.includes(name)));
	if (missing)
		throw new SetupProblem(`Unknown test file: ${missing}.`, `Test files are in __test__/{${folders.join(",")}}.`);
	return found.map(({ step }) => step);
}

/** @param {Step} step @returns {Step} */
function inBackground(step) {
	return { ...step, isBackground: true };
}

/** @returns {Command} */
function quickBenchmarks() {
	return [process.execPath, join(root, "tools", "bench.mjs"), "--quick"];
}

/**
 * @param {...string} args
 * @returns {Command}
 */
function cargo(...args) {
	return ["cargo", ...args];
}

/**
 * @param {...string} args
 * @returns {Command}
 */
function clippy(...args) {
	return cargo("clippy", "--locked", "--workspace", ...args);
}

/**
 * @param {...string} args
 * @returns {Command}
 */
function rustTests(...args) {
	const hasNextest = probe("cargo", ["nextest", "--version"]) !== undefined;
	const how = hasNextest
		? ["nextest", "run", `--test-threads=${rustTestsAtOnce}`]
		: ["test", "--lib", "--bins", "--tests"];
	return cargo(...how, "--locked", "--workspace", ...coreFeatures, ...args);
}

/**
 * @param {string} node
 * @param {keyof typeof filesAtOnce} folder below `__test__`
 * @param {string} ending
 * @returns {Command}
 */
function nodeTests(node, folder, ending) {
	const files = listOf(join(root, "__test__", folder)).filter((name) => name.endsWith(ending));
	if (files.length === 0) {
		throw new SetupProblem(`There are no tests in __test__/${folder}.`, `Expected files: *${ending}`);
	}
	return nodeFiles(node, folder, files);
}

/**
 * @param {string} node
 * @param {keyof typeof filesAtOnce} folder below `__test__`
 * @param {string[]} files
 * @returns {Command}
 */
function nodeFiles(node, folder, files) {
	const prepared = `--import=${new URL("lib/test-file.mjs", import.meta.url)}`;
	const options = ["--test", "--test-reporter=spec", `--test-timeout=${testLimitMs}`, prepared];
	// The package is CommonJS because of the generated loader, but its TypeScript files are ES modules.
	if (files.some((name) => name.endsWith(".ts"))) options.push("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON");
	return [
		node,
		...options,
		`--test-concurrency=${filesAtOnce[folder]}`,
		...files.sort(longestFirst).map((name) => join(root, "__test__", folder, name)),
	];
}

/**
 * @param {string} one
 * @param {string} other
 */
function longestFirst(one, other) {
	const [first = 0, second = 0] = [one, other].map((name) => {
		const at = longest.indexOf(name.replace(/\.spec\.m?ts$/, ""));
		return at < 0 ? longest.length : at;
	});
	return first - second || (one < other ? -1 : 1);
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

/** Checks for tmux. The tests read pi's own interface in a terminal. */
function checkTerminal() {
	if (probe("tmux", ["-V"])) return;
	const how =
		"The tests of pi's interface run in it. On Debian and Ubuntu: sudo apt install tmux; macOS: brew install tmux";
	throw new SetupProblem("tmux is missing.", how);
}
