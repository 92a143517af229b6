/**
 * What runs through a launcher cost, beside the launcher alone and beside the same runs here. Every child says a short answer; for
 * `memory` all of them wait in its middle until they are there.
 *
 * Usage: node --expose-gc launchers.mjs many|memory|one|alone <folder> <engine> <launcher> <runs> <at once>. `launcher` is a
 * file with a launcher as a configuration has it, or `local`; `alone` starts `true` through it, without a run. Linux only.
 */

import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { argv } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const [purpose = "", folder = "", engine = "", file = "local", count = "1", width = "1"] = argv.slice(2);
const [runs, atOnce] = [Number(count), Number(width)];

/** Pieces of an answer; at a gate a child waits in the middle. */
const deltas = 8;
/** Long enough for timers and children to be where they are when nothing happens. */
const restMs = 300;
/** Whoever has not come by then will not. */
const limitMs = 300_000;

const launcher = file === "local" ? undefined : JSON.parse(readFileSync(file, "utf8"));
const place = mkdtempSync(join(folder, "launchers-"));
const [agentDir, cwd] = [join(place, "agent"), join(place, "project")];
for (const path of [agentDir, join(cwd, ".git")]) mkdirSync(path, { recursive: true });
const gate = join(place, "gate");
if (spawnSync("mkfifo", [gate]).status !== 0) throw new Error(`no pipe can be made at ${gate}`);
const addon = createRequire(import.meta.url)("../index.js");

const piCommand = [engine, "child", gate, String(deltas), "0"];
const config = {
	sandbox: { mode: "off" },
	retry: { enabled: false },
	...(launcher
		? { launcher: "far", launchers: { far: { ...launcher, piCommand, cwd, maxConcurrent: atOnce } } }
		: { maxConcurrent: atOnce, maxConcurrentPerUser: 4096 }),
};

/** One run. Says when its child waits at the gate, and returns whether its answer is whole. */
async function run(/** @type {() => void} */ atTheGate = () => undefined) {
	const started = addon.startRun(
		{ agent: "explorer", task: "look", cwd, agentDir, config, piCommand },
		(/** @type {any} */ { content }) => {
			if (content[0].text.includes("reads one line")) atTheGate();
		},
	);
	const { details } = await started.result();
	const [{ error, output }] = details.results;
	if (error) throw new Error(`a run failed: ${error}`);
	return output.includes("for the limits.");
}

/** The launcher by itself. */
async function alone() {
	const words = launcher.command.flatMap((/** @type {string} */ word) => (word === "{argv}" ? ["true"] : [word]));
	const filled = words.map((/** @type {string} */ word) => word.replace("{runId}", "alone").replace(",{env}", ""));
	const child = spawn(filled[0], filled.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
	const code = await new Promise((resolve) => child.once("close", resolve));
	if (code !== 0) throw new Error(`${filled.join(" ")}: ${code}`);
	return true;
}

/**
 * Does something again and again, some of it at once, and returns what came of it.
 *
 * @param {() => Promise<boolean>} act
 * @param {number} times
 * @param {number} together
 */
async function many(act, times, together) {
	let left = times;
	const found = [];
	const lane = async () => {
		while (left-- > 0) found.push(await act());
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

/** What the wardens of this process hold together, and the launchers behind them, in MiB. */
function behind() {
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

/** The memory of this process for each run, while all children wait. */
async function memory() {
	// Code that is used for the first time belongs to no run.
	const first = openSync(gate, "r+");
	await run();
	closeSync(first);
	globalThis.gc?.();
	await sleep(restMs);
	const before = mapped("self", "Rss");
	/** @type {Promise<void>[]} */
	const there = [];
	const answers = Array.from({ length: runs }, () => {
		/** @type {Promise<boolean> | undefined} */
		let answer;
		there.push(
			new Promise((resolve) => {
				answer = run(() => resolve(undefined));
			}),
		);
		return /** @type {Promise<boolean>} */ (/** @type {unknown} */ (answer));
	});
	const ended = Promise.all(answers);
	const late = sleep(limitMs, undefined, { ref: false }).then(() => Promise.reject(new Error("the gate stays empty")));
	await Promise.race([Promise.all(there), ended, late]);
	await sleep(restMs);
	globalThis.gc?.();
	const growthMib = mapped("self", "Rss") - before;
	const others = behind();
	const open = openSync(gate, "r+");
	await ended;
	closeSync(open);
	return { hostMib: growthMib / runs, wardenMib: others.wardenMib / runs, launcherMib: others.launcherMib / runs };
}

/** @returns {Promise<object>} */
async function measure() {
	if (purpose === "memory") return await memory();
	// A gate that is open is none.
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
