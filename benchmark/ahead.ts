/**
 * Measures runs whose child may boot before the run can start: the steps of a chain, the queued tasks of a call,
 * another attempt, and a program's next call. Real pi, a scripted model that answers at once, or writes its answer for a
 * second. The ways take turns.
 *
 * Usage: <Node for pi> ahead.ts <rounds> <warm|cold>. `warm` runs some once before, so that compiled code is cached.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import {
	fail,
	ModelServer,
	model,
	newestPi,
	piCommand,
	provider,
	type Script,
	say,
	World,
} from "../__test__/support/pi.ts";
import { type Result, run, type RunOptions as Task } from "../index.js";
import type { RunOptions, ToolResult } from "../native.js";
import { pssMib, withDescendants } from "./boot-cost.mjs";

const [rounds = "1", before = "warm"] = process.argv.slice(2);
const native: typeof import("../native.js") = createRequire(import.meta.url)("../native.js");

/** The tasks of a parallel call, and how many of them run at once. */
const taskCount = 24;
const slots = 8;
/** The pause before another attempt, in ms. */
const backoffMs = 1_000;
/** The time in which every child boots, in ms. */
const bootMs = 2_000;
/** The answer of the model, the task for which it writes it slowly, and the time that this takes, in ms. */
const answer = "It is in `src/session.ts`.";
const slowTask = "Look slowly.";
const slowMs = 1_000;
/** The interval of the memory samples, in ms. */
const sampleMs = 50;
/** The pause between two measurements, so that children that still end do not slow down the next one. */
const restMs = 500;
/** Clock ticks per second in `/proc/PID/stat`, the same on all Linux machines. */
const ticks = 100;

interface Cost {
	ms: number;
	cpuMs: number;
	peakMib: number;
}

/** Requests of runs that fail on purpose, by the mark in their task. */
const failures = new Map<string, number[]>();
/** The first requests of a program's calls, by the mark in their task. */
const asked = new Map<string, number>();

const script: Script = ({ userText }) => {
	const called = /call-\d+/.exec(userText)?.[0];
	if (called && !asked.has(called)) asked.set(called, performance.now());
	const mark = /fail-\d+/.exec(userText)?.[0];
	if (!mark) return [say(answer, userText.includes(slowTask) ? { size: 1, everyMs: slowMs / answer.length } : {})];
	const at = failures.get(mark) ?? [];
	failures.set(mark, [...at, performance.timeOrigin + performance.now()]);
	// The request of the child, and pi's own second try.
	return at.length < 2 ? [fail(500)] : [say("Done.")];
};

const server = await ModelServer.start(script);
const settings = { retry: { enabled: true, maxRetries: 1, baseDelayMs: 1 } };
const world = new World({ version: newestPi, baseUrl: server.baseUrl, settings });
const finder = { name: "finder", description: "Finds code.", readonly: true, prompt: "You find code." };
world.writeAgentDir(
	"agents/finder.md",
	"---\nname: finder\ndescription: Finds code.\nreadonly: true\n---\n\nYou find code.\n",
);

for (const name of Object.keys(process.env)) if (/^(PI_|NODE_)/.test(name)) delete process.env[name];
Object.assign(process.env, world.env);

function options(bootAhead: number): Omit<RunOptions, "agent" | "task"> {
	const retry = { backoffMs, maxAttempts: 2 };
	const limits = { maxConcurrent: slots, parallelConcurrency: slots, maxParallelTasks: taskCount, bootAhead, retry };
	const place = { cwd: world.cwd, agentDir: world.agentDir, model: `${provider}/${model}` };
	return { ...place, piCommand: [...piCommand(newestPi)], config: limits };
}

/** Runs one task. */
function one(task = "Look."): Promise<ToolResult> {
	return native.startRun({ ...options(1), agent: "finder", task }).result();
}

function chain(bootAhead: number, task = "Look."): Promise<ToolResult> {
	const steps = Array.from({ length: 3 }, () => ({ agent: "finder", task }));
	return native.startChain({ ...options(bootAhead), steps }).result();
}

function many(bootAhead: number, task = "Look."): Promise<ToolResult> {
	const tasks = Array.from({ length: taskCount }, () => ({ agent: "finder", task }));
	return native.startParallel({ ...options(bootAhead), tasks }).result();
}

/** Returns a task of a program. */
function task(config: Record<string, unknown>, text = "Look."): Task {
	const { model: _, config: limits, ...place } = options(1);
	return {
		...place,
		agent: { ...finder, model: `${provider}/${model}` },
		task: text,
		config: { ...limits, ...config },
	};
}

