/**
 * A pi from the viewpoint of background runs: opens its conversation, starts runs, writes each message into its session
 * file as pi would, and then reports it as delivered. It logs its events and prints them. It may be killed at any
 * moment. With the word `ends` it exits once everything that was ever accepted has been delivered, or when its input
 * ends.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { endBackground, openBackground, spawnSession, startRun } from "../../../native.js";

/** Longer than another process needs to notice that a process has ended. */
const patienceMs = 30_000;

const [options, log, tasks, ends, pauseMs] = process.argv.slice(2).map((word) => JSON.parse(word));
const sessionFile = options.parentSessionFile;

/** @param {string} file */
function linesOf(file) {
	const text = existsSync(file) ? readFileSync(file, "utf8") : "";
	return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/** @param {{ [kind: string]: unknown }} entry */
function say(entry) {
	const line = `${JSON.stringify(entry)}\n`;
	appendFileSync(log, line);
	process.stdout.write(line);
}

const allDelivered = () => {
	const inSession = new Set(linesOf(sessionFile).flatMap(({ details }) => details.runIds));
	return linesOf(log).every(({ accepted }) => accepted === undefined || inSession.has(accepted));
};

/** Offers that were not said to be delivered yet. */
let open = 0;

say({ up: process.pid });
const delivered = linesOf(sessionFile).flatMap(({ details }) => details.deliveryIds);
const session = openBackground({ ...options, delivered }, ({ runEvents = [], deliveries, notices = [] }) => {
	for (const { event, run } of runEvents) {
		if (event === "subagent:ended") say({ ended: run.runId, status: run.status });
	}
	for (const notice of notices) say({ notice });
	if (!deliveries) return;
	open++;
	take(deliveries)
		.catch((error) => say({ notice: String(error) }))
		.finally(() => open--);
});

/** @param {import("../../../native.js").DeliveryMessage} message */
async function take({ deliveryIds, runIds, text }) {
	say({ offered: deliveryIds });
	// pi writes it when the model gets it, and reports that later.
	await delay(pauseMs);
	const entry = { type: "custom_message", content: text, details: { deliveryIds, runIds } };
	appendFileSync(sessionFile, `${JSON.stringify(entry)}\n`);
	say({ told: deliveryIds });
	await delay(pauseMs);
	const isDetached = await session.delivered(deliveryIds);
	say(isDetached ? { delivered: deliveryIds } : { notice: `${deliveryIds} could not be kept as delivered` });
}

/** Every other task is called, and handed over before its child can have ended. */
let isHandedOver = false;
for (const task of tasks) {
	isHandedOver = !isHandedOver;
	const call = isHandedOver ? startRun({ ...options, agent: "explorer", task }) : undefined;
	const receipt = call ? (await call.background())[0] : await spawnSession({ ...options, task });
	// The call of a faster run already has its result.
	if (call && (await call.result()).details.results[0]?.outcome !== "background") continue;
	say(receipt?.status === "accepted" ? { accepted: receipt.runId, task } : { notice: receipt?.error });
}

const closed = new Promise((resolve) => process.stdin.once("end", resolve).resume());
if (ends) {
	const deadline = performance.now() + patienceMs;
	await session.settled();
	while (!(allDelivered() && open === 0) && performance.now() < deadline) await delay(20);
} else await closed;
await session.close();
await endBackground();
process.exit();
