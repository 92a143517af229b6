/**
 * Carries out requests from standard input, one JSON object a line (`{ id, deed, args }`), and prints their results and
 * every event of its conversation, one line each. Ends with its input.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

import { endBackground, openBackground, spawnSession, startRun } from "../../../native.js";

const options = JSON.parse(process.argv[2] ?? "");
const say = (/** @type {object} */ line) => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** @type {import("../../../native.js").BackgroundSession | undefined} */
let session;
const opened = () => {
	if (!session) throw new Error("no conversation is open");
	return session;
};

/** @type {Record<string, (...args: any[]) => unknown>} */
const deeds = {
	open: (change) => {
		session = openBackground({ ...options, delivered: [], ...change }, (event) => say({ event }));
	},
	spawn: (change) => spawnSession({ ...options, ...change }),
	handOver: (task) => startRun({ ...options, agent: "explorer", task }).background(),
	command: (line) => opened().command(line),
	runs: (all) => opened().runs(all),
	delivered: (ids) => opened().delivered(ids),
	settled: (timeoutMs) => opened().settled(timeoutMs),
	stopAll: () => opened().stopAll(),
	close: () => opened().close(),
	end: () => endBackground(),
	fill: (path) => {
		const file = openSync(path, "w");
		try {
			while (writeSync(file, Buffer.alloc(4_096)) > 0);
		} catch {
			// It is full.
		}
		closeSync(file);
	},
	exit: () => process.exit(0),
};

for await (const line of createInterface({ input: process.stdin })) {
	const { id, deed, args } = JSON.parse(line);
	void Promise.resolve()
		.then(() => deeds[deed]?.(...args))
		.then(
			(value) => say({ id, value }),
			(error) => say({ id, error: String(error) }),
		);
}
process.exit();