/** Runs a program's chain of three. */
async function programChain(earlyBoot: "on" | "off"): Promise<ToolResult> {
	const step = task({ earlyBoot });
	return last(await run.chain([step, step, step]));
}

function last(results: Result[]): ToolResult {
	const result = results.at(-1);
	if (!result?.ok || results.length !== 3) throw new Error(`the chain failed: ${JSON.stringify(results)}`);
	return { isError: false, content: [], details: result.details } as unknown as ToolResult;
}

let calls = 0;

/** Returns the time from a program's call to its child's first request, after another call. */
async function nextCall(count: number): Promise<Cost> {
	const spare = { count, idleMs: 60_000 };
	await run(task({ spare }));
	// Until a spare child is up.
	await delay(bootMs);
	const mark = `call-${++calls}`;
	const began = performance.now();
	const result = await run(task({ spare }, `Look. ${mark}`));
	const request = asked.get(mark);
	if (!result.ok || request === undefined) throw new Error(`the call failed: ${JSON.stringify(result)}`);
	await native.endSpares();
	return { ms: request - began, cpuMs: 0, peakMib: 0 };
}

let attempts = 0;

/** Returns the time from the end of the pause before the second attempt to its first request. */
async function afterPause(bootAhead: number): Promise<Cost> {
	const mark = `fail-${++attempts}`;
	let due = 0;
	const see = ({ details: { streaming } }: ToolResult) => {
		if (streaming?.retry && streaming.state === "retrying") due = streaming.retry.atMs;
	};
	const handle = native.startRun({ ...options(bootAhead), agent: "finder", task: `Look. ${mark}` }, see);
	check(await handle.result());
	const request = failures.get(mark)?.[2];
	if (!request || !due) throw new Error(`there was no second attempt: ${JSON.stringify(failures.get(mark))}, ${due}`);
	return { ms: Math.max(0, request - due), cpuMs: 0, peakMib: 0 };
}

function check(result: ToolResult): void {
	if (result.isError) throw new Error(`the run failed: ${JSON.stringify(result.content)}`);
}

/** Returns the processor time of the ended children of this process, and of theirs, in ms. */
function spentMs(): number {
	const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
	return ((Number(fields[13]) + Number(fields[14])) * 1_000) / ticks;
}

/** Measures a call until its result, with the processor time and the peak memory of all of its children. */
async function cost(work: () => Promise<ToolResult>): Promise<Cost> {
	let peakMib = 0;
	let isOver = false;
	const sampling = (async () => {
		while (!isOver) {
			const children = withDescendants(process.pid).slice(1);
			peakMib = Math.max(
				peakMib,
				children.reduce((sum, pid) => sum + pssMib(pid), 0),
			);
			await delay(sampleMs);
		}
	})();
	const cpuBefore = spentMs();
	const began = performance.now();
	check(await work());
	const ms = performance.now() - began;
	isOver = true;
	await sampling;
	// Until the last children have ended.
	await native.endSpares();
	while (withDescendants(process.pid).length > 1) await delay(10);
	return { ms, cpuMs: spentMs() - cpuBefore, peakMib };
}

const ways: Record<string, () => Promise<Cost>> = {
	one: () => cost(() => one()),
	chain: () => cost(() => chain(1)),
	chainWithout: () => cost(() => chain(0)),
	many: () => cost(() => many(1)),
	manyWithout: () => cost(() => many(0)),
	slowOne: () => cost(() => one(slowTask)),
	slowChain: () => cost(() => chain(1, slowTask)),
	slowChainWithout: () => cost(() => chain(0, slowTask)),
	slowMany: () => cost(() => many(1, slowTask)),
	slowManyWithout: () => cost(() => many(0, slowTask)),
	programChain: () => cost(() => programChain("on")),
	programChainWithout: () => cost(() => programChain("off")),
	nextCall: () => nextCall(1),
	nextCallWithout: () => nextCall(0),
	attempt: () => afterPause(1),
	attemptWithout: () => afterPause(0),
};

try {
	const found: Record<string, Cost[]> = {};
	if (before === "warm") for (const name of ["one", "many", "nextCall"]) await ways[name]?.();
	for (let round = 0; round < Number(rounds); round++) {
		for (const [name, measure] of Object.entries(ways)) {
			// The model's time outweighs what differs between two rounds.
			if (round > 0 && name.startsWith("slow")) continue;
			await delay(restMs);
			found[name] ??= [];
			found[name].push(await measure());
		}
	}
	process.stdout.write(`${JSON.stringify({ ways: found })}\n`);
} finally {
	await world.close();
	await server.close();
}
