/**
 * How long the JavaScript thread of a grown process is blocked by starting a child, with `startRun` of the addon or with
 * Node's own `spawn`. Each in a process of its own: a fork leaves the pages of its parent to be copied when they are next
 * written to, which would slow whatever is measured after it. Usage: start-block.mjs run|spawn <megabytes> <starts> <folder>
 */

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { argv } from "node:process";

const require = createRequire(import.meta.url);
const addon = require("../index.js");
const [way, megabytes, starts, folder] = [argv[2], Number(argv[3]), Number(argv[4]), argv[5]];
const agentDir = join(folder, "agent");
mkdirSync(agentDir, { recursive: true });

/** Memory that is really there: each page is written to. */
const ballast = [];
while (process.memoryUsage.rss() < megabytes * 2 ** 20) ballast.push(Buffer.alloc(16 * 2 ** 20, ballast.length + 1));

/** The longest time between two turns of the event loop until `done` is settled. */
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
// Apart from the calls: looking for pauses keeps a core busy, and whoever does that is made to wait more often.
for (let i = 0; i < starts; i++) {
	const begin = performance.now();
	const done = start();
	const call = performance.now() - begin;
	pauses.push(Math.max(call, await longestPause(done)));
}
const report = { rss: process.memoryUsage.rss(), ballast: ballast.length, calls, pauses };
process.stdout.write(`${JSON.stringify(report)}\n`);
