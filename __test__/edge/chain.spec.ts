/** Several steps in sequence, each with the result of the one before. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { describe, it } from "node:test";

import type { TaskProgress, ToolResult } from "../../native.js";
import { inTime, type Scene, textOf } from "./scene.ts";
import {
	type Around,
	outcomesOf,
	playing,
	records,
	recordsOf,
	type Several,
	startSeveral,
	untilRecorded,
} from "./stand-in.ts";

/** A child whose behavior is given in its task. */
const obedient = [
	{ when: "^fail", do: [{ fail: "401: no key" }, "settle", { exit: 0 }] },
	{ when: "^crash", do: [{ stream: "so far" }, { exit: 7 }] },
	{ when: "^hang", do: [{ stream: "so far" }, "hang"] },
	{ when: "^long", do: [{ say: `first ${"0123456789 ".repeat(90_000)}last` }, "settle", { exit: 0 }] },
	{ when: "^cut", do: [{ say: "Half of it", stop: "length" }, "settle", { exit: 0 }] },
	{ when: "^braces", do: [{ say: "{task} and {env.BRACES}" }, "settle", { exit: 0 }] },
	{ say: "<{task}>", usage: { input: 10, output: 5, cost: 0.25 } },
];

/** The words of the step before, as the next one gets them. */
const fenced = (words: string, fence = "```") => `${fence}text\n${words}\n${fence}`;

async function run(scene: Scene, several: Several, ...around: Around): Promise<ToolResult> {
	return await inTime(startSeveral("chain", scene, several, ...around).result(), "the result");
}

describe("the steps of a chain", () => {
	it("get the previous answer and the first task, and the last answer is the result", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["find", "a {previous} b {previous}", "c {previous} d {task}"]);
		const found = `a \n${fenced("<find>")}\n b \n${fenced("<find>")}`;
		const last = `c \n${fenced(`<${found}>`, "````")}\n d find`;
		assert.deepEqual(recordsOf(scene, "task"), ["find", found, last]);
		assert.deepEqual([result.details.mode, result.isError ?? false, result.details.error], ["chain", false, undefined]);
		// Sessions keep the details next to those of other tools and releases.
		assert.deepEqual([result.details.kind, result.details.version], ["subagent-run", 1]);
		assert.deepEqual(outcomesOf(result), ["completed", "completed", "completed"]);
		assert.equal(textOf(result), `<${last}>`);
		assert.deepEqual(
			result.details.results.map(({ task }) => task),
			recordsOf(scene, "task"),
		);
		assert.deepEqual([result.usage?.input, result.usage?.cost.total], [30, 0.75]);
		assert.ok(result.details.results.every(({ sessionFile }) => existsSync(sessionFile ?? "")));
	});

	it("begin only after the end of the previous step", async (t) => {
		const scene = playing(t, obedient);
		await run(scene, ["one", "two", "three"]);
		// The child of the next step may have booted; it has no task yet.
		const order = records(scene).flatMap((entry) => ("task" in entry ? ["start"] : "ended" in entry ? ["end"] : []));
		assert.deepEqual(order, ["start", "end", "start", "end", "start", "end"]);
	});

	it("may contain other braces", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, [
			"say {{previous}} and {{task}}",
			"{{previous}} {{task}} {other} {} { previous } {previous}",
		]);
		assert.deepEqual(outcomesOf(result), ["completed", "completed"]);
		assert.deepEqual(recordsOf(scene, "task"), [
			"say {previous} and {task}",
			`{previous} {task} {other} {} { previous } \n${fenced("<say {previous} and {task}>")}`,
		]);
	});

	it("get the first task unchanged", async (t) => {
		const scene = playing(t, obedient);
		await run(scene, ["say {{previous}}", "again: {task}"]);
		assert.deepEqual(recordsOf(scene, "task"), ["say {previous}", "again: say {previous}"]);
	});

	it("do not replace placeholders in an answer", async (t) => {
		const scene = playing(t, obedient);
		Object.assign(scene.options.env ?? {}, { BRACES: "{previous} {{task}} {task}" });
		await run(scene, ["braces", "it says {previous}"]);
		assert.deepEqual(recordsOf(scene, "task")[1], `it says \n${fenced("braces and {previous} {{task}} {task}")}`);
	});

	it("may begin with a text that looks like a command", async (t) => {
		const scene = playing(t, [{ when: "/quit", do: [{ say: "Done." }], else: [{ say: "/quit" }] }]);
		const result = await run(scene, ["one", "{previous}"]);
		assert.deepEqual([textOf(result), recordsOf(scene, "task")], ["Done.", ["one", fenced("/quit")]]);
	});

	it("get the beginning and the end of a long answer", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["long", "It says:\n{previous}"]);
		assert.deepEqual(outcomesOf(result), ["completed", "completed"]);
		const [, task = ""] = recordsOf(scene, "task") as string[];
		assert.ok(task.startsWith("It says:\n```text\nfirst 0") && task.endsWith("789 last\n```"));
		assert.match(/\[[^\]]+\]/.exec(task)?.[0] ?? "", /of 990010 bytes/, "the marker states the size of the answer");
		assert.ok(task.length > 40_000 && task.length < 70_000, `${task.length} characters`);
		assert.ok(JSON.stringify(result).length < 256 * 1024);
	});

	it("may each have their own directory", async (t) => {
		const scene = playing(t, [{ say: "{pid}" }]);
		mkdirSync(scene.path("other"));
		const { details } = await run(scene, ["here", { cwd: "../other", task: "there" }]);
		// Both children boot at once, in any order.
		const children = details.results.map(({ output }) => records(scene).find(({ pid }) => `${pid}` === output));
		assert.deepEqual(
			children.map((child) => child?.cwd),
			[scene.project, scene.path("other")],
		);
	});

	it("continue after an answer that was cut", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["cut", "next: {previous}"]);
		assert.deepEqual(
			[outcomesOf(result), recordsOf(scene, "task")[1]],
			[["completed", "completed"], `next: \n${fenced("Half of it")}`],
		);
	});

	it("leave all room to the last answer", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["one", "long"]);
		const bytes = Buffer.byteLength(textOf(result));
		assert.ok(bytes > 45_000 && bytes <= 51_200, `${bytes} bytes`);
		assert.deepEqual([result.isError ?? false, result.details.error?.code], [false, "SUBAGENT_OUTPUT_TRUNCATED"]);
	});
});

