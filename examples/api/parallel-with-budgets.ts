/** Runs two tasks at the same time. Each may cost half a dollar and take twenty turns, both together one dollar. */

import { run } from "pi-subagent-native";

const tasks = ["Find out how logging works.", "Find out how retries work."];
const results = await run.parallel(
	tasks.map((task) => ({ agent: "explorer", task, budget: { maxCost: 0.5, maxTurns: 20 } })),
	{ budget: { maxCost: 1 } },
);
for (const [index, { outcome, usage }] of results.entries()) {
	console.log(`${outcome}, $${usage.cost.toFixed(4)}: ${tasks[index]}`);
}
