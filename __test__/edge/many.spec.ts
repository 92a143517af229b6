/** Many runs at once, without an effect on the JavaScript thread. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";

import { answers, inTime, Scene, shape, single, textOf, until } from "./scene.ts";

/** The longest gap between two turns of the event loop, looked at from within it. */
function watchGaps(): () => number {
	let [longest, last] = [0, performance.now()];
	const timer = setInterval(() => {
		longest = Math.max(longest, performance.now() - last);
		last = performance.now();
	}, 5);
	return () => {
		clearInterval(timer);
		return longest;
	};
}

describe("32 runs at once", () => {
	it("all complete, each with its own answer, id and session", async (t) => {
		const scene = new Scene(
			t,
			'begin; echo >> $here/up; gate go; said "$(cat $here/task >/dev/null; echo run $PI_SUBAGENT_RUN_ID)"; settled',
			{ config: { maxConcurrent: 32, maxConcurrentPerUser: 32 } },
		);
		const handles = Array.from({ length: 32 }, () => scene.start());
		await until(() => existsSync(scene.path("up")) && scene.read("up").length === 32, "32 children");
		scene.open();
		const results = await inTime(Promise.all(handles.map((handle) => handle.result())), "all results");
		for (const [index, result] of results.entries()) {
			assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
			assert.equal(textOf(result), `run ${handles[index]?.runId}`);
		}
		assert.equal(new Set(handles.map((handle) => handle.runId)).size, 32);
		assert.equal(new Set(results.map((result) => single(result).sessionFile)).size, 32);
	});

	it("fail, time out and are aborted independently", async (t) => {
		const scene = new Scene(t, "");
		const kinds = {
			answers: { script: answers, outcome: "completed" },
			fails: { script: "begin; exit 3", outcome: "failed" },
			hangs: { script: "begin; hang", outcome: "idle_timeout" },
			aborted: { script: "begin; hang", outcome: "aborted" },
		};
		const runs = Array.from({ length: 8 }, () => Object.entries(kinds)).flat();
		const commands = new Map(
			Object.entries(kinds).map(([name, { script }]) => [name, scene.pi(`${name}.sh`, `cat > /dev/null; ${script}`)]),
		);
		const outcomes = runs.map(async ([name]) => {
			const piCommand = commands.get(name) ?? [];
			const config = { idleTimeoutMs: name === "hangs" ? 1500 : 0, graceMs: 200 };
			const handle = scene.start({ piCommand, config }, () => name === "aborted" && handle.abort());
			return single(await handle.result()).outcome;
		});
		assert.deepEqual(
			await inTime(Promise.all(outcomes), "all results"),
			runs.map(([, { outcome }]) => outcome),
		);
	});
});

describe("the JavaScript thread", () => {
	it("stays responsive while children flood their pipes", async (t) => {
		const scene = new Scene(t, `begin; head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; said 'Done.'; settled`);
		const [gaps, began, cpu] = [watchGaps(), performance.now(), process.threadCpuUsage()];
		const runs = await Promise.all([scene.run(), scene.run(), scene.run(), scene.run()]);
		const [longest, took] = [gaps(), performance.now() - began];
		const { user, system } = process.threadCpuUsage(cpu);
		for (const result of runs) assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		// Other load on this machine changes neither.
		assert.ok(
			(user + system) / 1_000 < 400,
			`the host used ${(user + system) / 1_000} ms of processor time for 400 MB`,
		);
		assert.ok(longest < took / 2, `the thread was blocked for ${longest} of ${took} ms`);
	});

	it("starts a run at once, and gets mistakes from its result", async (t) => {
		const scene = new Scene(t, answers);
		const started: number[] = [];
		const results = Array.from({ length: 20 }, async () => {
			const began = performance.now();
			const handle = scene.start();
			started.push(performance.now() - began);
			await handle.result();
			return performance.now() - began;
		});
		const ended = await inTime(Promise.all(results), "all results");
		const [start, run] = [median(started), median(ended)];
		assert.ok(start < run / 5, `${start} of ${run} ms`);
	});
});

function median(numbers: readonly number[]): number {
	return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
