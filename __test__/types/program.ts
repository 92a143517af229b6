/** The types that programs use, and the examples of `index.d.ts`. Checked by `tsc` only; nothing here is ever run. */

import { spawn } from "node:child_process";

import {
	collect,
	type DataOf,
	defineAgent,
	openSession,
	type Result,
	run,
	type StandardSchema,
	sanitize,
	type Task,
	truncate,
	type Update,
	type WorkflowError,
	workflow,
} from "../../index.js";

const task = { agent: "explorer", task: "Look around." };

export async function results(): Promise<void> {
	const plain = run(task);
	const result = await plain;
	if (result.ok) void [result.text satisfies string, result.data satisfies undefined];
	else void [result.error.code satisfies string, result.partial satisfies string];
	for await (const update of plain) void describe(update);
	const schema = {
		type: "object",
		properties: {
			files: { type: "array", items: { type: "string" } },
			kind: { enum: ["a", "b"] },
			size: { type: "integer" },
		},
		required: ["files", "kind"],
	} as const;
	const shaped = await run({ ...task, schema });
	if (shaped.ok) {
		const { files, kind, size } = shaped.data;
		void [files satisfies string[], kind satisfies "a" | "b", size satisfies number | undefined];
	}
	const library = {} as StandardSchema<{ line: number }>;
	const ofLibrary = await run({ ...task, schema: library });
	const tasks: Task[] = [plain, run({ ...task, schema: library })];
	const all: Result[] = [result, shaped, ofLibrary];
	for await (const update of run({ ...task, schema: library, env: process.env })) void describe(update);
	void [tasks, all];
	void (ofLibrary.data satisfies { line: number } | undefined);
	void ({} as DataOf<{ static: Date }> satisfies Date);
	{
		using held = run(task);
		using group = run.parallel([task]);
		held.abort(new Error("not needed"));
		group.abort();
	}
	// @ts-expect-error an unknown option
	run({ ...task, timeout: 5 });
	// @ts-expect-error a mistake in a level
	run({ ...task, thinking: "much" });
}

export async function groups(isLong: boolean): Promise<void> {
	const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] } as const;
	const many: { agent: string; task: string }[] = [];
	const [counted, plain] = await run.parallel([{ ...task, schema }, task]);
	void [counted.data?.count satisfies number | undefined, plain.data satisfies undefined];
	const spread = await run.parallel([
		...many,
		{ ...task, schema, onQuestion: ({ method }) => (method === "confirm" ? { confirmed: true } : undefined) },
	]);
	void (spread.map(({ data }) => data?.count) satisfies (number | undefined)[]);
	await run.parallel([...(isLong ? many : []), { agent: "explorer", task: "Look." }, ...many]);
	await workflow("spread", {}, async (wf) => {
		const keyed = many.map((options, index) => ({ ...options, key: String(index) }));
		const results = await wf.parallel([...keyed, { ...task, key: "last", schema }]);
		void (results.map(({ data }) => data?.count) satisfies (number | undefined)[]);
	});
	// @ts-expect-error an unknown option
	await run.parallel([...many, { ...task, timeout: 5 }]);
	// @ts-expect-error an unknown option in each task
	await run.parallel(many.map((options) => ({ ...options, timeout: 5 })));
	// @ts-expect-error a task without a task
	await run.parallel(many.map(({ agent }) => ({ agent })));
	const rows: unknown[] = [];
	openSession({ id: "a", onMessage: (message) => rows.push(message) });
	openSession({ id: "b", onMessage: async ({ results }) => rows.push(...results) });
}

export async function chains(): Promise<void> {
	const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] } as const;
	const chained = await run.chain([
		{ ...task, schema },
		({ data }) => ({
			...task,
			task: `${data.count satisfies number}`,
			schema: { type: "array", items: { type: "string" } },
		}),
		({ data }) => ({ ...task, task: (data satisfies string[]).join() }),
	]);
	const waited = await run.chain([
		{ ...task, schema },
		async ({ data }) => ({ ...task, task: `${data.count satisfies number}`, schema }),
		async ({ data }) => ({ ...task, task: `${data.count satisfies number}` }),
	]);
	void [waited[1]?.data?.count satisfies number | undefined, waited[2]?.data satisfies undefined];
	const [first, second, third] = chained;
	if (first.ok) void (first.data satisfies { count: number });
	void [second?.data satisfies string[] | undefined, third?.data satisfies undefined];
	void (chained.map(({ text }) => text) satisfies (string | undefined)[]);
	// @ts-expect-error the step before has no such data
	await run.chain([{ ...task, schema }, ({ data }) => ({ ...task, task: data.size })]);
	// @ts-expect-error an unknown option
	await run.chain([task, { ...task, timeout: 5 }]);
	const long = await run.chain([task, ...["a", "b", "c", "d", "e"].map((words) => ({ ...task, task: words }))]);
	void (long.at(-1)?.ok satisfies boolean | undefined);
}

