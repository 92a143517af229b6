/** Keys and scripts of runs while something goes wrong around them: other processes, the store, limits, and follow-ups. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { openSession, WorkflowError, workflow } from "../../index.js";
import { startRun, stopWorkflow } from "../../native.js";
import { patienceMs } from "../support/eventually.ts";
import {
	errorOf,
	hanging,
	keyed,
	keyedScene,
	listed,
	notesOf,
	otherScript,
	outputOf,
	requests,
	result,
	scriptOptions,
	task,
} from "./keyed-scene.ts";
import { inTime, type Scene, single, until } from "./scene.ts";
import { playing } from "./stand-in.ts";

/** Node 20 has no SQLite. */
const noSqlite = (await import("node:sqlite").catch(() => undefined)) ? false : "this Node has no SQLite";

/** Executes SQL on the store in another process. Returns a function that executes the other SQL and waits for its end. */
async function inStore(scene: Scene, first: string, last: string): Promise<() => Promise<void>> {
	const host = fileURLToPath(new URL("hosts/store.mjs", import.meta.url));
	const args = [host, scene.path("agent/subagents/runs.db"), first, last, String(patienceMs)];
	const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
	const exited = once(child, "exit");
	await inTime(once(child.stdout, "data"), "the first statement");
	return async () => {
		child.stdin.end();
		assert.deepEqual(await inTime(exited, "the last statement"), [0, null]);
	};
}

/** Lets no process write to the store until the returned function is called. */
const lockStore = (scene: Scene) => inStore(scene, "BEGIN IMMEDIATE", "ROLLBACK");

/** Makes every use of the runs with keys fail until the returned function is called. */
const breakKeys = (scene: Scene) =>
	inStore(scene, "ALTER TABLE workflow_run RENAME TO broken", "ALTER TABLE broken RENAME TO workflow_run");

describe("a script of runs", () => {
	it("is stopped by another process, and counts as stopped", async (t) => {
		const scene = keyedScene(t);
		const program = otherScript(scene, "hangs");
		await until(() => requests(scene) === 1, "the request");
		assert.equal(await stopWorkflow(scene.options, "w"), true);
		await program.ended();
		assert.match(program.lines.at(-1)?.error ?? "", /run "a": aborted: the workflow was stopped/);
		assert.equal((await listed(scene))?.state, "stopped");
	});

	it("is stopped by another process that finds its host dead", async (t) => {
		const scene = keyedScene(t);
		const program = otherScript(scene, "hangs");
		await until(() => requests(scene) === 1, "the request");
		await program.kill();
		assert.equal((await listed(scene))?.state, "interrupted");
		assert.equal(await stopWorkflow(scene.options, "w"), true);
		assert.equal((await listed(scene))?.state, "stopped");
	});

	it("ends active runs once they have used too many tokens", async (t) => {
		const scene = keyedScene(t);
		const options = scriptOptions(scene, { budget: { maxTokens: 18 } });
		const error = await errorOf(workflow("w", options, (wf) => wf.run(task("a", "spends"))));
		assert.ok(error instanceof WorkflowError, String(error));
		assert.equal(error.code, "SUBAGENT_OVER_BUDGET");
		assert.match(error.message, /`budget.maxTokens` of the workflow reached: 18 of 18 tokens/);
		assert.equal(scene.exists("go"), false, "the child has not ended by itself");
	});

	it("counts the tokens of each run once, also while runs end at the same time", async (t) => {
		const scene = playing(t, [{ say: "You said: {task}", usage: { input: 10, output: 5, cost: 0.25 } }]);
		const runs = Array.from({ length: 16 }, (_, index) => task(`run ${index}`));
		const { config } = scene.options;
		const options = { ...scriptOptions(scene), config, budget: { maxTokens: 15 * runs.length } };
		const results = await inTime(
			workflow("w", options, (wf) => wf.parallel(runs, { concurrency: 4 })),
			"the results",
		);
		assert.equal(results.length, runs.length);
		assert.equal((await listed(scene))?.tokens, 15 * runs.length);
	});

	it("counts money that a child has spent before its program was killed, once", async (t) => {
		const scene = keyedScene(t);
		const program = otherScript(scene, "spends");
		// The program may be killed as soon as the turn is stored.
		await until(async () => ((await listed(scene))?.cost ?? 0) >= 0.3, "the cost of the turn");
		await program.kill();
		const options = scriptOptions(scene, { budget: { maxCost: 0.6 } });
		const continued = await workflow("w", options, (wf) => wf.run(task("a", "spends")));
		assert.equal(continued.text, "Continued.");
		assert.equal(Math.round(((await listed(scene))?.cost ?? 0) * 100), 60, "two turns of 0.30 dollars");
		const error = await errorOf(workflow("w", options, (wf) => wf.run(task("b"))));
		assert.ok(error instanceof WorkflowError);
		assert.equal(error.code, "SUBAGENT_OVER_BUDGET");
	});

	it("keeps its limit of runs and says that a result is not kept while the store fails", {
		skip: noSqlite,
	}, async (t) => {
		const scene = keyedScene(t);
		const options = scriptOptions(scene, { maxRuns: 1 });
		const error = await errorOf(
			workflow("w", options, async (wf) => {
				const repair = await breakKeys(scene);
				try {
					const first = await wf.run(task("a"));
					assert.equal(first.text, "Answer 1");
					assert.match(first.details?.diagnostics?.join() ?? "", /the result is not kept for the workflow: /);
					await wf.run(task("b"));
				} finally {
					await repair();
				}
			}),
		);
		assert.ok(error instanceof WorkflowError, String(error));
		assert.deepEqual([error.code, error.key], ["SUBAGENT_OVER_BUDGET", "b"]);
		assert.match(error.message, /the workflow has started 1 runs, its `maxRuns`/);
		const again = await workflow("w", options, (wf) => wf.run(task("a")));
		assert.deepEqual([again.text, again.reused], ["Answer 2", undefined]);
	});
});

