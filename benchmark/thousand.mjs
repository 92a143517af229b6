/**
 * Measures the cost of many runs that wait for a slot, and of the panel with many runs. Each child sends a short answer
 * at once.
 *
 * Usage: node --expose-gc thousand.mjs queue <folder> <events> <runs> | panel <runs>. Linux only.
 */

import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { argv } from "node:process";

const native = createRequire(import.meta.url)("../native.js");
const [purpose = "", ...rest] = argv.slice(2);

/** The number of runs that work at once. */
const slots = 2;

/** The number of keys that are pressed in the panel. */
const presses = 200;

/** @type {Record<string, () => Promise<object> | object>} */
const purposes = { queue, panel };
const measure = purposes[purpose];
if (!measure) throw new Error(`unknown purpose ${purpose}; use queue or panel`);
process.stdout.write(`${JSON.stringify(await measure())}\n`);
// The engine may still keep a child that waits for a later call.
process.exit(0);

async function queue() {
	const [folder = "", events = "", count = "1"] = rest;
	const agentDir = join(mkdtempSync(join(folder, "queue-")), "agent");
	const cwd = join(agentDir, "..", "project");
	for (const path of [agentDir, join(cwd, ".git")]) mkdirSync(path, { recursive: true });
	let updates = 0;
	const start = () =>
		native.startRun(
			{
				...{ agent: "explorer", task: "look", cwd, agentDir },
				config: { sandbox: { mode: "off" }, maxConcurrent: slots, maxConcurrentPerUser: 4096 },
				// Nothing has to open this gate.
				piCommand: [events, "child", "/dev/null", "4", "0"],
			},
			() => {
				updates++;
			},
		);
	// The first use of code is not part of the measurement.
	for (let i = 0; i < slots; i++) await end(start());
	globalThis.gc?.();
	const before = { mib: residentMib(), cpuMs: processorMs() };
	updates = 0;
	const runs = Array.from({ length: Number(count) }, start);
	// All of them are in the queue, or work, once the first has ended.
	await Promise.race(runs.map(end));
	const grownMib = residentMib() - before.mib;
	await Promise.all(runs.map(end));
	const cpuMs = processorMs() - before.cpuMs;
	return { cpuMs: cpuMs / runs.length, grownKib: (grownMib * 1024) / runs.length, updates: updates / runs.length };
}

/** Resolves at the end of a run. @param {{ result(): Promise<any> }} run */
async function end(run) {
	const [{ error }] = (await run.result()).details.results;
	if (error) throw new Error(`a run failed: ${error}`);
}

function panel() {
	const nowMs = Date.UTC(2026, 0, 1, 9);
	const runs = Array.from({ length: Number(rest[0]) }, (_, i) => record(i, nowMs));
	const screen = new native.Panel(true);
	screen.setRuns(JSON.stringify(runs), [], nowMs);
	const palette = new native.Palette("{}");
	const keys = native.panelKeys().map((/** @type {{ own: string[] }} */ { own }) => own);
	const view = { rows: 30, theme: 0, keys, nowMs };
	const draw = () => screen.draw(palette, 100, view);
	draw();
	const ms = Array.from({ length: presses }, (_, i) => {
		const began = performance.now();
		screen.press(i % 10 === 9 ? "pageUp" : "down");
		draw();
		return performance.now() - began;
	});
	return { ms };
}

/** Returns a run of a session: the first ones work, the others have ended. @param {number} i @param {number} nowMs */
function record(i, nowMs) {
	const startedMs = nowMs - i * 1_000;
	const key = `agent:explorer:subagent:${i}`;
	const answer = "It has three findings, and one of them is about the loader. ".repeat(10);
	const isOver = i >= 8;
	return {
		...{ key: `run-${i}`, runId: i.toString(16).padStart(8, "0"), sessionKey: key, session: "session" },
		...{ agent: "explorer", task: `Look at part ${i} of the loader and say what it does.`, cwd: "/project" },
		...{ state: isOver ? "ended" : "running", createdMs: startedMs, startedMs, isForeground: true, timesResumed: 0 },
		...(isOver && { outcome: "completed", status: "success", endedMs: startedMs + 3_000, result: answer }),
		usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0, cost: 0.01, turns: 3 },
		...{ notes: [], caveats: [], artifacts: [] },
	};
}

function processorMs() {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1_000;
}

function residentMib() {
	return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
