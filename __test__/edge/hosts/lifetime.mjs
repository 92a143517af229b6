/** Starts a run and then carries out the action named by its second word; prints the result. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { startRun } from "../../../native.js";
import { collect, dropOnceUp } from "./drop.mjs";

const [options, what] = [JSON.parse(process.argv[2] ?? ""), process.argv[3]];
const pidFile = join(options.cwd, "..", "pid");

/** The child has started when it has written its process id. The file exists a moment before its content. */
async function up() {
	while (!(existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"))) await delay(10);
}

/** @type {Record<string, () => unknown>} */
const deeds = {
	/** The handle is dropped while the process continues. */
	async dropped() {
		await dropOnceUp(() => startRun(options), up);
		await delay(600_000);
	},
	/** The same with callbacks. */
	async "dropped with callbacks"() {
		await dropOnceUp(() => startRun(options, () => {}, { confirm: () => true }), up);
		await delay(600_000);
	},
	/** The result was requested once, and its promise is no longer awaited. */
	async "promise only"() {
		const promise = startRun(options).result();
		await up();
		await collect();
		writeFileSync(join(options.cwd, "..", "go"), "");
		console.log((await promise).content[0]?.text);
	},
	/** Kept, not awaited: nothing keeps the process. */
	async unawaited() {
		Object.assign(globalThis, {
			kept: startRun(options, () => {}, { confirm: () => true }),
		});
	},
	/** The same, with the child up before. */
	async "unawaited and up"() {
		Object.assign(globalThis, { kept: startRun(options, () => {}) });
		await up();
	},
	/** Awaited, and the process exits anyway. */
	async exit() {
		void startRun(options).result();
		await up();
		process.exit(3);
	},
	/** The same, with a host that aborts its runs as the last thing it does. */
	async "abort at exit"() {
		const handle = startRun(options);
		void handle.result();
		process.on("exit", () => handle.abort("the host exits"));
		await up();
		process.exit(3);
	},
	/** Awaited, and the host dies of a mistake. */
	async mistake() {
		void startRun(options).result();
		await up();
		setImmediate(() => {
			throw new Error("a mistake in the host");
		});
		await delay(600_000);
	},
	/** Awaited: the process waits for it. */
	async awaited() {
		console.log((await startRun(options).result()).content[0]?.text);
	},
	/** An error thrown by a callback is not an unhandled rejection. */
	async callbacks() {
		process.on("unhandledRejection", () => console.log("unhandled rejection"));
		process.on("uncaughtException", () => console.log("uncaught exception"));
		const thrower = () => {
			throw new Error("a mistake in the host");
		};
		const rejecter = async () => thrower();
		const first = await startRun(options, thrower, { confirm: thrower }).result();
		const second = await startRun({ ...options, agent: "local" }, thrower, { confirm: rejecter }).result();
		console.log(first.content[0]?.text, second.details.error?.code);
	},
};

await (deeds[what ?? ""] ?? (() => console.log(`no deed ${what}`)))();
