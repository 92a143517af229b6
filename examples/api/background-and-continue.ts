/** Starts a run in the background, receives its result, and sends a follow-up message. */

import { endBackground, openBackground, spawnSession } from "pi-subagent-native";

const place = { cwd: process.cwd(), sessionId: "continue" };
const session = openBackground({ ...place, delivered: [] }, async ({ deliveries }) => {
	if (!deliveries) return;
	for (const { runId, status, result } of deliveries.runs) console.log(runId, status, result);
	await session.delivered(deliveries.deliveryIds);
});

const { runId, error } = await spawnSession({ ...place, agent: "explorer", task: "Where is the config loaded?" });
if (!runId) throw new Error(error);
await session.settled();

const again = await session.continueRun(runId, "And where is it checked?");
if (again.error) throw new Error(again.error);
await session.settled();

await session.close();
await endBackground();
