/** Boots a child for a call that never comes, says so, and stays. */

import { setTimeout as delay } from "node:timers/promises";

import { bootEarly } from "../../../native.js";

const { agent, task: _, ...options } = JSON.parse(process.argv[2] ?? "");
const early = bootEarly({ ...options, tool: "subagent", callId: "never" });
early.push(JSON.stringify({ agent, task: "" }).slice(0, -1));
await delay(30_000);
await early.end();
