/** Results in a shape of their caller's choice, in real pi: its own check of them counts, and a checked one ends the work. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { backgroundStage, spawn } from "../support/background.ts";
import {
	call,
	delegate,
	detailsOf,
	hang,
	lastEnd,
	type ModelRequest,
	piVersions,
	runJson,
	type Stage,
	say,
	startRpc,
	textOf,
} from "../support/pi.ts";

const definition = `---
name: counter
description: Counts.
readonly: true
tools: read
outputSchema:
  type: object
  properties:
    files: { type: array, items: { type: string } }
    count: { type: integer, minimum: 0 }
  required: [files, count]
  additionalProperties: false
---
Count files.
`;

const whole = { files: ["a.ts", "b.ts"], count: 2 };

/** Submits these, one after the other, as long as it is asked to go on. */
const submits =
	(...values: unknown[]) =>
	({ toolAnswers }: ModelRequest) => [
		say("I have counted."),
		call("submit_result", (values[toolAnswers.length] ?? values.at(-1)) as Record<string, unknown>),
	];

const node = {
	type: "object",
	properties: { name: { type: "string" }, nodes: { type: "array", items: { $ref: "#/$defs/node" } } },
	required: ["name"],
	additionalProperties: false,
};
const one = {
	type: "object",
	properties: { kind: { const: "one" }, at: { type: "integer" } },
	required: ["kind", "at"],
	additionalProperties: false,
};
const none = { type: "object", properties: { kind: { const: "none" } }, required: ["kind"] };

/** Values that pi rejects, each different from the one before. */
const wrongly = ({ toolAnswers: { length } }: ModelRequest) =>
	length < 10 ? [call("submit_result", { files: [`file-${length}.ts`], count: `${length} files` })] : [hang()];

/** Schemas from common generators; the model first submits a wrong value, then a right one. */
const generated = {
	definitions: {
		outputSchema: {
			$ref: "#/definitions/node",
			definitions: {
				node: { ...node, properties: { name: { $ref: "#/definitions/name" } } },
				name: { type: "string" },
			},
			$schema: "http://json-schema.org/draft-07/schema#",
		},
		submitted: [{}, { name: "root" }],
	},
	recursion: {
		outputSchema: { type: "array", items: { $ref: "#/$defs/node" }, $defs: { node } },
		submitted: [{ value: [{ name: "root", nodes: [{ title: "leaf" }] }] }, { value: [{ name: "root", nodes: [] }] }],
	},
	root: {
		outputSchema: { $ref: "#/$defs/node", $defs: { node } },
		submitted: [
			{ name: "root", nodes: [{}] },
			{ name: "root", nodes: [{ name: "leaf" }] },
		],
	},
	alternatives: {
		outputSchema: { anyOf: [{ $ref: "#/$defs/one" }, { $ref: "#/$defs/none" }], $defs: { one, none } },
		submitted: [{ kind: "one" }, { kind: "one", at: 7 }],
	},
};

const children = {
	right: submits(whole),
	corrected: submits({ files: "a.ts" }, { files: [], count: -1, more: true }, whole),
	wrongly,
	talks: () => [say("There are two.")],
	many: submits({ files: Array.from({ length: 20_000 }, (_, at) => `src/some/where/file-${at}.ts`), count: 20_000 }),
	list: submits({ value: ["a", "b"] }),
	...Object.fromEntries(Object.entries(generated).map(([task, { submitted }]) => [task, submits(...submitted)])),
};

for (const version of piVersions) {
	describe(`structured results in pi ${version}`, () => {
		let stage: Stage;

		before(async () => {
			stage = await backgroundStage({ version, children });
			stage.world.writeAgentDir("agents/counter.md", definition);
		});

		after(() => stage.close());

		async function delegated(task: string) {
			const rpc = startRpc(stage.world);
			const from = stage.server.requests.length;
			await rpc.prompt(delegate({ agent: "counter", task }));
			return { end: lastEnd(rpc.log), requests: stage.childRequests(from) };
		}

		test("a value that pi accepts ends the work, without a further request", async () => {
			const { end, requests } = await delegated("right");
			assert.equal(end.isError, false, textOf(end));
			assert.deepEqual(detailsOf(end).results[0]?.structured, whole);
			assert.match(textOf(end), /^I have counted\.\n\n```json\n\{\n {2}"count": 2,/);
			assert.equal(requests.length, 1);
			const tool = requests[0]?.tools.find(({ function: { name } }) => name === "submit_result");
			assert.match(JSON.stringify(tool), /"count":\{"minimum":0,"type":"integer"\}/);
		});

		test("a value that pi rejects goes back to the model", async () => {
			const { end, requests } = await delegated("corrected");
			assert.deepEqual(detailsOf(end).results[0]?.structured, whole, textOf(end));
			assert.equal(requests.length, 3);
			assert.match(JSON.stringify(requests.at(-1)?.toolAnswers), /count/);
		});

		test("ten rejected values end the run, with the reason of the last rejection", async () => {
			const { end, requests } = await delegated("wrongly");
			assert.equal(end.isError, true);
			assert.match(
				textOf(end),
				/pi refused 10 submitted results that do not match `outputSchema`; the last reason: `Validation failed.*count/,
			);
			assert.equal(detailsOf(end).results[0]?.structured, undefined);
			// pi may begin another request before it is ended.
			assert.ok(requests.length === 10 || requests.length === 11, `${requests.length}`);
		});

		test("a text without a value is a failure, and is kept", async () => {
			const { end } = await delegated("talks");
			assert.equal(end.isError, true);
			assert.match(textOf(end), /has not submitted a result[\s\S]*partial output:\n```text\nThere are two\./);
		});

		test("a large value is stored whole in a file", async () => {
			const { end } = await delegated("many");
			const [single] = detailsOf(end).results;
			assert.equal(single?.structured, undefined);
			const value = JSON.parse(readFileSync(single?.structuredFile ?? "", "utf8")) as typeof whole;
			assert.equal(value.files.length, 20_000);
			assert.match(textOf(end), /\[The result is [\d.]+ [KM]i?B of JSON: /);
		});

		test("a background run has the shape that its call requests, with the json protocol too", async () => {
			stage.configure({ protocol: "json" });
			const outputSchema = { type: "array", items: { type: "string" } };
			const { log } = await runJson(stage.world, spawn({ agentId: "explorer", task: "list", outputSchema }));
			const announcement = log.events
				.map((event) => JSON.stringify(event))
				.find((event) => event.includes("Status: success"));
			assert.match(announcement ?? log.answer, /\[\\+n {2}\\+"a\\+",\\+n {2}\\+"b\\+"\\+n\]/);
			stage.configure({});
		});

		for (const [task, { outputSchema, submitted }] of Object.entries(generated)) {
			test(`a schema of a generator is checked and its result delivered: ${task}`, async () => {
				const from = stage.server.requests.length;
				const { log } = await runJson(stage.world, spawn({ agentId: "explorer", task, outputSchema }));
				const announcement = log.events
					.map((event) => JSON.stringify(event))
					.find((event) => event.includes("Status: success"));
				assert.match(announcement ?? log.answer, /root|\\+"at\\+": 7/);
				const isSubmitting = ({ tools }: ModelRequest) =>
					tools.some(({ function: { name } }) => name === "submit_result");
				const requests = stage.childRequests(from).filter(isSubmitting);
				assert.equal(requests.length, submitted.length, "the rejected value went back to the model");
				assert.match(JSON.stringify(requests[1]?.toolAnswers), /Validation failed/);
			});
		}
	});
}