describe("a chain stops", () => {
	it("at the first failure, names the step, and keeps the earlier answers", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["one", "crash", "three", "four"]);
		assert.equal(result.isError, true);
		assert.deepEqual(outcomesOf(result), ["completed", "failed", "skipped", "skipped"]);
		assert.deepEqual(
			result.details.results.map(({ attempts, exitCode }) => [attempts, exitCode]),
			[
				[1, 0],
				[1, 7],
				[0, 1],
				[0, 1],
			],
		);
		assert.equal(result.details.results[3]?.error, "not started: step 2 failed");
		assert.deepEqual(result.details.error, { code: "SUBAGENT_FAILED", message: "the child gave no reason" });
		assert.match(
			textOf(result),
			/^Stopped at step 2 of 4\n\n\[2\/4\] explorer ✗ SUBAGENT_FAILED · `crash`\n\n````text\nexplorer failed with exit code 7\n\n.*so far\n```\n\n.*````\n\nThe step before it:\n\n\[1\/4\] explorer ✓ · `one`\n\n```text\n<one>\n```$/s,
		);
		assert.deepEqual(recordsOf(scene, "task"), ["one", "crash"]);
		assert.equal(result.usage?.cost.total, 0.25);
	});

	it("at the first step", async (t) => {
		const result = await run(playing(t, obedient), ["fail", "two"]);
		assert.deepEqual(outcomesOf(result), ["failed", "skipped"]);
		assert.match(textOf(result), /^Stopped at step 1 of 2\n\n\[1\/2\] explorer ✗ SUBAGENT_FAILED · `fail`\n\n/);
		assert.ok(!textOf(result).includes("The step before"));
	});

	it("with a text in which both steps have the room of a single answer", async (t) => {
		const result = await run(playing(t, obedient), ["long", `fail ${"x".repeat(40_000)}`]);
		const bytes = Buffer.byteLength(textOf(result));
		assert.ok(bytes > 51_200 && bytes <= 2 * 51_200 + 1_000, `${bytes} bytes`);
	});

	it("with an abort, and aborts the rest", async (t) => {
		const scene = playing(t, obedient, { config: { graceMs: 300 } });
		const handle = startSeveral("chain", scene, ["one", "hang", "three"]);
		await untilRecorded(scene, "task", 2);
		handle.abort("enough");
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(outcomesOf(result), ["completed", "aborted", "aborted"]);
		assert.deepEqual(
			result.details.results.map(({ error }) => error),
			[undefined, "cancelled by user: enough", "not started: cancelled by user: enough"],
		);
		assert.match(
			textOf(result),
			/^Stopped at step 2 of 3\n\n.*The step before it:\n\n\[1\/3\] explorer ✓ · `one`\n\n```text\n<one>\n```$/s,
		);
		assert.equal(recordsOf(scene, "task").length, 2);
	});

	it("with the session's budget", async (t) => {
		const scene = playing(t, obedient, { config: { sessionBudget: { maxCost: 0.5 } }, sessionId: "chain" });
		const result = await run(scene, ["one", "two", "three", "four"]);
		assert.deepEqual(outcomesOf(result), ["completed", "completed", "budget", "skipped"]);
		assert.match(
			textOf(result),
			/^Stopped at step 3 of 4\n.*not started: `sessionBudget\.maxCost` reached: \$0\.5000 of \$0\.5000/s,
		);
	});

	it("before the first step if the caller has aborted", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["one", "two"], { aborted: true });
		assert.deepEqual([result.isError, outcomesOf(result), records(scene)], [true, ["aborted", "aborted"], []]);
	});
});

describe("a chain that is refused", () => {
	const rows: Record<string, [several: Several, config: object, code: string, message: RegExp]> = {
		"an agent that does not exist": [
			["one", "two", { agent: "nobody", task: "three" }],
			{},
			"UNKNOWN_AGENT",
			/^step 3: Unknown agent `nobody`\. Available agents: explorer, /,
		],
		"no steps": [[], {}, "INVALID_INPUT", /^`steps` has 0 entries; expected 1 to 8 \(`subagents\.maxChainSteps`\)$/],
		"too many steps": [Array(9).fill("x"), {}, "INVALID_INPUT", /^`steps` has 9 entries; expected 1 to 8 /],
		"more than the configuration allows": [["a", "b"], { maxChainSteps: 1 }, "INVALID_INPUT", /expected 1 to 1/],
		"a step that is blank": [["one", ""], {}, "INVALID_INPUT", /^step 2: `task` must not be blank/],
		"a first step that looks back": [
			["see {previous}", "two"],
			{},
			"INVALID_INPUT",
			/^step 1 cannot use `\{previous\}`.*`\{\{previous\}\}`/,
		],
		"a first step that speaks of itself": [["see {task}"], {}, "INVALID_INPUT", /^step 1 cannot use `\{task\}`/],
		"a directory that is missing": [["one", { cwd: "missing" }], {}, "INVALID_INPUT", /^step 2: .*\/project\/missing/],
	};
	for (const [label, [several, config, code, message]] of Object.entries(rows)) {
		it(`names the mistake and starts nothing: ${label}`, async (t) => {
			const scene = playing(t, obedient, { config: { ...config } });
			const result = await run(scene, several);
			assert.deepEqual([result.isError, result.details.mode, result.details.results], [true, "chain", []]);
			assert.equal(result.details.error?.code, code);
			assert.match(textOf(result), message);
			assert.deepEqual([records(scene), existsSync(scene.path("agent/subagents/runs"))], [[], false]);
		});
	}
});

describe("updates of a chain", () => {
	it("show all steps, including the waiting ones", async (t) => {
		const scene = playing(t, obedient);
		const updates: TaskProgress[][] = [];
		const result = await run(scene, ["one", { agent: "tester", task: "crash" }, "three"], {}, ({ details }) => {
			updates.push(details.tasks ?? []);
			assert.deepEqual([details.mode, details.results], ["chain", []]);
		});
		assert.ok(updates.every((tasks) => tasks.length === 3));
		const states = (index: number) =>
			updates.map((tasks) => tasks[index]?.state).filter((state, at, all) => state !== all[at - 1]);
		// A state that is over within two updates is not shown.
		assert.ok(states(0).at(-1) === "completed" && !states(0).includes("waiting", 1), String(states(0)));
		assert.ok(states(1)[0] === "waiting" && states(1).at(-1) === "failed", String(states(1)));
		assert.deepEqual([states(2).at(0), states(2).at(-1)], ["waiting", "skipped"]);
		assert.equal(updates.at(-1)?.[2]?.error, "not started: step 2 failed");
		assert.equal(result.isError, true);
	});
});