describe("a run with a key", () => {
	it("says that its result is not kept if its end cannot be stored", { skip: noSqlite }, async (t) => {
		const scene = keyedScene(t);
		const run = startRun(keyed(scene, "a", { task: "hangs" }));
		await until(() => requests(scene) === 1, "the request");
		const release = await lockStore(scene);
		scene.open();
		const ended = await inTime(run.result(), "the result");
		await release();
		assert.equal(outputOf(ended), "Answer 1");
		assert.match(notesOf(ended), /the result is not kept for the workflow: the store of runs could not be written/);
	});

	it("ends when it is aborted while the end of a killed run cannot be stored", { skip: noSqlite }, async (t) => {
		const scene = keyedScene(t);
		const program = await hanging(scene);
		await program.kill();
		const release = await lockStore(scene);
		const waiting = startRun(keyed(scene, "a", { task: "hangs" }));
		waiting.abort("enough");
		const aborted = await inTime(waiting.result(), "the abort");
		assert.equal(single(aborted).outcome, "aborted");
		const patient = startRun(keyed(scene, "a", { task: "hangs" }));
		await release();
		assert.equal(outputOf(await inTime(patient.result(), "the result")), "Continued.");
		assert.equal(requests(scene), 1);
	});

	it("keeps its result when a message continues its run", async (t) => {
		const scene = keyedScene(t);
		await using session = openSession({ ...scriptOptions(scene), id: "s" });
		const first = await result(scene, "a", { sessionId: "s" });
		await session.send(single(first).runId ?? "", "And then?");
		await session.settled();
		const [run] = await session.list();
		assert.equal(run?.result, "Continued.");
		const again = await result(scene, "a", { sessionId: "s" });
		assert.deepEqual([outputOf(again), single(again).reused], ["Answer 1", true]);
	});

	it("gets no result from a message to its failed or aborted run", async (t) => {
		const scene = keyedScene(t);
		await using session = openSession({ ...scriptOptions(scene), id: "s" });
		const failed = await result(scene, "a", { sessionId: "s", task: "fails" });
		const run = startRun(keyed(scene, "b", { sessionId: "s", task: "hangs" }));
		await until(() => requests(scene) === 2, "the request");
		run.abort("enough");
		const aborted = await inTime(run.result(), "the abort");
		for (const ended of [failed, aborted]) {
			await session.send(single(ended).runId ?? "", "Say anything.");
			await session.settled();
		}
		const answers = (await session.list()).map(({ result }) => result);
		assert.deepEqual(answers, ["Continued.", "Continued."]);
		scene.open();
		const again = await result(scene, "b", { sessionId: "s", task: "hangs" });
		assert.deepEqual([outputOf(again), single(again).reused], ["Answer 3", undefined]);
		assert.equal((await result(scene, "a", { sessionId: "s", task: "fails" })).isError, true);
	});

	it("counts its own cost for its workflow, and not the cost of its session", async (t) => {
		const scene = keyedScene(t);
		await inTime(startRun({ ...scene.options, sessionId: "s" }).result(), "a run");
		await result(scene, "a", { sessionId: "s" });
		assert.equal(Math.round(((await listed(scene))?.cost ?? 0) * 100), 30);
	});
});
