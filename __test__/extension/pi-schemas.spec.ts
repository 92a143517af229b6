/** Schemas of libraries in programs: real pi checks the submitted value, and `data` is what the library makes of it. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import Type from "typebox";
import * as v from "valibot";
import { z } from "zod";

import { OptionsError, type Result, run, type Schema } from "../../index.js";
import { call, type ModelRequest, newestPi, piCommand, Stage } from "../support/pi.ts";

const wrong = { kind: "test" };
const right = { files: ["a.ts"], kind: "test" };

const schemas = {
	zod: z.object({ files: z.array(z.string()), lines: z.number().int().optional(), kind: z.enum(["test", "source"]) }),
	valibot: toStandardJsonSchema(
		v.object({
			files: v.array(v.string()),
			lines: v.optional(v.pipe(v.number(), v.integer())),
			kind: v.picklist(["test", "source"]),
		}),
	),
	arktype: type({ files: "string[]", "lines?": "number.integer", kind: "'test' | 'source'" }),
	typebox: Type.Object({
		files: Type.Array(Type.String()),
		lines: Type.Optional(Type.Integer()),
		kind: Type.Union([Type.Literal("test"), Type.Literal("source")]),
	}),
} satisfies Record<string, Schema>;

const submits =
	(...values: Record<string, unknown>[]) =>
	({ toolAnswers }: ModelRequest) => [call("submit_result", values[toolAnswers.length] ?? values.at(-1) ?? {})];

describe("a program's run in real pi", () => {
	let stage: Stage;

	before(async () => {
		const children = {
			corrected: submits(wrong, right),
			date: submits({ day: "2026-02-03", lines: "12" }),
			late: submits({ files: [] }),
		};
		stage = await Stage.open({ children });
	});

	after(() => stage.close());

	async function result<const S extends Schema>(task: string, schema: S) {
		const { cwd, agentDir, env } = stage.world;
		const from = stage.server.requests.length;
		const options = { agent: "explorer", task, schema, cwd, agentDir, env, piCommand: piCommand(newestPi) };
		const result = (await run(options)) as Result<unknown>;
		return { result, requests: stage.childRequests(from) };
	}

	for (const [library, schema] of Object.entries(schemas)) {
		test(`has the data of a schema of ${library}, after pi has refused a wrong value`, async () => {
			const { result: ended, requests } = await result("corrected", schema);
			assert.deepEqual(ended.data, right, JSON.stringify(ended.error));
			assert.equal(requests.length, 2);
			assert.match(JSON.stringify(requests.at(-1)?.toolAnswers), /files/);
		});
	}

	const converting = {
		zod: z.object({ day: z.string().transform((text) => new Date(text)), lines: z.string().transform(Number) }),
		valibot: toStandardJsonSchema(
			v.object({
				day: v.pipe(
					v.string(),
					v.transform((text) => new Date(text)),
				),
				lines: v.pipe(v.string(), v.transform(Number)),
			}),
		),
		arktype: type({ day: "string.date.parse", lines: "string.numeric.parse" }),
	};

	for (const [library, schema] of Object.entries(converting)) {
		test(`has the data that ${library} converts the submitted texts into`, async () => {
			const { result: ended } = await result("date", schema);
			assert.deepEqual(ended.data, { day: new Date("2026-02-03"), lines: 12 }, JSON.stringify(ended.error));
		});
	}

	test("fails with the library's words if the schema has a condition that JSON Schema cannot express", async () => {
		const schema = z.object({ files: z.array(z.string()) }).refine(({ files }) => files.length > 0, "no files");
		const { result: ended } = await result("late", schema);
		assert.deepEqual(ended.error, { code: "RESULT_INVALID", message: "no files" });
	});

	const refused: Record<string, [schema: unknown, reason: RegExp]> = {
		"zod's date": [z.object({ day: z.date() }), /Date cannot be represented/],
		"valibot's date": [toStandardJsonSchema(v.object({ day: v.date() })), /"date" schema/],
		"valibot without a conversion": [v.object({ day: v.string() }), /toStandardJsonSchema/],
		"arktype's date": [type({ day: "Date" }), /date/],
		"arktype's map": [type({ day: "Map" }), /proto/],
		"arktype's bigint": [type({ day: "bigint" }), /domain/],
		"TypeBox's bigint": [Type.Object({ day: Type.BigInt() }), /`type` at `#\/properties\/day` is `bigint`/],
	};

	for (const [name, [schema, reason]] of Object.entries(refused)) {
		test(`${name} is refused before pi starts`, () => {
			const from = stage.server.requests.length;
			const start = () => run({ agent: "explorer", task: "date", schema: schema as Schema });
			assert.throws(start, (error) => {
				assert.ok(error instanceof OptionsError, String(error));
				assert.equal(error.path, "schema");
				assert.match(error.message, reason);
				return true;
			});
			assert.equal(stage.server.requests.length, from);
		});
	}
});
