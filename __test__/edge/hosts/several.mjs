/** Several runs at once, each with a task of its own; prints their results in order. */

import { startRun } from "../../../native.js";

const options = JSON.parse(process.argv[2] ?? "");
const [name, count] = [process.argv[3], Number(process.argv[4])];
const runs = Array.from({ length: count }, (_, index) => startRun({ ...options, task: `${name} ${index}` }));
console.log(JSON.stringify(await Promise.all(runs.map((run) => run.result()))));
