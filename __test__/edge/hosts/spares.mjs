/** Runs a task after which a child waits, says so, and stays or leaves. */

import { setTimeout as delay } from "node:timers/promises";

import { startRun } from "../../../native.js";

const { stays, ...options } = JSON.parse(process.argv[2] ?? "");
const { content } = await startRun(options).result();
process.stdout.write(`${content[0]?.text}\n`);
if (stays) await delay(30_000);
