/** A program with the script `w` of one run. It prints the error of the script. It may be killed at any moment. */

import { workflow } from "../../../index.js";

const { task, ...options } = JSON.parse(process.argv[2] ?? "{}");

await workflow("w", options, (wf) => wf.run({ key: "a", agent: "explorer", task })).catch((error) =>
	process.stdout.write(`${JSON.stringify({ error: error.message })}\n`),
);
process.exit();
