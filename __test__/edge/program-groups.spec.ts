/** Several runs of a program: side by side, or one after the other. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import { type RunOptions, run } from "../../index.js";
import { survivors } from "../support/survivors.ts";
import type { Scenario } from "./fault.ts";
import { inTime, type Scene } from "./scene.ts";
import { playing, recordsOf, untilRecorded } from "./stand-in.ts";

function stage(t: TestContext, scenario: Scenario): { scene: Scene; task: (text: string) => RunOptions } {
	const scene = playing(t, scenario);
	const { cwd, agentDir, env, piCommand, config } = scene.options;
	return { scene, task: (text) => ({ agent: "explorer", task: text, cwd, agentDir, env, piCommand, config }) };
}

/** A child whose behavior is given in its task. */
const obedient = [
	{ when: "fail", do: [{ fail: "401: no key" }, "settle", { exit: 0 }] },
	{ when: "hang", do: [{ stream: "so far" }, "hang"] },
	{ when: "gate", do: [{ await: "{env.HERE}/go" }] },
	{ say: "You said: {task}", usage: { input: 10, output: 5, cost: 0.25 } },
];

describe("parallel runs", () => {
	it("are more than a model may start, and their results are in the order of the tasks", async (t) => {
		const { task } = stage(t, obedient);
		const texts = Array.from({ length: 12 }, (_, index) => `number ${index}`);
		const results = await inTime(Promise.resolve(run.parallel(texts.map(task), { concurrency: 4 })), "the results");
		assert.deepEqual(
			results.map(({ text }) => text),
			texts.map((text) => `You said: ${text}`),
		);
	});

	it("are iterated as they end, and a failure is one of them", async (t) => {
		const { scene, task } = stage(t, obedient);
		const group = run.parallel([task("gate"), task("fail"), task("go")]);
		const order: [number, boolean][] = [];
		for await (const { index, result } of group) {
			order.push([index, result.ok]);
			if (order.length === 2) scene.open();
		}
		assert.deepEqual(order.slice(0, 2).sort(), [
			[1, false],
			[2, true],
		]);
		assert.deepEqual(order[2], [0, true]);
		assert.equal((await group).length, 3);
	});

	it("never run more at once than their concurrency", async (t) => {
		const { scene, task } = stage(t, obedient);
		const group = run.parallel([task("gate 1"), task("gate 2"), task("gate 3")], { concurrency: 2 });
		await untilRecorded(scene, "task", 2);
		assert.equal(recordsOf(scene, "task").length, 2);
		scene.open();
		await inTime(Promise.resolve(group), "the results");
		assert.equal(recordsOf(scene, "task").length, 3);
	});

	it("boot the child of the next task while it waits", async (t) => {
		const { scene, task } = stage(t, obedient);
		const group = run.parallel([task("gate 1"), task("gate 2"), task("gate 3")], { concurrency: 1 });
		await untilRecorded(scene, "task", 1);
		await untilRecorded(scene, "argv", 2);
		assert.equal(recordsOf(scene, "task").length, 1, "the second child has no task");
		scene.open();
		const results = await inTime(Promise.resolve(group), "the results");
		assert.deepEqual(
			results.map(({ ok }) => ok),
			[true, true, true],
		);
		assert.equal(recordsOf(scene, "argv").length, 3, "each child served one task");
	});

	it("share a budget", async (t) => {
		const { task } = stage(t, obedient);
		const tasks = ["a", "b", "c", "d"].map(task);
		const results = await inTime(
			Promise.resolve(run.parallel(tasks, { concurrency: 1, budget: { maxCost: 0.5 } })),
			"the results",
		);
		const codes = results.map((result) => (result.ok ? "ok" : result.error.code));
		assert.deepEqual(codes.slice(0, 2), ["ok", "ok"]);
		assert.deepEqual(codes.slice(2), ["SUBAGENT_OVER_BUDGET", "SUBAGENT_OVER_BUDGET"]);
		assert.match(results[2]?.error?.message ?? "", /`budget.maxCost` of the group reached: /);
	});

	it("do not change when their program changes its list", async (t) => {
		const { task } = stage(t, obedient);
		const tasks = [task("a"), task("b"), task("c")];
		const group = run.parallel(tasks, { concurrency: 1 });
		for (const options of tasks) options.task = "another";
		tasks.length = 0;
		const results = await inTime(Promise.resolve(group), "the results");
		assert.deepEqual(
			results.map(({ text }) => text),
			["You said: a", "You said: b", "You said: c"],
		);
	});

	it("end together when their signal fires, and start no further ones", async (t) => {
		const { scene, task } = stage(t, obedient);
		const controller = new AbortController();
		const group = run.parallel([task("hang"), task("later")], { concurrency: 1, signal: controller.signal });
		await untilRecorded(scene, "task", 1);
		controller.abort(new Error("enough"));
		const results = await inTime(Promise.resolve(group), "the results");
		assert.deepEqual(
			results.map((result) => result.error?.code),
			["SUBAGENT_ABORTED", "SUBAGENT_ABORTED"],
		);
		assert.match(results[1]?.error?.message ?? "", /enough/);
		assert.equal(recordsOf(scene, "task").length, 1);
	});
});

