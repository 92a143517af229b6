/**
 * Measures the cost of many children at once for their host: processor time, the JavaScript thread's share of it,
 * memory while all children exist, and the delay of the event loop.
 *
 * Each child sends half of a short answer, waits at a gate until all children have done so, and sends the rest. The
 * memory is measured while they wait. With `delay`, only the event loop is measured, because measuring it keeps the
 * JavaScript thread busy.
 *
 * Usage: node --expose-gc many.mjs run|javascript <folder> <events> <children> <off|required> cost|delay. Linux only.
 */

import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { argv } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { JavaScriptCollector } from "./javascript-collector.mjs";

const [way = "", folder = "", events = "", count = "1", sandbox = "off", purpose = "cost"] = argv.slice(2);
const children = Number(count);

/**
 * Half a second of an answer before the gate and half a second after it. At ten updates per second, every second delta is
 * shown.
 */
const deltas = 20;
const pauseMs = 50;

/** The minimum length of a child's text at the gate; slightly less than half of the answer. */
const halfLength = 120;

/** Long enough for timers and children to return to their idle state. */
const restMs = 300;

/** The time limit for a child's arrival. */
const limitMs = 120_000;

const agentDir = join(mkdtempSync(join(folder, "many-")), "agent");
const cwd = join(agentDir, "..", "project");
for (const path of [agentDir, join(cwd, ".git")]) mkdirSync(path, { recursive: true });
const addon = way === "run" ? createRequire(import.meta.url)("../native.js") : undefined;

let updates = 0;

/**
 * The ways to read a child. Each resolves with the child's answer.
 *
 * @type {Record<string, (gate: string, halfway: () => void) => Promise<string>>}
 */
const ways = { run: byAddon, javascript: byJavaScript };
const start = ways[way];
if (!start) throw new Error(`unknown way ${way}; use run or javascript`);

/** Reads a child like the extension does. */
async function byAddon(/** @type {string} */ gate, /** @type {() => void} */ halfway) {
	const result = await addon
		.startRun(
			{
				...{ agent: "explorer", task: "look", cwd, agentDir },
				config: { sandbox: { mode: sandbox }, maxConcurrent: 256, maxConcurrentPerUser: 4096 },
				piCommand: [events, "child", gate, String(deltas), String(pauseMs)],
			},
			(/** @type {any} */ { content }) => {
				updates++;
				if (content[0].text.length >= halfLength) halfway();
			},
		)
		.result();
	const [{ error, output }] = result.details.results;
	if (error) throw new Error(`a run failed: ${error}`);
	return output;
}

