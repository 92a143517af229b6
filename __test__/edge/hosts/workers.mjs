/** Runs in worker threads of a process whose main thread never loads the addon. */

import { Worker } from "node:worker_threads";

const [options, script, word] = [JSON.parse(process.argv[2] ?? ""), process.argv[3], process.argv[4]];

/**
 * @param {string} file the stand-in for pi
 * @param {boolean} waits
 */
function start(file, waits = true) {
	const run = { ...options, piCommand: ["/bin/sh", file] };
	return new Worker(new URL("worker.mjs", import.meta.url), { workerData: { options: run, waits } });
}

/**
 * @param {Worker} worker
 * @param {"update" | "result"} kind
 * @returns {Promise<string>}
 */
function messageFrom(worker, kind) {
	return new Promise((resolve, reject) => {
		// Before its child says something a run tells in brackets that it waits or begins.
		worker.on("message", (message) => kind in message && !message[kind].startsWith("(") && resolve(message[kind]));
		worker.on("error", reject);
	});
}

const [hangs, answers] = [`${script}/hangs.sh`, `${script}/answers.sh`];
const first = start(hangs, word === "awaited");
const second = start(answers);
const result = messageFrom(second, "result");
await messageFrom(first, "update");
await first.terminate();
console.log(await result);
// All others have ended by then, and have unloaded the addon.
console.log(await messageFrom(start(answers), "result"));
