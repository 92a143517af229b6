/** A program that starts one run with a key, and prints its updates and its result. It may be killed at any moment. */

import { startRun } from "../../../native.js";

const options = JSON.parse(process.argv[2] ?? "{}");

/** @param {Record<string, unknown>} line */
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const result = await startRun(options, ({ content }) => say({ update: content[0]?.text })).result();
say({ result });
process.exit();