export async function scripts(): Promise<void> {
	const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] } as const;
	const value = await workflow("typed", {}, async (wf) => {
		const { data } = await wf.run({ ...task, key: "a", schema });
		const [first] = await wf.parallel([{ ...task, key: "b" }]);
		const [settled] = await wf.parallel([{ ...task, key: "c" }], { settle: true });
		void [first.text satisfies string, settled.error?.code satisfies string | undefined];
		const names = { type: "array", items: { type: "string" } } as const;
		const [counted, named, plain] = await wf.parallel([
			{ ...task, key: "d", schema },
			{ ...task, key: "e", schema: names },
			{ ...task, key: "f" },
		]);
		void [counted.data.count satisfies number, named.data satisfies string[], plain.data satisfies undefined];
		const maybe = await wf.parallel(
			[
				{ ...task, key: "g", schema },
				{ ...task, key: "h", schema: names },
			],
			{ settle: true },
		);
		void [maybe[0].data?.count satisfies number | undefined, maybe[1].data satisfies string[] | undefined];
		const many = await wf.parallel(["i", "j"].map((key) => ({ ...task, key, schema })));
		void (many.map((result) => result.data.count) satisfies number[]);
		// @ts-expect-error an unknown option
		await wf.parallel([{ ...task, key: "k", timeout: 5 }]);
		// @ts-expect-error a task in a workflow has a key
		await wf.parallel([task]);
		// @ts-expect-error a run in a workflow has a key
		await wf.run(task);
		return data.count;
	});
	void (value satisfies number);
	void ({} as WorkflowError).results.map(({ key, result }) => [key, result.ok]);
}

function describe(update: Update): string {
	switch (update.type) {
		case "text":
			return update.text;
		case "tool":
			return update.name;
		case "done":
			return update.result.outcome;
		default:
			return update.state;
	}
}

/** The examples of `index.d.ts`, word for word except their imports. */
export const examples = {
	async defineAgent(): Promise<void> {
		const scout = defineAgent({
			name: "scout",
			prompt: "Answer in one line.",
			tools: ["read", "grep"],
			readonly: true,
		});
		const result = await run({ agent: scout, task: "Which file is the largest?" });
		console.log(result.usage.cost);
	},
	async openSession(): Promise<void> {
		await using session = openSession({
			id: "my-conversation",
			onMessage: ({ results }) => {
				for (const { runId, ok, text } of results) console.log(runId, ok, text);
			},
		});
		const { runId } = await session.spawn({ agent: "explorer", task: "Where is the config loaded?" });
		await session.settled();
		await session.send(runId, "And where is it checked?");
		await session.settled();
	},
	async sanitize(): Promise<void> {
		console.log(await sanitize("token: correct-horse", { secrets: ["correct-horse"] }));
	},
	async truncate(): Promise<void> {
		const { text, truncated } = await truncate("word ".repeat(5_000), { maxBytes: 1024, keep: "tail" });
		console.log(truncated, text);
	},
	async workflow(): Promise<void> {
		const summary = await workflow("review", { budget: { maxCost: 2 } }, async (wf) => {
			wf.phase("read");
			const files = ["src/a.ts", "src/b.ts"];
			const reviews = await wf.parallel(
				files.map((file) => ({ key: `review:${file}`, agent: "reviewer", task: `Review ${file}.` })),
			);
			wf.phase("merge");
			const texts = reviews.map(({ text }) => text).join("\n\n");
			const merged = await wf.run({ key: "merge", agent: "reviewer", task: `Merge these findings:\n\n${texts}` });
			return merged.text;
		});
		console.log(summary);
	},
	async collect(): Promise<void> {
		const pi = spawn("pi", ["--mode", "json", "-p", "What is this?"], { stdio: ["ignore", "pipe", "inherit"] });
		const { output, usage } = await collect(pi.stdout);
		console.log(output, usage.cost);
	},
};
