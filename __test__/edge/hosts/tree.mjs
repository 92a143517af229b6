/**
 * Starts a run whose child has a tree below it, and carries out the action named by its second word once the tree is
 * running. The directory next to the project is the stage: `host` gets our process id, `tree/` is the tree's folder. A
 * result is printed as JSON.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { dropOnceUp } from "./drop.mjs";

/** @type {typeof import("../../../native.js")} */
const { startRun } = createRequire(import.meta.url)("../../../native.js");

/** The time that an idle host stays; its parent ends it sooner. */
const stayMs = 15_000;

const [options, deed] = [JSON.parse(process.argv[2] ?? ""), process.argv[3] ?? ""];
const stage = join(options.cwd, "..");

async function up() {
	while (!existsSync(join(stage, "tree", "up"))) await delay(10);
}

/** @param {string} kind */
function victim(kind) {
	const lines = readFileSync(join(stage, "tree", "victims"), "utf8").split("\n");
	return Number(lines.find((line) => line.startsWith(`${kind} `))?.split(" ")[1]);
}

/** @param {import("../../../native.js").RunHandle} handle */
async function report(handle) {
	console.log(JSON.stringify(await handle.result()));
}

/**
 * Says when something happened, by the clock that all processes of a machine share.
 *
 * @param {string} what
 */
function logTime(what) {
	console.log(`${what} ${process.hrtime.bigint()}`);
}

/** @type {Record<string, () => unknown>} */
const deeds = {
	/** Waits for any end. */
	async wait() {
		await report(startRun(options));
		logTime("result");
	},
	async abort() {
		const handle = startRun(options);
		await up();
		logTime("aborted");
		handle.abort();
		await report(handle);
		logTime("result");
	},
	async "stop the child and abort"() {
		const handle = startRun(options);
		await up();
		process.kill(victim("pi"), "SIGSTOP");
		handle.abort();
		await report(handle);
	},
	/** The handle is dropped, and the process continues. */
	async "drop the handle"() {
		await dropOnceUp(() => startRun(options), up);
		await delay(stayMs);
	},
	async "end the worker"() {
		const source = `const { startRun } = require(${JSON.stringify(join(import.meta.dirname, "../../../native.js"))});
			void startRun(require("node:worker_threads").workerData).result();`;
		const worker = new Worker(source, { eval: true, workerData: options });
		await up();
		await worker.terminate();
		await delay(stayMs);
	},
	async exit() {
		void startRun(options).result();
		await up();
		logTime("exit");
		process.exit(3);
	},
	async throw() {
		void startRun(options).result();
		await up();
		setImmediate(() => {
			throw new Error("a mistake in the host");
		});
		await delay(stayMs);
	},
	async reject() {
		void startRun(options).result();
		await up();
		void Promise.reject(new Error("a mistake in the host"));
		await delay(stayMs);
	},
};

writeFileSync(join(stage, "host"), `${process.pid}\n`);
await (deeds[deed] ?? (() => console.log(`no deed ${deed}`)))();
