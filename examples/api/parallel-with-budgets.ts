/** Runs two parallel tasks. Each may cost half a dollar and take twenty turns, both together one dollar. */

import { startParallel } from "pi-subagent-native";

const tasks = ["Find out how logging works.", "Find out how retries work."];
const { details } = await startParallel({
	tasks: tasks.map((task) => ({ agent: "explorer", task })),
	cwd: process.cwd(),
	sessionId: "budgets",
	config: { budget: { maxCost: 0.5, maxTurns: 20 }, sessionBudget: { maxCost: 1 } },
}).result();

for (const { task, outcome, usage } of details.results) console.log(`${outcome}, $${usage.cost.toFixed(4)}: ${task}`);
