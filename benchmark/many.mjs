/**
 * What many children at once cost their host: processor time, the JavaScript thread's part of it, memory while all of them
 * are there, and the delay of the event loop. Each child says half of a short answer, waits at a gate until all have come
 * that far, and says the rest; the memory is taken while they wait.
 *
 * With `delay` the event loop is watched and nothing else: whoever watches it keeps the JavaScript thread at work.
 * Usage: node --expose-gc many.mjs run|javascript <folder> <engine> <children> <off|required> cost|delay. Linux only.
 */

import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { argv } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { JavaScriptCollector } from "./javascript-collector.mjs";

const [way = "", folder = "", engine = "", count = "1", sandbox = "off", purpose = "cost"] = argv.slice(2);
const children = Number(count);

/** Half a second of an answer before the gate and half a second after it: at twenty updates a second, all are shown. */
const deltas = 20;
const pauseMs = 50;

/** What every child has said when it waits at the gate, at least; a bit less than half. */
const halfLength = 120;

/** Long enough for timers and children to be where they are when nothing happens. */
const restMs = 300;

/** Whoever has not come by then will not. */
const limitMs = 120_000;

const agentDir = join(mkdtempSync(join(folder, "many-")), "agent");
const cwd = join(agentDir, "..", "project");
for (const path of [agentDir, join(cwd, ".git")]) mkdirSync(path, { recursive: true });
const addon = way === "run" ? createRequire(import.meta.url)("../index.js") : undefined;

let updates = 0;

/** @type {Record<string, (gate: string, halfway: () => void) => Promise<string>>} what resolves with the answer */
const ways = { run: byAddon, javascript: byJavaScript };
const start = ways[way];
if (!start) throw new Error(`there is no way ${way}`);

/** As the extension does it. */
async function byAddon(/** @type {string} */ gate, /** @type {() => void} */ halfway) {
	const result = await addon
		.startRun(
			{
				...{ agent: "explorer", task: "look", cwd, agentDir },
				config: { sandbox: { mode: sandbox }, maxConcurrent: 256, maxConcurrentPerUser: 4096 },
				piCommand: [engine, "child", gate, String(deltas), String(pauseMs)],
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

/** As an extension without native code does it. */
async function byJavaScript(/** @type {string} */ gate, /** @type {() => void} */ halfway) {
	const collector = new JavaScriptCollector();
	const args = ["child", gate, String(deltas), String(pauseMs), "--mode", "json", "-p"];
	const child = spawn(engine, args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
	child.stdin.end("look");
	child.stderr.resume();
	collector.onLook = () => {
		if ((collector.seen?.text.length ?? 0) >= halfLength) halfway();
	};
	const closed = new Promise((resolve) => child.once("close", resolve));
	await collector.read(child.stdout);
	await closed;
	updates += collector.looks;
	return collector.finalText();
}

function makeGate() {
	const gate = join(mkdtempSync(join(folder, "gate-")), "gate");
	if (spawnSync("mkfifo", [gate]).status !== 0) throw new Error(`no pipe can be made at ${gate}`);
	return gate;
}

/**
 * Starts children, says when all wait at the gate, and lets them go.
 *
 * @param {number} number
 * @param {string} gate
 * @param {() => Promise<void> | void} atTheGate
 */
async function all(number, gate, atTheGate) {
	const began = performance.now();
	/** @type {Promise<void>[]} */
	const halfways = [];
	/** @type {Promise<string>[]} */
	const answers = [];
	for (let i = 0; i < number; i++) {
		halfways.push(new Promise((resolve) => answers.push(start(gate, () => resolve(undefined)))));
	}
	const ended = Promise.all(answers);
	const late = sleep(limitMs, undefined, { ref: false }).then(() => Promise.reject(new Error("the gate stays empty")));
	await Promise.race([Promise.all(halfways), ended, late]);
	const halfMs = performance.now() - began;
	await atTheGate();
	const released = performance.now();
	// Open until all have passed, so that nobody who is late waits for ever.
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

/** The resident set at its peak. */
function peakMib() {
	return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}

/** What the wardens of this process hold together, in MiB. */
function wardens() {
	const tasks = readdirSync("/proc/self/task");
	const pids = tasks.flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "));
	const held = pids.filter((pid) => pid && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("pi-subagent-war"));
	return held.reduce((total, pid) => total + mapped(pid, "Pss"), 0);
}

/** Makes and drops garbage, so that the heap is as large as that of a host that has worked for a while. */
function growHeap() {
	let kept = [];
	for (let i = 0; i < 400_000; i++) {
		kept.push({ i, text: `${i}` });
		if (kept.length > 50_000) kept = [];
	}
}

/**
 * What it takes the JavaScript thread to wake as often as one child has it woken, and do nothing.
 *
 * @param {number} times
 */
async function wakeUps(times) {
	const from = threadMs();
	for (let i = 0; i < times; i++) await sleep(pauseMs);
	return threadMs() - from;
}

// Code that is used for the first time belongs to no child.
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
	const [p50, p99] = [50, 99].map((part) => delay.percentile(part) / 1e6);
	report = { p50, p99, max: delay.max / 1e6 };
} else {
	// Makes the peak of the resident set what is resident now.
	writeFileSync("/proc/self/clear_refs", "5");
	const before = { mib: mapped("self", "Rss"), thread: threadMs(), host: hostMs() };
	const plateau = { mib: 0, wardenMib: 0, threads: 0, files: 0 };
	let aside = { thread: 0, host: 0 };
	const { wallMs, answers } = await all(children, gate, async () => {
		await sleep(restMs);
		// What taking the figures costs is no child's.
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
