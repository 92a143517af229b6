/** Reads a recording of `pi --mode json` and prints its answer without secrets. */

import { collectOutputFile, inspectOutput } from "pi-subagent-native";

const [path = ""] = process.argv.slice(2);
const { output, usage, counts } = await collectOutputFile(path);
console.log(output);
console.log(
	`${counts.events} events, $${(usage?.cost ?? 0).toFixed(4)}, ${(await inspectOutput(output)).length} secrets left`,
);
