/** The types of `data` with the schemas of libraries. Checked by `tsc` only; nothing here is ever run. */

import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import Type from "typebox";
import * as v from "valibot";
import { z } from "zod";

import { run } from "../../index.js";

const task = { agent: "explorer", task: "Look around." };

/** Compiles if both types are the same, and not `any`. */
function same<A, B>(_: 0 extends A & 1 ? never : [A] extends [B] ? ([B] extends [A] ? true : never) : never): void {}

interface Report {
	files: string[];
	lines?: number | undefined;
	kind: "test" | "source";
}

export async function libraries(): Promise<void> {
	const ofZod = await run({
		...task,
		schema: z.object({
			files: z.array(z.string()),
			lines: z.number().int().optional(),
			kind: z.enum(["test", "source"]),
		}),
	});
	if (ofZod.ok) same<typeof ofZod.data, Report>(true);
	const transformed = await run({ ...task, schema: z.object({ at: z.string().transform((text) => new Date(text)) }) });
	if (transformed.ok) same<typeof transformed.data, { at: Date }>(true);
	const ofValibot = await run({
		...task,
		schema: toStandardJsonSchema(
			v.object({
				files: v.array(v.string()),
				lines: v.optional(v.pipe(v.number(), v.integer())),
				kind: v.picklist(["test", "source"]),
			}),
		),
	});
	if (ofValibot.ok) same<typeof ofValibot.data, Report>(true);
	const ofArktype = await run({
		...task,
		schema: type({ files: "string[]", "lines?": "number.integer", kind: "'test' | 'source'" }),
	});
	if (ofArktype.ok) same<typeof ofArktype.data, { files: string[]; lines?: number; kind: "test" | "source" }>(true);
	const ofTypeBox = await run({
		...task,
		schema: Type.Object({
			files: Type.Array(Type.String()),
			lines: Type.Optional(Type.Integer()),
			kind: Type.Union([Type.Literal("test"), Type.Literal("source")]),
		}),
	});
	if (ofTypeBox.ok) same<typeof ofTypeBox.data, { files: string[]; lines?: number; kind: "test" | "source" }>(true);
	const more = await run({
		...task,
		schema: Type.Object({
			kind: Type.Enum(["a", "b"]),
			sizes: Type.Record(Type.String(), Type.Number()),
			pair: Type.Tuple([Type.String(), Type.Null()]),
			both: Type.Intersect([Type.Object({ a: Type.Boolean() }), Type.Object({ b: Type.Boolean() })]),
			odd: Type.Unsafe<Date>({}),
			any: Type.Unknown(),
		}),
	});
	if (more.ok) {
		same<typeof more.data.kind, "a" | "b">(true);
		same<typeof more.data.sizes, { [name: string]: number }>(true);
		same<typeof more.data.pair, [string, null]>(true);
		same<typeof more.data.both, { a: boolean } & { b: boolean }>(true);
		same<typeof more.data.odd, Date>(true);
		same<typeof more.data.any, unknown>(true);
	}
}

export async function tasksWithSchemasOfTheirOwn(): Promise<void> {
	const [lines, day, plain] = await run.parallel([
		{ ...task, schema: z.object({ lines: z.number() }) },
		{ ...task, schema: type({ day: "string.date.parse" }), budget: { maxCost: 1 }, model: "a/b" },
		task,
	]);
	if (lines.ok) same<typeof lines.data, { lines: number }>(true);
	if (day.ok) same<typeof day.data, { day: Date }>(true);
	if (plain.ok) same<typeof plain.data, undefined>(true);
	const schema = Type.Array(Type.String());
	const alike = run.parallel(["a", "b"].map((file) => ({ ...task, task: file, schema })));
	for await (const { result } of alike) if (result.ok) same<typeof result.data, string[]>(true);
	for (const result of await alike) if (result.ok) same<typeof result.data, string[]>(true);
	const files = await run.parallel(["a", "b"].map((file) => ({ ...task, task: file })));
	for (const result of files) if (result.ok) same<typeof result.data, undefined>(true);
	// @ts-expect-error an unknown option
	run.parallel([task, { ...task, timeout: 5 }]);
	// @ts-expect-error a mistake in a level
	run.parallel([{ ...task, thinking: "much" }]);
}

export async function jsonSchemas(): Promise<void> {
	const result = await run({
		...task,
		schema: {
			type: "object",
			properties: {
				name: { type: ["string", "null"] },
				either: { anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] },
				pair: { type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }] },
				sizes: { type: "object", additionalProperties: { type: "number" } },
				list: { type: "array" },
				object: { type: "object" },
			},
			required: ["name", "either", "pair", "sizes", "list", "object"],
		},
	});
	if (!result.ok) return;
	same<typeof result.data.name, string | null>(true);
	same<typeof result.data.either, string | number[]>(true);
	same<typeof result.data.pair, [string, boolean]>(true);
	same<typeof result.data.sizes, { [name: string]: number }>(true);
	same<typeof result.data.list, unknown[]>(true);
	same<typeof result.data.object, { [name: string]: unknown }>(true);
}