it("a group that its program ends without a reason says who has ended it", async (t) => {
	const { scene, task } = stage(t, obedient);
	const group = run.parallel([task("hang"), task("later")], { concurrency: 1 });
	await untilRecorded(scene, "task", 1);
	group.abort();
	const results = await inTime(Promise.resolve(group), "the results");
	// The second run waits in the queue, and may be about to.
	for (const { error } of results) assert.match(error?.message ?? "", /^(not started: )?aborted by the program$/);
});

describe("a chain", () => {
	it("makes each step from the result before", async (t) => {
		const { task } = stage(t, obedient);
		const results = await run.chain([task("first"), (before) => task(`then ${before.text}`)]);
		assert.deepEqual(
			results.map(({ text }) => text),
			["You said: first", "You said: then You said: first"],
		);
	});

	it("waits for a step that an async function makes", async (t) => {
		const { task } = stage(t, obedient);
		const results = await run.chain([task("first"), async (before) => task(`then ${before.text}`)]);
		assert.equal(results.at(-1)?.text, "You said: then You said: first");
	});

	it("boots the child of a known step while the step before works", async (t) => {
		const { scene, task } = stage(t, [
			{ when: "first", do: [{ stream: "I begin." }, { await: "{env.HERE}/go" }, { say: "Found." }] },
			...obedient,
		]);
		const group = run.chain([
			task("first"),
			{ ...task("second"), thinking: "high" },
			() => task("third"),
			task("fail"),
		]);
		// The second child may start before the first one reads its task.
		await untilRecorded(scene, "task", 1);
		await untilRecorded(scene, "argv", 2);
		assert.deepEqual(recordsOf(scene, "task"), ["first"], "the second child waits");
		scene.open();
		const results = await inTime(Promise.resolve(group), "the results");
		assert.deepEqual(
			results.map(({ ok }) => ok),
			[true, true, true, false],
		);
		assert.equal(recordsOf(scene, "argv").length, 4, "no step has started a second child");
	});

	it("ends the child of a step that does not run", async (t) => {
		const { scene, task } = stage(t, [
			{ when: "first", do: [{ stream: "I begin." }, { await: "{env.HERE}/go" }, { exit: 1 }] },
			...obedient,
		]);
		const group = run.chain([task("first"), task("second")]);
		await untilRecorded(scene, "argv", 2);
		scene.open();
		const results = await inTime(Promise.resolve(group), "the results");
		assert.deepEqual(
			results.map(({ ok }) => ok),
			[false],
		);
		assert.deepEqual([recordsOf(scene, "task"), survivors(scene.mark)], [["first"], []]);
	});

	it("ends with the first step that fails", async (t) => {
		const { scene, task } = stage(t, obedient);
		const results = await run.chain([task("first"), task("fail"), task("never")]);
		assert.deepEqual(
			results.map(({ ok }) => ok),
			[true, false],
		);
		assert.deepEqual(recordsOf(scene, "task"), ["first", "fail"]);
	});

	it("keeps its steps when its program changes the list", async (t) => {
		const { task } = stage(t, obedient);
		const steps: [RunOptions, RunOptions] = [task("first"), task("second")];
		const group = run.chain(steps);
		(steps as RunOptions[]).length = 1;
		const results = await inTime(Promise.resolve(group), "the results");
		assert.deepEqual(
			results.map(({ text }) => text),
			["You said: first", "You said: second"],
		);
	});

	for (const way of ["abort", "signal"]) {
		it(`ends at a step whose function does not settle, by ${way}`, async (t) => {
			const { scene, task } = stage(t, obedient);
			const controller = new AbortController();
			const { promise: called, resolve } = Promise.withResolvers<AbortSignal>();
			const step = (_: unknown, { signal }: { signal: AbortSignal }) => {
				resolve(signal);
				return new Promise<never>(() => {});
			};
			const group = run.chain([task("first"), step, task("never")], { signal: controller.signal });
			const signal = await inTime(called, "the call");
			assert.equal(signal.aborted, false);
			const reason = new Error("enough");
			if (way === "abort") group.abort(reason);
			else controller.abort(reason);
			const results = await inTime(Promise.resolve(group), "the results");
			assert.deepEqual(
				results.map(({ outcome, error }) => [outcome, error?.code, error?.message]),
				[
					["completed", undefined, undefined],
					["aborted", "SUBAGENT_ABORTED", "not started: aborted: enough"],
				],
			);
			assert.match(String(signal.reason), /enough/);
			assert.deepEqual(recordsOf(scene, "task"), ["first"]);
		});
	}

	it("fails at a step whose function throws or makes wrong options", async (t) => {
		const { task } = stage(t, obedient);
		const wrong = { agent: "explorer", tsak: "x" } as unknown as RunOptions;
		for (const step of [
			() => wrong,
			async () => wrong,
			() => {
				throw new Error("`tsak` is not there");
			},
		]) {
			const results = await run.chain([task("first"), step]);
			assert.equal(results.length, 2);
			assert.equal(results[1]?.error?.code, "INVALID_INPUT");
			assert.match(results[1]?.error?.message ?? "", /tsak/);
			assert.match(String(results[1]?.error?.cause), /Error: .*tsak/);
		}
	});
});
