/**
 * Starts as many runs as its second word says, tells each update's state as a line, and prints the results. Ends when they
 * have.
 */

import { startRun } from "../../../native.js";

const [options, count] = [JSON.parse(process.argv[2] ?? ""), Number(process.argv[3])];
const runs = Array.from({ length: count }, (_, index) =>
	startRun({ ...options, task: `task ${index}` }, ({ details }) => {
		const { state, position } = details.streaming ?? {};
		console.log(JSON.stringify({ run: index, state, position }));
	}),
);
const results = await Promise.all(runs.map((run) => run.result()));
console.log(JSON.stringify({ results }));
