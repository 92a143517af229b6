/** Opens a conversation, waits until the files of one of its runs were removed, and prints its runs. */

import { setTimeout as delay } from "node:timers/promises";

import { openBackground } from "../../../native.js";

const patienceMs = 15_000;

const options = JSON.parse(process.argv[2] ?? "");
const session = openBackground({ ...options, delivered: [] }, () => {});
const deadline = performance.now() + patienceMs;
let runs = await session.runs();
while (runs.every(({ directory }) => directory) && performance.now() < deadline) {
	await delay(20);
	runs = await session.runs();
}
await session.close();
console.log(JSON.stringify(runs));
