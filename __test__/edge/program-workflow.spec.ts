/** Runs with keys, and scripts of runs that survive the end of their process. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { inspect } from "node:util";

import { z } from "zod";

import { OptionsError, run, WorkflowError, type WorkflowOptions, type WorkflowUpdate, workflow } from "../../index.js";
import { openWorkflow, removeWorkflow, startRun, stopWorkflow, workflows } from "../../native.js";
import type { Scenario } from "./fault.ts";
import {
	errorOf,
	hanging,
	keyed,
	keyedScene,
	listed,
	notesOf,
	outputOf,
	requests,
	result,
	scriptOptions,
	task,
} from "./keyed-scene.ts";
import { killPlace } from "./kills.ts";
import { inTime, type Scene, single, textOf, until, warningsIn } from "./scene.ts";
import { playing, recordsOf } from "./stand-in.ts";
import { workflowKills } from "./workflow-kills.ts";

describe("a run with a key", () => {
	it("gives its stored result again, without a child and without cost", async (t) => {
		const scene = keyedScene(t);
		const first = await result(scene, "a");
		assert.equal(outputOf(first), "Answer 1");
		assert.equal(single(first).reused, undefined);
		const again = await result(scene, "a");
		assert.deepEqual([outputOf(again), single(again).reused, again.usage], ["Answer 1", true, undefined]);
		assert.equal(single(again).usage.cost, 0.3, "the usage of the stored run");
		assert.equal(requests(scene), 1);
		assert.equal(outputOf(await result(scene, "b")), "Answer 2", "another key has its own run");
		const elsewhere = scene.path("other");
		const other = await result(scene, "a", { workflow: { id: "w", key: "a", project: elsewhere } });
		assert.equal(outputOf(other), "Answer 3", "another project has its own workflow");
	});

	it("gives the whole answer again, above 64 KiB too", async (t) => {
		const scene = keyedScene(t);
		const script = () =>
			workflow("w", scriptOptions(scene), async (wf) => await wf.run({ key: "a", agent: "explorer", task: "long" }));
		const first = await script();
		assert.match(first.text, /^begin y{70000} end/);
		const again = await script();
		assert.deepEqual([again.text === first.text, again.reused, requests(scene)], [true, true, 1]);
		rmSync(first.details?.fullOutputFile ?? assert.fail("the answer has a file"));
		const third = await script();
		assert.deepEqual([third.text, third.reused, requests(scene)], [first.text, undefined, 2]);
		assert.match(third.details?.diagnostics?.join() ?? "", /files of its stored result were removed, so it ran again/);
	});

	it("joins a run of this process that has not ended", async (t) => {
		const scene = keyedScene(t);
		const first = startRun(keyed(scene, "a", { task: "hangs" }));
		await until(() => requests(scene) === 1, "the request");
		const joined = startRun(keyed(scene, "a", { task: "hangs" }));
		const other = await result(scene, "a", { task: "another task" });
		assert.match(textOf(other), /key `a` of workflow `w` has another agent or task in a call that has not ended/);
		assert.equal(other.details.error?.code, "INVALID_INPUT");
		scene.open();
		assert.deepEqual(await joined.result(), await first.result());
		assert.equal(outputOf(await first.result()), "Answer 1");
		assert.equal(requests(scene), 1);
	});

	it("waits for a run of another process, and says so", async (t) => {
		const scene = keyedScene(t);
		const program = await hanging(scene);
		const updates: string[] = [];
		const waiting = startRun(keyed(scene, "a", { task: "hangs" }), (update) => void updates.push(textOf(update)));
		await until(() => updates.length > 0, "an update");
		assert.match(updates[0] ?? "", /^\(waits for run \w{8} of another process, which has the key `a`/);
		scene.open();
		assert.equal(outputOf(await program.result()), "Answer 1");
		const ended = await inTime(waiting.result(), "the result");
		assert.deepEqual([outputOf(ended), single(ended).reused], ["Answer 1", true]);
		assert.equal(requests(scene), 1);
	});

	it("continues in its session when its process has died", async (t) => {
		const scene = keyedScene(t);
		const program = await hanging(scene);
		await program.kill();
		assert.deepEqual(
			(await listed(scene))?.runs.map(({ outcome }) => outcome),
			["interrupted"],
		);
		const ended = await result(scene, "a", { task: "hangs" });
		assert.equal(outputOf(ended), "Continued.");
		assert.match(notesOf(ended), /the process of this run had ended; the run continued in its session/);
		assert.equal(single(ended).task, "hangs");
		assert.match(scene.read("tasks"), /The process that you worked for ended before you had finished/);
		const again = await result(scene, "a", { task: "hangs" });
		assert.deepEqual([outputOf(again), single(again).reused], ["Continued.", true]);
		assert.equal(requests(scene), 1);
	});

	it("starts again when its process has died and its session is gone", async (t) => {
		const scene = keyedScene(t);
		const program = await hanging(scene);
		await program.kill();
		const [stored] = (await listed(scene))?.runs ?? [];
		rmSync(scene.path(`agent/subagents/runs/${stored?.runId}/session.jsonl`));
		scene.open();
		const ended = await result(scene, "a", { task: "hangs" });
		assert.equal(outputOf(ended), "Answer 2");
	});

	it("runs again after a failure and after an abort", async (t) => {
		const scene = keyedScene(t);
		assert.equal((await result(scene, "a", { task: "fails" })).isError, true);
		assert.equal((await result(scene, "a", { task: "fails" })).isError, true);
		assert.equal(requests(scene), 2);
		const aborted = startRun(keyed(scene, "b", { task: "hangs" }));
		await until(() => requests(scene) === 3, "the request");
		aborted.abort("enough");
		assert.equal(single(await inTime(aborted.result(), "the abort")).outcome, "aborted");
		scene.open();
		assert.equal(outputOf(await result(scene, "b", { task: "hangs" })), "Answer 4");
	});

	it("runs again with another task or agent, and says so", async (t) => {
		const scene = keyedScene(t);
		await result(scene, "a", { task: "one" });
		const changed = await result(scene, "a", { task: "two" });
		assert.equal(outputOf(changed), "Answer 2");
		assert.match(notesOf(changed), /key `a`: its task has changed since its last run, so it ran again/);
		const reused = await result(scene, "a", { task: "two" });
		assert.equal(single(reused).reused, true);
		assert.doesNotMatch(notesOf(reused), /ran again/);
		const moved = await result(scene, "a", { task: "two", childCwd: scene.path("agent") });
		assert.match(notesOf(moved), /key `a`: its working directory has changed since its last run/);
		const agents = (prompt: string) => ["---", "name: mine", "description: mine", "---", prompt].join("\n");
		await result(scene, "c", { agent: "mine", agents: [agents("One.")] });
		assert.equal(single(await result(scene, "c", { agent: "mine", agents: [agents("One.")] })).reused, true);
		assert.equal(single(await result(scene, "c", { agent: "mine", agents: [agents("Two.")] })).reused, undefined);
	});
});

/** A scene with the fake pi. */
function script(t: TestContext, scenario: Scenario): { scene: Scene; options: WorkflowOptions } {
	const scene = playing(t, scenario);
	return {
		scene,
		options: { ...scriptOptions(scene), config: { ...scene.options.config, retry: { enabled: false } } },
	};
}

