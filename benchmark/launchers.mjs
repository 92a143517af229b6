/**
 * Measures the cost of runs through a launcher, against the launcher alone and against the same local runs. Every child
 * sends a short answer. For `memory`, all children wait in the middle of their answer until all have arrived.
 *
 * Usage: node --expose-gc launchers.mjs many|memory|one|alone <folder> <events> <launcher> <runs> <at once>
 *
 * `launcher` is a file with a launcher's configuration, or `local`. `alone` starts `true` through it, without a run.
 * Linux only.
 */

import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { argv } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const [purpose = "", folder = "", events = "", file = "local", count = "1", width = "1"] = argv.slice(2);
const runs = Number(count);
const atOnce = Number(width);

/** The number of pieces of an answer. At a gate, a child waits in the middle. */
const deltas = 8;
/** Long enough for timers and children to return to their idle state. */
const restMs = 300;
/** The time limit for a child's arrival. */
const limitMs = 300_000;

const launcher = file === "local" ? undefined : JSON.parse(readFileSync(file, "utf8"));
const place = mkdtempSync(join(folder, "launchers-"));
const agentDir = join(place, "agent");
const cwd = join(place, "project");
for (const path of [agentDir, join(cwd, ".git")]) mkdirSync(path, { recursive: true });
const gate = join(place, "gate");
if (spawnSync("mkfifo", [gate]).status !== 0) throw new Error(`cannot create a pipe at ${gate}`);
const addon = createRequire(import.meta.url)("../native.js");

const piCommand = [events, "child", gate, String(deltas), "0"];
const config = {
	sandbox: { mode: "off" },
	retry: { enabled: false },
	...(launcher
		? { launcher: "far", launchers: { far: { ...launcher, piCommand, cwd, maxConcurrent: atOnce } } }
		: { maxConcurrent: atOnce, maxConcurrentPerUser: 4096 }),
};

/** Performs one run. Calls `onWaiting` when its child waits at the gate, and returns true if its answer is complete. */
async function run(/** @type {() => void} */ onWaiting = () => undefined) {
	const started = addon.startRun(
		{ agent: "explorer", task: "look", cwd, agentDir, config, piCommand },
		(/** @type {any} */ { content }) => {
			if (content[0].text.includes("reads one line")) onWaiting();
		},
	);
	const { details } = await started.result();
	const [{ error, output }] = details.results;
	if (error) throw new Error(`a run failed: ${error}`);
	return output.includes("for the limits.");
}

/** Runs the launcher alone. */
async function alone() {
	const template = launcher.command.flatMap((/** @type {string} */ word) => (word === "{argv}" ? ["true"] : [word]));
	const filled = template.map((/** @type {string} */ word) => word.replace("{runId}", "alone").replace(",{env}", ""));
	const child = spawn(filled[0], filled.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
	const code = await new Promise((resolve) => child.once("close", resolve));
	if (code !== 0) throw new Error(`${filled.join(" ")}: ${code}`);
	return true;
}

/**
 * Performs an action `times` times, up to `together` at once, and returns the results.
 *
 * @param {() => Promise<boolean>} act
 * @param {number} times
 * @param {number} together
 */
async function many(act, times, together) {
	let remaining = times;
	const found = [];
	const lane = async () => {
		while (remaining-- > 0) found.push(await act());
	};
	await Promise.all(Array.from({ length: together }, lane));
	return found.filter(Boolean).length;
}

/** @param {() => Promise<unknown>} act */
async function timed(act) {
	const began = performance.now();
	await act();
	return performance.now() - began;
}

const hostMs = () => {
	const { userCPUTime, systemCPUTime } = process.resourceUsage();
	return (userCPUTime + systemCPUTime) / 1000;
};

/** @param {string | number} pid @param {string} name */
function mapped(pid, name) {
	const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
	return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
}

/** Returns the memory of this process's wardens and of the launchers below them, in MiB. */
function launchedMemory() {
	const childrenOf = (/** @type {string} */ pid) =>
		readdirSync(`/proc/${pid}/task`).flatMap((task) =>
			readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean),
		);
	const wardens = childrenOf(String(process.pid)).filter((pid) =>
		readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("pi-subagent-war"),
	);
	const sum = (/** @type {string[]} */ pids) => pids.reduce((total, pid) => total + mapped(pid, "Pss"), 0);
	return { wardenMib: sum(wardens), launcherMib: sum(wardens.flatMap(childrenOf)) };
}

/** Measures the memory of this process for each run, while all children wait. */
async function memory() {
	// The first use of code is not part of the measurement.
	const first = openSync(gate, "r+");
	await run();
	closeSync(first);
	globalThis.gc?.();
	await sleep(restMs);
	const before = mapped("self", "Rss");
	/** @type {Promise<void>[]} */
	const arrivals = [];
	const answers = Array.from({ length: runs }, () => {
		/** @type {Promise<boolean> | undefined} */
		let answer;
		arrivals.push(
			new Promise((resolve) => {
				answer = run(() => resolve(undefined));
			}),
		);
		return /** @type {Promise<boolean>} */ (/** @type {unknown} */ (answer));
	});
	const ended = Promise.all(answers);
	const late = sleep(limitMs, undefined, { ref: false }).then(() =>
		Promise.reject(new Error("no child reached the gate in time")),
	);
	await Promise.race([Promise.all(arrivals), ended, late]);
	await sleep(restMs);
	globalThis.gc?.();
	const growthMib = mapped("self", "Rss") - before;
	const others = launchedMemory();
	const open = openSync(gate, "r+");
	await ended;
	closeSync(open);
	return { hostMib: growthMib / runs, wardenMib: others.wardenMib / runs, launcherMib: others.launcherMib / runs };
}

/** @returns {Promise<object>} */
async function measure() {
	if (purpose === "memory") return await memory();
	// An open gate does not stop a child.
	const open = openSync(gate, "r+");
	const act = purpose === "alone" ? alone : () => run();
	try {
		await act();
		if (purpose === "one") return { ms: await timed(act) };
		const from = hostMs();
		let answers = 0;
		const ms = await timed(async () => {
			answers = await many(act, runs, atOnce);
		});
		return { ms, answers, hostMs: (hostMs() - from) / runs };
	} finally {
		closeSync(open);
	}
}

process.stdout.write(`${JSON.stringify(await measure())}\n`);
