/**
 * Measures the delay of a host's event loop and its memory while its children write as fast as they can. Each process
 * reads them in one way, so that no way inherits the heap of another. With `otherProcess`, other processes read them,
 * which shows the effect of the machine's load alone.
 *
 * Usage: node --expose-gc host.mjs run|javascript|otherProcess <rounds> <folder> <events> <warm-up file> <file>…
 *
 * A separate child writes each file.
 */

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { argv } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { JavaScriptCollector } from "./javascript-collector.mjs";

const [way = "", rounds, folder = "", events = "", warmUp = "", ...files] = argv.slice(2);
const isLinux = process.platform === "linux";

/** Long enough for timers to return to their idle state. */
const restMs = 100;

/**
 * The ways to read a child. Each resolves with the number of turns that it has counted.
 *
 * @type {Record<string, (file: string) => Promise<number | undefined>>}
 */
const ways = { run: readByAddon, javascript: readByJavaScript, otherProcess: readInOtherProcess };
const read = ways[way];
if (!read) throw new Error(`unknown way ${way}; use run, javascript or otherProcess`);
const addon = way === "run" ? createRequire(import.meta.url)("../native.js") : undefined;

let updates = 0;

// The first use of code, on either side, is not part of the measurement.
await read(warmUp);
globalThis.gc?.();
await sleep(restMs);

updates = 0;
const before = resetPeak();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await sleep(restMs);
delay.reset();
const thread = mainThread();
const began = performance.now();
/** @type {(number | undefined)[]} */
let turns = [];
for (let round = 0; round < Number(rounds); round++) turns = await Promise.all(files.map(read));
const ms = performance.now() - began;
// The turn that ends the last run has not been counted yet.
await sleep(2);
delay.disable();
const milliseconds = (/** @type {number} */ nanoseconds) => nanoseconds / 1e6;
const now = mainThread();
const report = {
	...{ ms, updates, turns, samples: delay.count },
	p50: milliseconds(delay.percentile(50)),
	p99: milliseconds(delay.percentile(99)),
	max: milliseconds(delay.max),
	...(isLinux && {
		busyMs: milliseconds(now.busy - thread.busy),
		queuedMs: milliseconds(now.queued - thread.queued),
		beforeKib: before,
		peakKib: status("VmHWM"),
	}),
};
process.stdout.write(`${JSON.stringify(report)}\n`);

/** Reads a child like the extension does: the updates are processed, and the result is awaited. */
async function readByAddon(/** @type {string} */ file) {
	const agentDir = join(folder, "agent");
	const piCommand = [events, "pour", file, "sent"];
	let seen;
	const run = addon.startRun(
		{ agent: "explorer", task: "look", cwd: folder, agentDir, piCommand },
		(/** @type {unknown} */ update) => {
			updates++;
			seen = update;
		},
	);
	const result = await run.result();
	const [{ exitCode, error, usage }] = result.details.results;
	if (exitCode !== 0) throw new Error(`the run failed: ${error}`);
	if (!seen) throw new Error("no update arrived");
	return usage.turns;
}

/** Reads a child like an extension without native code does. */
async function readByJavaScript(/** @type {string} */ file) {
	const collector = new JavaScriptCollector();
	const child = spawn(events, ["pour", file, "sent"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
	await collector.read(child.stdout);
	updates += collector.snapshots;
	return collector.usage.turns;
}

/** Starts the same children with the same work, but in other processes. */
function readInOtherProcess(/** @type {string} */ file) {
	const command = ["supervise", "collect", events, "pour", file, "sent"];
	const child = spawn(events, command, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code) => (code === 0 ? resolve(undefined) : reject(new Error(`exit code ${code}`))));
	});
}

/** Resets the peak of the resident set to its present size, and returns it in KiB. */
function resetPeak() {
	if (!isLinux) return undefined;
	writeFileSync("/proc/self/clear_refs", "5");
	return status("VmRSS");
}

/** @param {string} name */
function status(name) {
	return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

/**
 * Returns the time that the JavaScript thread has worked, and the time that it has waited for a processor, in
 * nanoseconds.
 */
function mainThread() {
	if (!isLinux) return { busy: Number.NaN, queued: Number.NaN };
	const [busy, queued] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ").map(Number);
	return { busy: busy ?? Number.NaN, queued: queued ?? Number.NaN };
}