const priced = [{ say: "You said: {task}", usage: { input: 10, output: 5, cost: 0.25 } }];

describe("workflow()", () => {
	it("resolves with the value of its script, and pays only for missing runs when it starts again", async (t) => {
		const scene = keyedScene(t);
		let breaks = true;
		const review = () =>
			workflow("review", scriptOptions(scene), async (wf) => {
				wf.phase("read");
				const texts = await wf.parallel([task("a"), task("b")]);
				wf.phase("merge");
				if (breaks) throw new Error("out of luck");
				const merged = await wf.run({ ...task("merge"), agent: { name: "merger", prompt: "Merge." } });
				return [...texts, merged].map(({ reused = false }) => reused);
			});
		assert.match(String(await errorOf(review())), /out of luck/);
		assert.equal(requests(scene), 2);
		const [failed] = await workflows(scene.options);
		assert.deepEqual(
			[failed?.id, failed?.state, failed?.error, failed?.starts],
			["review", "failed", "out of luck", 1],
		);
		breaks = false;
		assert.deepEqual(await inTime(review(), "the value"), [true, true, false]);
		assert.equal(requests(scene), 3);
		const [record] = await workflows(scene.options);
		assert.deepEqual([record?.state, record?.starts, record?.phases], ["completed", 2, ["read", "merge"]]);
		assert.deepEqual(record?.runs.map(({ key, phase, outcome }) => [key, phase, outcome]).toSorted(), [
			["a", "read", "completed"],
			["b", "read", "completed"],
			["merge", "merge", "completed"],
		]);
		assert.equal(Math.round((record?.cost ?? 0) * 100), 90, "three runs of 0.30 dollars");
		assert.equal(await removeWorkflow(scene.options, "review"), true);
		assert.deepEqual(await workflows(scene.options), []);
		await inTime(review(), "the value");
		assert.equal(requests(scene), 6, "a removed workflow has no results");
	});

	it("throws a failure with its key and all results so far", async (t) => {
		const scene = keyedScene(t);
		const failing = workflow("w", scriptOptions(scene), async (wf) => {
			await wf.run(task("good"));
			await wf.run(task("bad", "fails"));
		});
		const error = await errorOf(failing);
		assert.ok(error instanceof WorkflowError);
		assert.deepEqual([error.name, error.code, error.key], ["WorkflowError", "SUBAGENT_FAILED", "bad"]);
		const printed = inspect(error, { compact: false, depth: 10 });
		assert.doesNotMatch(printed, /results|failures|partial|usage/, "an uncaught error is short");
		assert.match(error.message, /^run "bad": .*401: no key/);
		assert.deepEqual(
			error.results.map(({ key, result }) => [key, result.ok]),
			[
				["good", true],
				["bad", false],
			],
		);
	});

	it("runs all tasks of a parallel before it throws, or gives failures as results", async (t) => {
		const scene = keyedScene(t);
		const tasks = [task("bad", "fails"), task("good"), task("worse", "fails too")];
		const options = scriptOptions(scene);
		const error = await errorOf(workflow("w", options, (wf) => wf.parallel(tasks, { concurrency: 1 })));
		assert.ok(error instanceof WorkflowError);
		assert.deepEqual(
			error.failures.map(({ key }) => key),
			["bad", "worse"],
		);
		assert.deepEqual(
			error.results.map(({ key }) => key),
			["bad", "good", "worse"],
		);
		assert.match(error.message, /\(and 1 more\)$/);
		const settled = await workflow("w", options, (wf) => wf.parallel(tasks, { settle: true }));
		assert.deepEqual(
			settled.map(({ ok, reused }) => [ok, reused]),
			[
				[false, undefined],
				[true, true],
				[false, undefined],
			],
		);
	});

	it("runs the tasks of a parallel as they were at the call", async (t) => {
		const scene = keyedScene(t);
		const results = await workflow("w", scriptOptions(scene), (wf) => {
			const tasks = [task("a"), task("b")];
			const all = wf.parallel(tasks, { concurrency: 1 });
			tasks.length = 0;
			return all;
		});
		assert.deepEqual(
			results.map(({ text }) => text),
			["Answer 1", "Answer 2"],
		);
	});

	it("names mistakes in its options before anything starts", async (t) => {
		const scene = keyedScene(t);
		const options = scriptOptions(scene);
		const wrong = async (path: string, expected: RegExp, call: () => unknown) => {
			const error = await errorOf(Promise.resolve().then(call));
			assert.ok(error instanceof OptionsError, String(error));
			assert.equal(error.path, path);
			assert.match(error.expected, expected);
		};
		await wrong("key", /write `workflow\(id, \{\}, \(wf\) => wf\.run\(\{ key, … \}\)\)`/, () =>
			run({ ...task("a") } as never),
		);
		await wrong("id", /a text that is not blank/, () => workflow(" ", options, () => 1));
		for (const id of ['a "b"', "a\u001b[31m", "workflow:a", "codemode a"]) {
			await wrong("id", /control characters that does not begin with `workflow:`/, () =>
				workflow(id, options, () => 1),
			);
		}
		await wrong("options.maxRuns", /a whole number from 1/, () => workflow("w", { ...options, maxRuns: 0 }, () => 1));
		await wrong("options.budgets", /no option of this name/, () => workflow("w", { budgets: 1 } as never, () => 1));
		await wrong("script", /a function/, () => workflow("w", options, undefined as never));
		const inside = (call: Parameters<typeof workflow<unknown>>[2]) => () => workflow("w", options, call);
		await wrong(
			"key",
			/at most 512/,
			inside((wf) => wf.run({ agent: "explorer", task: "x" } as never)),
		);
		await wrong(
			"tasks[1].model",
			/provider\/id/,
			inside((wf) => wf.parallel([task("a"), { ...task("b"), model: "x" }])),
		);
		await wrong(
			"options.settle",
			/true or false/,
			inside((wf) => wf.parallel([task("a")], { settle: 1 } as never)),
		);
		assert.equal(requests(scene), 0);
		await workflow("w", options, (wf) => {
			const unknown = { ...task("a"), timeout: 5 } as never;
			assert.throws(() => wf.run(unknown), OptionsError, "at once");
			assert.throws(() => wf.parallel([unknown]), OptionsError, "at once");
		});
	});

	it("holds one budget for all runs, also after a restart", async (t) => {
		const { scene, options } = script(t, priced);
		const spend = (maxCost: number) =>
			workflow("w", { ...options, budget: { maxCost } }, async (wf) => {
				for (const key of ["a", "b", "c"]) await wf.run(task(key));
			});
		for (const maxCost of [0.5, 0.5]) {
			const error = await errorOf(spend(maxCost));
			assert.ok(error instanceof WorkflowError);
			assert.deepEqual([error.code, error.key], ["SUBAGENT_OVER_BUDGET", "c"]);
			assert.match(error.message, /`budget.maxCost` of the workflow reached: /);
		}
		assert.equal(recordsOf(scene, "argv").length, 2);
		await inTime(spend(1), "the rest");
		assert.equal(recordsOf(scene, "argv").length, 3);
	});

	it("holds limits on tokens and on runs, of which reused results are none", async (t) => {
		const { scene, options } = script(t, priced);
		const spend = (change: WorkflowOptions) =>
			workflow("w", { ...options, ...change }, async (wf) => {
				for (const key of ["a", "b", "c"]) await wf.run(task(key));
			});
		await workflow("w", options, (wf) => wf.run(task("a")));
		const tokens = await errorOf(spend({ budget: { maxTokens: 10 } }));
		assert.ok(tokens instanceof WorkflowError);
		assert.deepEqual([tokens.code, tokens.key], ["SUBAGENT_OVER_BUDGET", "b"]);
		assert.match(tokens.message, /`budget.maxTokens` of the workflow reached: 15 of 10 tokens/);
		const runs = await errorOf(spend({ maxRuns: 1 }));
		assert.ok(runs instanceof WorkflowError);
		assert.deepEqual([runs.code, runs.key], ["SUBAGENT_OVER_BUDGET", "c"]);
		assert.match(runs.message, /the workflow has started 1 runs, its `maxRuns`/);
		assert.equal(recordsOf(scene, "argv").length, 2);
	});

	it("may contain workflows, down to a limit, which share its budget", async (t) => {
		const { options } = script(t, priced);
		const nest = (level: number): Promise<number> =>
			workflow(`level ${level}`, { ...options, ...(level === 1 && { budget: { maxCost: 0.5 } }) }, async (wf) => {
				await wf.run(task("a"));
				return level === 3 ? level : await nest(level + 1);
			});
		const error = await errorOf(nest(1));
		assert.ok(error instanceof WorkflowError);
		assert.deepEqual([error.code, error.key], ["SUBAGENT_OVER_BUDGET", "a"]);
		const deep = (level: number): Promise<unknown> => workflow(`deep ${level}`, options, () => deep(level + 1));
		const tooDeep = await errorOf(deep(1));
		assert.ok(tooDeep instanceof OptionsError);
		assert.match(tooDeep.message, /`maxDepth` is 3; expected at least 4/);
	});

	it("starts no further runs once a provider's quota is used up", async (t) => {
		const { scene, options } = script(t, [
			{ fail: "429 insufficient_quota: You exceeded your current quota" },
			"settle",
			{ exit: 0 },
		]);
		const quota = { headlessMaxWaitMs: 1 };
		const error = await errorOf(
			workflow("w", { ...options, config: { ...options.config, quota } }, (wf) =>
				wf.parallel([task("a"), task("b"), task("c")], { concurrency: 1 }),
			),
		);
		assert.ok(error instanceof WorkflowError, String(error));
		assert.equal(error.code, "SUBAGENT_QUOTA_EXHAUSTED");
		assert.deepEqual(
			error.failures.map(({ key }) => key),
			["a", "b", "c"],
		);
		assert.equal(recordsOf(scene, "argv").length, 1);
	});

	it("ends with its signal, and with the end of its script", async (t) => {
		const scene = keyedScene(t);
		const controller = new AbortController();
		const stopped = workflow("w", scriptOptions(scene, { signal: controller.signal }), (wf) =>
			wf.run(task("a", "hangs")),
		);
		await until(() => requests(scene) === 1, "the request");
		controller.abort(new Error("the user is gone"));
		const error = await errorOf(stopped);
		assert.ok(error instanceof WorkflowError);
		assert.deepEqual([error.code, error.message], ["SUBAGENT_ABORTED", 'run "a": aborted: the user is gone']);
		assert.equal((await listed(scene))?.state, "stopped");
		let forgotten: Promise<unknown> | undefined;
		const value = await workflow("w", scriptOptions(scene), async (wf) => {
			forgotten = wf.run(task("b", "hangs")).catch((error: unknown) => error);
			await until(() => requests(scene) === 2, "the request");
			return "early";
		});
		assert.equal(value, "early");
		assert.match(String(await forgotten), /aborted: its workflow has ended/);
	});

	it("is stopped by another caller", async (t) => {
		const scene = keyedScene(t);
		const stopped = workflow("w", scriptOptions(scene), (wf) => wf.run(task("a", "hangs")));
		const settled = errorOf(stopped);
		await until(() => requests(scene) === 1, "the request");
		assert.equal(await stopWorkflow(scene.options, "w"), true);
		assert.match(String(await settled), /run "a"/);
		assert.equal((await listed(scene))?.state, "stopped");
		assert.equal(await stopWorkflow(scene.options, "w"), false);
	});

	/** Runs a script that starts a failing run and calls `end` once an update has counted the failure. */
	const withFailure = (scene: Scene, end: (failing: Promise<unknown>) => unknown) => {
		const { promise: counted, resolve } = Promise.withResolvers<void>();
		const onUpdate = ({ counts }: WorkflowUpdate) => void (counts.failed === 1 && resolve());
		return workflow("w", scriptOptions(scene, { onUpdate }), async (wf) => {
			const failing = wf.run(task("a", "fails"));
			await inTime(counted, "the failure");
			return await end(failing);
		});
	};

	it("hands a failure to a script that awaits the run later", async (t) => {
		const scene = keyedScene(t);
		const warnings = warningsIn(t);
		const value = await withFailure(scene, (failing) => failing.catch(String));
		assert.match(String(value), /run "a": .*401: no key/);
		assert.deepEqual(warnings, []);
	});

	it("warns of a failed run that its script has not awaited", async (t) => {
		const scene = keyedScene(t);
		const warnings = warningsIn(t);
		assert.equal(await withFailure(scene, () => "early"), "early");
		await new Promise((resolve) => setImmediate(resolve));
		assert.equal(warnings.length, 1);
		assert.match(warnings[0] ?? "", /^workflow "w" has not awaited a failed run: run "a": .*401: no key/);
	});

	it("says that a refused value is stored, and how its key runs again", async (t) => {
		const { scene, options } = script(t, [{ submit: { count: 1 } }]);
		const schema = z.object({ count: z.number().refine((count) => count > 1, "too few") });
		for (const words of ["Count.", "Count.", "Count again."]) {
			const error = await errorOf(
				workflow("w", options, (wf) => wf.run({ key: "a", agent: "explorer", task: words, schema })),
			);
			assert.ok(error instanceof WorkflowError, String(error));
			assert.equal(error.code, "RESULT_INVALID");
			assert.match(
				error.message,
				/count: too few\. The value is stored: .* until its task changes, .* `\/subagents discard --yes workflow:w`/,
			);
		}
		assert.equal(recordsOf(scene, "argv").length, 2, "the changed task");
	});

	it("runs once at a time", async (t) => {
		const scene = keyedScene(t);
		const open = await openWorkflow({ ...scene.options, id: "w" });
		const refused = await errorOf(workflow("w", scriptOptions(scene), () => 1));
		assert.match(String(refused), /workflow `w` already runs in this process/);
		await open.finish("completed");
		assert.equal(await workflow("w", scriptOptions(scene), () => 1), 1);
	});

	it("shows phases, counts, cost and the newest words", async (t) => {
		const { options } = script(t, priced);
		const updates: WorkflowUpdate[] = [];
		const show = () =>
			workflow("w", { ...options, onUpdate: (update) => void updates.push(update) }, async (wf) => {
				wf.phase("one");
				await wf.run(task("a"));
				wf.phase("two");
				await wf.parallel([task("b"), task("c")]);
			});
		await show();
		const last = updates.at(-1);
		assert.deepEqual(
			last?.phases.map(({ name, counts }) => [name, counts.completed]),
			[
				["one", 1],
				["two", 2],
			],
		);
		assert.deepEqual([last?.counts.completed, last?.counts.running, last?.cost, last?.tokens], [3, 0, 0.75, 45]);
		assert.match(last?.text ?? "", /You said: .*look at [bc]/s);
		await show();
		assert.deepEqual([updates.at(-1)?.counts.reused, updates.at(-1)?.cost], [3, 0]);
	});

	it("shows the whole message of the run that has spoken last", async (t) => {
		const words = ["One ", "two ", "three ", "four ", "five "];
		const { options } = script(t, [...words.flatMap((stream) => [{ stream }, { sleep: 60 }]), { say: "six." }]);
		const texts: string[] = [];
		await workflow("w", { ...options, onUpdate: ({ text }) => void texts.push(text) }, async (wf) => {
			await wf.parallel(["a", "b", "c"].map((key) => task(key)));
		});
		assert.deepEqual(
			texts.filter((text) => text !== "" && !text.startsWith("One")),
			[],
		);
		assert.equal(texts.at(-1), `${words.join("")}six.`);
	});

	for (const [kind, onUpdate] of Object.entries({
		throws: () => {
			throw new Error("no screen");
		},
		rejects: async () => {
			throw new Error("no screen");
		},
	})) {
		it(`warns once and continues if \`onUpdate\` ${kind}`, async (t) => {
			const { options } = script(t, priced);
			const warnings = warningsIn(t);
			await workflow("w", { ...options, onUpdate }, async (wf) => {
				await wf.run(task("a"));
				await wf.run(task("b"));
			});
			await new Promise((resolve) => setImmediate(resolve));
			assert.deepEqual(warnings, ['onUpdate of workflow "w" has failed: Error: no screen']);
		});
	}
});

describe("a script whose program is killed", () => {
	it("pays for no completed run again, loses no result, and runs to its end", async (t) => {
		const times = Number(process.env.WORKFLOW_KILLS ?? 30);
		const seed = Number(process.env.WORKFLOW_KILLS_SEED ?? 1);
		const figures = await workflowKills({ times, seed, ...killPlace(t) });
		t.diagnostic(JSON.stringify(figures));
		assert.equal(figures.kills, times);
	});
});
