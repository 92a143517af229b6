/** Starts a run in the background, receives its result, and sends a follow-up message. */

import { openSession } from "pi-subagent-native";

const session = openSession({
	id: "continue",
	onMessage: ({ results }) => {
		for (const { runId, ok, text } of results) console.log(runId, ok, text);
	},
});

const { runId } = await session.spawn({ agent: "explorer", task: "Where is the config loaded?" });
await session.settled();

await session.send(runId, "And where is it checked?");
await session.settled();
await session.close();
