/** Runs once; prints the result and the content of the agent directory. */

import { readdirSync } from "node:fs";

import { startRun } from "../../../native.js";

const options = JSON.parse(process.argv[2] ?? "");
const result = await startRun(options).result();
const files = readdirSync(options.agentDir, { recursive: true }).sort();
console.log(JSON.stringify({ result, files }));