/** Reads a child like an extension without native code does. */
async function byJavaScript(/** @type {string} */ gate, /** @type {() => void} */ halfway) {
	const collector = new JavaScriptCollector();
	const args = ["child", gate, String(deltas), String(pauseMs), "--mode", "json", "-p"];
	const child = spawn(events, args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
	child.stdin.end("look");
	child.stderr.resume();
	collector.onSnapshot = () => {
		if ((collector.seen?.text.length ?? 0) >= halfLength) halfway();
	};
	const closed = new Promise((resolve) => child.once("close", resolve));
	await collector.read(child.stdout);
	await closed;
	updates += collector.snapshots;
	return collector.finalText();
}

function makeGate() {
	const gate = join(mkdtempSync(join(folder, "gate-")), "gate");
	if (spawnSync("mkfifo", [gate]).status !== 0) throw new Error(`cannot create a pipe at ${gate}`);
	return gate;
}

/**
 * Starts children, calls `whileWaiting` when all of them wait there, and opens the gate.
 *
 * @param {number} number
 * @param {string} gate
 * @param {() => Promise<void> | void} whileWaiting
 */
async function all(number, gate, whileWaiting) {
	const began = performance.now();
	/** @type {Promise<void>[]} */
	const halfways = [];
	/** @type {Promise<string>[]} */
	const answers = [];
	for (let i = 0; i < number; i++) {
		halfways.push(new Promise((resolve) => answers.push(start(gate, () => resolve(undefined)))));
	}
	const ended = Promise.all(answers);
	const late = sleep(limitMs, undefined, { ref: false }).then(() =>
		Promise.reject(new Error("no child reached the gate in time")),
	);
	await Promise.race([Promise.all(halfways), ended, late]);
	const halfMs = performance.now() - began;
	await whileWaiting();
	const released = performance.now();
	// The gate stays open until all children have passed, so that a late child does not wait forever.
	const opened = openSync(gate, "r+");
	const found = await ended;
	closeSync(opened);
	return { wallMs: halfMs + performance.now() - released, answers: found };
}

const nanoseconds = (/** @type {string} */ path) => Number(readFileSync(path, "utf8").split(" ")[0]);
const threadMs = () => nanoseconds(`/proc/self/task/${process.pid}/schedstat`) / 1e6;
const hostMs = () => {
	const { userCPUTime, systemCPUTime } = process.resourceUsage();
	return (userCPUTime + systemCPUTime) / 1000;
};

/** @param {string | number} pid @param {string} name */
function mapped(pid, name) {
	const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
	return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
}

/** Returns the peak of the resident set. */
function peakMib() {
	return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}

/** Returns the memory of this process's wardens, in MiB. */
function wardens() {
	const tasks = readdirSync("/proc/self/task");
	const pids = tasks.flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "));
	const wardenPids = pids.filter(
		(pid) => pid && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("pi-subagent-war"),
	);
	return wardenPids.reduce((total, pid) => total + mapped(pid, "Pss"), 0);
}

/** Allocates and drops garbage, so that the heap is as large as in a host that has worked for a while. */
function growHeap() {
	let garbage = [];
	for (let i = 0; i < 400_000; i++) {
		garbage.push({ i, text: `${i}` });
		if (garbage.length > 50_000) garbage = [];
	}
}

/**
 * Measures the cost of waking the JavaScript thread without work, as often as one child does.
 *
 * @param {number} times
 */
async function wakeUps(times) {
	const from = threadMs();
	for (let i = 0; i < times; i++) await sleep(pauseMs);
	return threadMs() - from;
}

// The first use of code is not part of the measurement.
await all(2, makeGate(), () => undefined);
const gate = makeGate();
growHeap();
globalThis.gc?.();
await sleep(restMs);

/** @type {object} */
let report;
updates = 0;
if (purpose === "delay") {
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	await sleep(restMs);
	delay.reset();
	await all(children, gate, () => undefined);
	await sleep(2);
	delay.disable();
	const p50 = delay.percentile(50) / 1e6;
	const p99 = delay.percentile(99) / 1e6;
	report = { p50, p99, max: delay.max / 1e6 };
} else {
	// Resets the peak of the resident set to its present size.
	writeFileSync("/proc/self/clear_refs", "5");
	const before = { mib: mapped("self", "Rss"), thread: threadMs(), host: hostMs() };
	const plateau = { mib: 0, wardenMib: 0, threads: 0, files: 0 };
	let aside = { thread: 0, host: 0 };
	const { wallMs, answers } = await all(children, gate, async () => {
		await sleep(restMs);
		// The cost of the measurement itself does not count.
		const from = { thread: threadMs(), host: hostMs() };
		globalThis.gc?.();
		plateau.mib = mapped("self", "Rss");
		plateau.wardenMib = wardens();
		plateau.threads = readdirSync("/proc/self/task").length;
		plateau.files = readdirSync("/proc/self/fd").length;
		aside = { thread: threadMs() - from.thread, host: hostMs() - from.host };
	});
	report = {
		...{ wallMs, updates, textBytes: answers.join("").length },
		threadMs: threadMs() - before.thread - aside.thread,
		hostMs: hostMs() - before.host - aside.host,
		growthMib: plateau.mib - before.mib,
		peakMib: peakMib() - before.mib,
		...{ wardenMib: plateau.wardenMib, threads: plateau.threads, files: plateau.files },
		timersMs: await wakeUps(deltas),
	};
}
process.stdout.write(`${JSON.stringify(report)}\n`);
