/** Reads a recording of `pi --mode json` and prints its answer without secrets. */

import { createReadStream } from "node:fs";
import { collect } from "pi-subagent-native";

const [path = ""] = process.argv.slice(2);
const { output, usage, counts } = await collect(createReadStream(path));
console.log(output);
console.log(`${counts.events} events, $${usage.cost.toFixed(4)}`);
