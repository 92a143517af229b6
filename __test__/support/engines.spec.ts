/** The forbidden actions of the engines of `npm run test:engines`, and the signs of an unavailable engine. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { listeningBeyondLoopback, processesNaming } from "../../tools/engines/leftovers.mjs";
import { engines, withEngine } from "../../tools/engines/main.mjs";
import { Missing } from "../../tools/engines/missing.mjs";

const linux = { skip: process.platform !== "linux" };

const listens = `require("net").createServer().listen(0, process.argv[1], () => console.log("listens"))`;

/** A program that listens on an address until it is ended, with a folder among its words or in its environment. */
async function listener(address: string, place: string, how: "words" | "environment"): Promise<ChildProcess> {
	const words = how === "words" ? [place] : [];
	const env = how === "words" ? process.env : { ...process.env, PLACE: place };
	const child = spawn(process.execPath, ["-e", listens, address, ...words], {
		env,
		stdio: ["ignore", "pipe", "inherit"],
	});
	await once(child.stdout ?? assert.fail("the step has no output"), "data");
	return child;
}

async function ended(child: ChildProcess): Promise<void> {
	const ended = once(child, "exit");
	child.kill("SIGKILL");
	await ended;
}

test(
	"an engine's listening sockets beyond the loopback interface are found, and its remaining processes",
	linux,
	async () => {
		const rows: [string, boolean, "words" | "environment"][] = [
			["0.0.0.0", true, "words"],
			["::", true, "environment"],
			["127.0.0.1", false, "environment"],
			["::1", false, "words"],
		];
		for (const [address, isFound, how] of rows) {
			const place = join(tmpdir(), `pi-subagent-place-${process.pid}`);
			const child = await listener(address, place, how).catch(() => undefined);
			if (!child) continue; // Without IPv6.
			try {
				const found = listeningBeyondLoopback(place);
				assert.equal(found.length, isFound ? 1 : 0, `${address}: ${found}`);
				assert.equal(processesNaming(place).length, 1, address);
			} finally {
				await ended(child);
			}
			assert.deepEqual(processesNaming(place), []);
		}
	},
);

test(
	"an unavailable engine is skipped, but an engine that fails, listens or leaves something is an error",
	linux,
	async () => {
		let child: ChildProcess | undefined;
		let stopped = 0;
		let used = "";
		const launcher = {};
		const stop = async () => void stopped++;
		const made = (start: (place: string) => Promise<unknown>) => {
			Object.assign(engines, { made: { page: "", programs: [], start } });
			return withEngine("made", async (_running: unknown, place: string) => {
				used = place;
				return "used";
			});
		};
		try {
			assert.ok((await made(() => Promise.reject(new Missing("no apt-get here")))) instanceof Missing);
			await assert.rejects(
				made(() => Promise.reject(new Error("the nodes are not idle"))),
				/the nodes are not idle/,
			);
			assert.equal(await made(async () => ({ launcher, stop })), "used");
			const listening = made(async (place) => {
				child = await listener("0.0.0.0", place, "words");
				return { launcher, stop: async () => child && (await ended(child)) };
			});
			await assert.rejects(listening, /listens on another address than the loopback: .*0{8}:/);
			const problem = made(async (place) => {
				child = await listener("127.0.0.1", place, "environment");
				return { launcher, stop };
			});
			await assert.rejects(problem, /processes survived the end of the engine: \d+ /);
			assert.equal(stopped, 2, "every started engine is stopped");
			assert.ok(!existsSync(used));
		} finally {
			if (child && child.exitCode === null && child.signalCode === null) await ended(child);
			delete (engines as Record<string, unknown>).made;
		}
	},
);
