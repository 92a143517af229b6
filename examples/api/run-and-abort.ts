/** Runs one agent, and aborts it after a time limit. The text so far is kept. */

import { startRun } from "pi-subagent-native";

const run = startRun({ agent: "explorer", task: "Where is the config loaded?", cwd: process.cwd() });
const timer = setTimeout(() => run.abort("time limit reached"), Number(process.argv[2] ?? 60_000));
const { details, content } = await run.result();
clearTimeout(timer);
console.log(details.results[0]?.outcome);
console.log(content[0]?.text);
