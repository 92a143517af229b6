/** Requests a result with a given schema. pi validates it before the child may end with it. */

import { run } from "pi-subagent-native";

const result = await run({
	agent: "explorer",
	task: "Which files load the configuration?",
	schema: {
		type: "object",
		properties: { files: { type: "array", items: { type: "string" } } },
		required: ["files"],
	},
});
if (!result.ok) throw new Error(result.error.message);
for (const file of result.data.files) console.log(file);
