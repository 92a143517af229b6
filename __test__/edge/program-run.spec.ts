/** One run, as a program starts, follows and ends it. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import {
	defineAgent,
	OptionsError,
	type Result,
	type RunOptions,
	run,
	type StandardSchema,
	type Task,
	type Update,
} from "../../index.js";
import type { Scenario } from "./fault.ts";
import { inTime, type Scene, warningsIn } from "./scene.ts";
import { gate, playing, recordsOf } from "./stand-in.ts";

/** A scene, and the options of a run in it. */
function stage(t: TestContext, scenario: Scenario): { scene: Scene; options: RunOptions } {
	const scene = playing(t, scenario);
	const { cwd, agentDir, env, piCommand, config } = scene.options;
	return { scene, options: { agent: "explorer", task: "look around", cwd, agentDir, env, piCommand, config } };
}

/** A child that submits a value as its result. */
const submitting = (value: unknown): Scenario => [{ submit: value }];

const ended = <T>(task: Task<T>): Promise<Result<T>> => inTime(Promise.resolve(task), "the result");

describe("a run", () => {
	it("is awaited for its result", async (t) => {
		const { options } = stage(t, [{ say: "In src/config.", usage: { input: 10, output: 5, cost: 0.25 } }]);
		const result = await ended(run(options));
		assert.ok(result.ok);
		assert.deepEqual([result.text, result.data, result.outcome], ["In src/config.", undefined, "completed"]);
		assert.equal(result.usage.cost, 0.25);
		assert.equal(result.details?.agent, "explorer");
	});

	it("tells a failure as a code, a sentence and the words so far", async (t) => {
		const { options } = stage(t, [{ stream: "So far" }, { fail: "401: no key" }, "settle", { exit: 0 }]);
		const result = await ended(run(options));
		assert.ok(!result.ok);
		assert.equal(result.error.code, "SUBAGENT_FAILED");
		assert.match(result.error.message, /401: no key/);
		assert.equal(result.partial, "So far");
	});

	it("tells an unknown agent without starting a child", async (t) => {
		const { scene, options } = stage(t, [{ say: "never" }]);
		const result = await ended(run({ ...options, agent: "explorerr" }));
		assert.ok(!result.ok);
		assert.equal(result.error.code, "UNKNOWN_AGENT");
		assert.match(result.error.message, /explorer/);
		assert.deepEqual(recordsOf(scene, "task"), []);
	});

	it("names the callback that may allow an agent of the project", async (t) => {
		const { scene, options } = stage(t, [{ say: "never" }]);
		scene.write("project/.pi/agents/local.md", "---\nname: local\ndescription: local\n---\nLook.");
		for (const [onConfirm, message] of [
			[
				undefined,
				/^agent `local` is defined by the project \(`.*`\), and no one was asked to allow it: pass `onConfirm`$/,
			],
			[() => false, /^agent `local` is defined by the project \(`.*`\) and `onConfirm` has not allowed it$/],
		] as const) {
			const result = await ended(run({ ...options, agent: "local", ...(onConfirm && { onConfirm }) }));
			assert.match(result.error?.message ?? "", message);
		}
		assert.deepEqual(recordsOf(scene, "task"), []);
	});

	it("shows the error of a callback that answers its questions as a process warning", async (t) => {
		const { scene, options } = stage(t, [{ ask: "confirm", title: "Sure?" }, { say: "You said: {answer}" }]);
		scene.write("project/.pi/agents/local.md", "---\nname: local\ndescription: local\n---\nLook.");
		const warnings = warningsIn(t);
		const fail = () => {
			throw new Error("no screen");
		};
		assert.ok((await ended(run({ ...options, onQuestion: fail }))).ok);
		assert.ok((await ended(run({ ...options, onQuestion: async () => fail() }))).ok);
		const refused = await ended(run({ ...options, agent: "local", onConfirm: fail }));
		assert.equal(refused.error?.code, "SUBAGENT_DISABLED");
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(warnings, [
			...Array(2).fill("onQuestion has failed, and the question of explorer is cancelled: Error: no screen"),
			"onConfirm has failed, and the run is refused: Error: no screen",
		]);
	});

	it("is ended by its program without a reason, and says so", async (t) => {
		const { options } = stage(t, [{ stream: "So far" }, "hang"]);
		const task = run(options);
		for await (const update of task) if (update.type === "text") task.abort();
		assert.equal((await ended(task)).error?.message, "aborted by the program");
	});

	it("is iterated for its texts, its tools and its end", async (t) => {
		const { scene, options } = stage(t, [
			{ stream: "Let me" },
			gate("one"),
			{ stream: " see." },
			gate("two"),
			{ call: "read", args: { path: "a.ts" } },
			{ say: "It is there." },
		]);
		const task = run(options);
		const updates: Update[] = [];
		const all = (async () => {
			for await (const update of task) {
				updates.push(update);
				if (update.type === "text" && update.text.endsWith("me")) scene.open("one");
				if (update.type === "text" && update.text.endsWith("see.")) scene.open("two");
			}
		})();
		const result = await ended(task);
		await inTime(all, "the end of the updates");
		const texts = updates.filter((update) => update.type === "text");
		assert.deepEqual(
			texts.slice(0, 2).map(({ text, message }) => [text, message]),
			[
				["Let me", 1],
				[" see.", 1],
			],
		);
		assert.deepEqual(
			updates.filter((update) => update.type === "tool").map(({ name, args }) => [name, args.path]),
			[["read", "a.ts"]],
		);
		const last = updates.at(-1);
		assert.ok(last?.type === "done");
		assert.equal(last.result, result);
		assert.equal(last.state, "ended");
	});

	for (const [about, scenario] of Object.entries({
		"of a message that a tool call follows at once": [
			{ stream: "I look at the first file." },
			{ call: "read", args: { path: "a.ts" } },
			{ say: "I have it." },
		],
		"of many messages with failed and repeated calls": [
			{ stream: "One." },
			{ call: "read", args: { path: "a.ts" }, isError: true },
			{ stream: "Two." },
			{ call: "read", args: { path: "a.ts" } },
			{ call: "read", args: { path: "a.ts" } },
			{ stream: "Two." },
			{ call: "grep", args: { pattern: "x" } },
			{ say: "Two." },
		],
		"of a long message": [
			{ stream: `begin ${"long ".repeat(2_000)} end.` },
			{ call: "read", args: { path: "a.ts" }, takesMs: 200 },
			{ say: "I have it." },
		],
	} satisfies Record<string, Scenario>)) {
		it(`has all words in their order with the tools: ${about}`, async (t) => {
			const { options } = stage(t, scenario);
			const task = run(options);
			let told = "";
			for await (const update of task) {
				if (update.type === "text") told += update.text;
				if (update.type === "tool") told += `[${update.name}]`;
			}
			const words = scenario.map((step) => {
				if ("stream" in step) return step.stream;
				return "say" in step ? step.say : `[${step.call}]`;
			});
			assert.deepEqual([told.length, told.slice(-200)], [words.join("").length, words.join("").slice(-200)]);
			assert.ok(told === words.join(""));
			assert.ok((await ended(task)).ok);
		});
	}

	it("joins what a slow reader has missed", async (t) => {
		const { scene, options } = stage(t, [
			{ stream: "one " },
			gate("go"),
			{ stream: "two" },
			gate("end"),
			{ say: "done" },
		]);
		const task = run(options);
		const slow = task[Symbol.asyncIterator]();
		for await (const update of task) {
			if (update.type !== "text") continue;
			if (update.text.startsWith("one")) scene.open("go");
			if (update.text.endsWith("two")) break;
		}
		const seen: Update[] = [];
		for (let next = await slow.next(); ; next = await slow.next()) {
			if (next.done || next.value.type === "text") {
				if (next.value) seen.push(next.value);
				break;
			}
			seen.push(next.value);
		}
		const states = seen.filter(({ type }) => type === "state");
		assert.equal(states.length, 1, "only the newest state");
		assert.equal(seen.at(-1)?.text, "one two");
		scene.open("end");
		assert.ok((await ended(task)).ok);
	});

	it("ends when its signal fires, with the reason", async (t) => {
		const { scene, options } = stage(t, [{ stream: "So far" }, "hang"]);
		const controller = new AbortController();
		const task = run({ ...options, signal: controller.signal });
		for await (const update of task) {
			if (update.type === "text") controller.abort(new Error("the user has left"));
		}
		const result = await ended(task);
		assert.ok(!result.ok);
		assert.deepEqual([result.outcome, result.error.code, result.partial], ["aborted", "SUBAGENT_ABORTED", "So far"]);
		assert.match(result.error.message, /the user has left/);
		assert.equal(recordsOf(scene, "task").length, 1);
	});

	it("does not start if its signal has fired before", async (t) => {
		const { scene, options } = stage(t, [{ say: "never" }]);
		const result = await ended(run({ ...options, signal: AbortSignal.abort(new Error("too late")) }));
		assert.ok(!result.ok);
		assert.equal(result.error.code, "SUBAGENT_ABORTED");
		assert.match(result.error.message, /too late/);
		assert.deepEqual(recordsOf(scene, "task"), []);
	});

	it("ends with its block", async (t) => {
		const { options } = stage(t, [{ stream: "So far" }, "hang"]);
		let task: Task;
		{
			await using held = run(options);
			task = held;
			for await (const update of held) if (update.type === "text") break;
		}
		const result = await ended(task);
		assert.equal(result.outcome, "aborted");
	});

	it("ends with its block without a wait, if the block does not await", async (t) => {
		const { options } = stage(t, ["hang"]);
		let task: Task;
		{
			using held = run(options);
			task = held;
		}
		const result = await ended(task);
		assert.equal(result.error?.message, "aborted: its block has ended");
	});

	it("ends with any reason that its program gives", async (t) => {
		const { options } = stage(t, ["hang"]);
		for (const [reason, words] of [
			[new Error("not needed"), "not needed"],
			["too late", "too late"],
			[5, "5"],
		] as const) {
			const task = run(options);
			task.abort(reason);
			assert.equal((await ended(task)).error?.message, `aborted: ${words}`);
			const group = run.parallel([options]);
			group.abort(reason);
			const [result] = await inTime(Promise.resolve(group), "the results");
			assert.match(result?.error?.message ?? "", new RegExp(`aborted.*: ${words}`));
		}
	});

	it("refuses a message that is blank or no text", async (t) => {
		const { options } = stage(t, ["hang"]);
		await using task = run(options);
		for (const message of ["", " ", 5]) {
			assert.throws(
				() => task.steer(message as string),
				(error) => error instanceof OptionsError && error.path === "message",
			);
		}
	});

	it("takes messages while it works", async (t) => {
		const { options } = stage(t, [
			{ steered: [{ say: "You said: {steer}" }] },
			{ repeat: [{ call: "read", takesMs: 100 }], times: 300 },
		]);
		const task = run(options);
		for await (const update of task) if (update.type === "tool") break;
		assert.equal(task.steer("Look in docs, too."), true);
		const result = await ended(task);
		assert.match(result.text ?? "", /You said: .*Look in docs, too\./);
	});

	it("keeps to its own budget and time limit", async (t) => {
		const turn = { call: "read", args: { path: "a.ts" }, usage: { input: 1, output: 1, cost: 0.5 } };
		const { options } = stage(t, [turn, turn, "hang"]);
		const costly = await ended(run({ ...options, budget: { maxCost: 0.6 } }));
		assert.ok(!costly.ok);
		assert.deepEqual([costly.outcome, costly.error.code], ["budget", "SUBAGENT_OVER_BUDGET"]);
	});

	it("runs an agent that the program defines", async (t) => {
		const { scene, options } = stage(t, [{ say: "ok" }]);
		const scout = defineAgent({ name: "scout", prompt: "You are a scout.", tools: ["read", "grep"], readonly: true });
		const result = await ended(run({ ...options, agent: scout }));
		assert.ok(result.ok, JSON.stringify(result));
		assert.equal(result.details?.agent, "scout");
		const [args] = recordsOf(scene, "argv") as string[][];
		assert.ok(args?.join(" ").includes("read,grep"), String(args));
	});

	it("has the code of a failure to start, and of an exceeded limit", async (t) => {
		const { options } = stage(t, ["hang"]);
		const lost = await ended(run({ ...options, cwd: "/nowhere" }));
		assert.deepEqual([lost.outcome, lost.error?.code], ["failed", "SUBAGENT_FAILED"]);
		const limits = { memoryBytes: 1_000_000 };
		const large = await ended(run({ ...options, config: { ...options.config, limits } }));
		assert.deepEqual([large.outcome, large.error?.code], ["killed", "SUBAGENT_FAILED"]);
	});

	it("takes an environment like that of its process", async (t) => {
		const { options } = stage(t, [{ say: "You are {env.WHO}." }]);
		const result = await ended(
			run({ ...options, env: { ...process.env, ...options.env, WHO: "x", NO_ONE: undefined } }),
		);
		assert.equal(result.text, "You are x.");
	});

	it("says in its result that the agent could not write", async (t) => {
		const { options } = stage(t, [{ say: "Fixed." }]);
		const writer = defineAgent({ name: "writer", prompt: "Write.", tools: ["read", "edit"] });
		const result = await ended(run({ ...options, agent: writer, task: "Fix the typo." }));
		assert.deepEqual([result.ok, result.caveats], [true, ["write_off"]]);
		const plain = await ended(run(options));
		assert.deepEqual([plain.ok, "caveats" in plain], [true, false]);
	});

	it("has data of its schema's shape", async (t) => {
		const { options } = stage(t, submitting({ files: ["a.ts"] }));
		const schema = {
			type: "object",
			properties: { files: { type: "array", items: { type: "string" } }, note: { type: "string" } },
			required: ["files"],
		} as const;
		const result = await ended(run({ ...options, schema }));
		assert.ok(result.ok, JSON.stringify(result));
		const files: string[] = result.data.files;
		assert.deepEqual(files, ["a.ts"]);
	});

	it("has data that is no object", async (t) => {
		const { options } = stage(t, submitting(["a.ts"]));
		const schema = { type: "array", items: { type: "string" } } as const;
		const result = await ended(run({ ...options, schema }));
		assert.deepEqual(result.data, ["a.ts"], JSON.stringify(result.error));
	});

	it("has data of any size that its child may submit", async (t) => {
		const value = { files: Array.from({ length: 45_000 }, (_, at) => `src/some/where/file-${at}.ts`) };
		const { options } = stage(t, submitting(value));
		const schema = { type: "object", properties: { files: { type: "array", items: { type: "string" } } } };
		const result = await ended(run({ ...options, schema }));
		assert.deepEqual(result.data, value, JSON.stringify(result.error));
	});

	it("has the data that a schema's library makes of the submitted value, or its mistakes", async (t) => {
		const { options } = stage(t, submitting({ files: ["a.ts"] }));
		const library = (validate: (value: { files: string[] }) => unknown): StandardSchema<string[]> => {
			const jsonSchema = { input: () => ({ type: "object", properties: { files: { type: "array" } } }) };
			const standard = { version: 1, vendor: "test", validate, jsonSchema };
			return { "~standard": standard as StandardSchema<string[]>["~standard"] };
		};
		const made = await ended(run({ ...options, schema: library(({ files }) => ({ value: files })) }));
		assert.ok(made.ok, JSON.stringify(made));
		const files: string[] = made.data;
		assert.deepEqual(files, ["a.ts"]);
		const issues = [{ message: "too few", path: ["files", { key: 1 }] }];
		const refused = await ended(run({ ...options, schema: library(() => ({ issues })) }));
		assert.ok(!refused.ok);
		assert.deepEqual(refused.error, { code: "RESULT_INVALID", message: "files.1: too few" });
		const throwing = library(() => {
			throw new Error("no such day");
		});
		const thrown = await ended(run({ ...options, schema: throwing }));
		assert.deepEqual(thrown.error, { code: "RESULT_INVALID", message: "no such day" });
	});
});
