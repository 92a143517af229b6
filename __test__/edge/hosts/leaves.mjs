/**
 * Starts a run and carries out the action named by its second word, at the child's first text or before; prints the
 * result.
 */

import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";

import { setTimeout as delay } from "node:timers/promises";

import { spawnSession, startRun } from "../../../native.js";
import { pathsBelow } from "../../support/files.ts";

const [options, what] = [JSON.parse(process.argv[2] ?? ""), process.argv[3]];

/** Opens all but a few of the descriptors that this process may still have; returns a function that closes them. */
function takeDescriptors(few = 0) {
	/** @type {number[]} */
	const taken = [];
	try {
		for (;;) taken.push(openSync("/dev/null", "r"));
	} catch {
		for (const descriptor of taken.splice(0, few)) closeSync(descriptor);
		return () => taken.forEach((descriptor) => void closeSync(descriptor));
	}
}

/** Starts the run and waits for the child's first words. */
async function begin() {
	const { promise, resolve } = Promise.withResolvers();
	const handle = startRun(options, (update) => {
		if (update.content.some(({ text }) => text.includes("so far"))) resolve(undefined);
	});
	const result = handle.result();
	await promise;
	return { handle, result };
}

/** @type {Record<string, () => unknown>} */
const deeds = {
	async exit() {
		await begin();
		process.exit(3);
	},
	async "exit in the pause before another attempt"() {
		const { promise, resolve } = Promise.withResolvers();
		void startRun(options, (update) => {
			if (update.details.streaming?.state === "retrying") resolve(undefined);
		}).result();
		await promise;
		process.exit(3);
	},
	async "exit while its files are removed"() {
		await begin();
		// The prompt goes first.
		const prompts = () => pathsBelow(options.agentDir).filter((path) => /prompt/.test(path));
		while (prompts().length > 0) await delay(1);
		process.exit(3);
	},
	async wait() {
		const { result } = await begin();
		console.log("begun");
		await result;
	},
	async "no descriptors at its end"() {
		const { handle, result } = await begin();
		// Below its current number, so that the descriptors freed by the child's end do not help.
		execFileSync("prlimit", ["--pid", String(process.pid), "--nofile=4:4"]);
		handle.abort("enough");
		console.log(JSON.stringify(await result));
	},
	async "say how it ends, here and in the background"() {
		const result = await startRun(options).result();
		const { agent, task, cwd, piCommand, config } = options;
		const receipt = await spawnSession({ agent, task, cwd, piCommand, config, sessionId: "s" });
		console.log(JSON.stringify({ result, receipt }));
	},
	async "few descriptors at its start"() {
		const results = [];
		for (const few of [0, 2, 4, 8, 12, 16, 20, 24, 30, 60]) {
			const giveBack = takeDescriptors(few);
			results.push(await startRun(options).result());
			giveBack();
		}
		console.log(JSON.stringify(results));
	},
};

await (deeds[what ?? ""] ?? (() => console.log(`no deed ${what}`)))();
