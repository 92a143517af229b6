/** Requests a result with a given schema. pi validates it before the child may end with it. */

import { startRun } from "pi-subagent-native";

const { details } = await startRun({
	agent: "explorer",
	task: "Which files load the configuration?",
	cwd: process.cwd(),
	outputSchema: {
		type: "object",
		properties: { files: { type: "array", items: { type: "string" } } },
		required: ["files"],
	},
}).result();

const [run] = details.results;
console.log(run?.structured ?? run?.error);
