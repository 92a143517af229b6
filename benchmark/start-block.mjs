/**
 * Measures the time that starting a child blocks the JavaScript thread of a large process, with `startRun` of the addon
 * or with Node's own `spawn`. Each runs in its own process: after a fork, the parent's pages are copied at the next
 * write, which would slow down the next measurement.
 *
 * Usage: start-block.mjs run|spawn <megabytes> <starts> <folder>
 */

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { argv } from "node:process";

const require = createRequire(import.meta.url);
const addon = require("../native.js");
const way = argv[2];
const megabytes = Number(argv[3]);
const starts = Number(argv[4]);
const folder = argv[5];
const agentDir = join(folder, "agent");
mkdirSync(agentDir, { recursive: true });

/** Resident memory, because each page is written to. */
const ballast = [];
while (process.memoryUsage.rss() < megabytes * 2 ** 20) ballast.push(Buffer.alloc(16 * 2 ** 20, ballast.length + 1));

/** Returns the longest time between two turns of the event loop until `done` is settled. */
async function longestPause(/** @type {Promise<unknown>} */ done) {
	let isDone = false;
	let longest = 0;
	let last = performance.now();
	const finished = done.finally(() => {
		isDone = true;
	});
	while (!isDone) {
		await new Promise((resolve) => setImmediate(resolve));
		const now = performance.now();
		longest = Math.max(longest, now - last);
		last = now;
	}
	await finished;
	return longest;
}

function startRun() {
	const options = { agent: "explorer", task: "look", cwd: folder, agentDir, piCommand: ["/bin/cat"] };
	return addon.startRun(options).result();
}

function spawnChild() {
	const child = spawn("/bin/cat", [], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
	child.stdin.end("look");
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
}

const start = way === "run" ? startRun : spawnChild;
const calls = [];
const pauses = [];
for (let i = 0; i < starts; i++) {
	const begin = performance.now();
	const done = start();
	calls.push(performance.now() - begin);
	await done;
}
// Separate from the calls, because measuring pauses keeps a core busy and causes more waiting.
for (let i = 0; i < starts; i++) {
	const begin = performance.now();
	const done = start();
	const call = performance.now() - begin;
	pauses.push(Math.max(call, await longestPause(done)));
}
const report = { rss: process.memoryUsage.rss(), ballast: ballast.length, calls, pauses };
process.stdout.write(`${JSON.stringify(report)}\n`);
