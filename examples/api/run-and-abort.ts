/** Runs one agent with a time limit. What it has said until then is kept. */

import { run } from "pi-subagent-native";

const result = await run({
	agent: "explorer",
	task: "Where is the config loaded?",
	signal: AbortSignal.timeout(Number(process.argv[2] ?? 60_000)),
});
console.log(result.outcome);
console.log(result.ok ? result.text : `${result.error.message}\n${result.partial}`);
