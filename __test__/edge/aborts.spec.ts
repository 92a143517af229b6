/** Ending a run from outside: at once, with its partial text, and never as a success. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";

import type { ToolResult } from "../../native.js";
import { hangs, inTime, isAlive, Scene, shape, single, textOf, until } from "./scene.ts";

const aborted = ["SUBAGENT_FAILED", 130, "aborted", true];

/** Resolves when an update shows this text. */
function shows(text: string): [Promise<void>, (update: ToolResult) => void] {
	const { promise, resolve } = Promise.withResolvers<void>();
	return [promise, (update) => textOf(update).includes(text) && resolve()];
}

describe("an abort", () => {
	it("starts no child if the caller's signal had fired before the start", async (t) => {
		const scene = new Scene(t, hangs);
		const updates: ToolResult[] = [];
		const result = await scene.run({ aborted: true }, (update) => updates.push(update));
		assert.deepEqual(shape(result), aborted);
		assert.match(single(result).error ?? "", /cancelled by user/);
		assert.deepEqual([single(result).attempts, updates.length], [0, 0]);
		assert.ok(!scene.wasStarted && !existsSync(scene.path("agent/subagents")));
	});

	it("right after the start leaves nothing running", async (t) => {
		const scene = new Scene(t, hangs, { config: { graceMs: 100 } });
		for (let round = 0; round < 10; round++) {
			const handle = scene.start();
			handle.abort("changed my mind");
			const result = await inTime(handle.result(), "the result");
			assert.deepEqual(shape(result), aborted);
			assert.match(textOf(result), /cancelled by user: changed my mind/);
		}
	});

	it("during the run keeps the partial text, the session and the reason", async (t) => {
		const scene = new Scene(t, hangs);
		const [shown, onUpdate] = shows("so far");
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "an update");
		handle.abort("no longer needed");
		handle.abort("a later reason");
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(shape(result), aborted);
		assert.equal(single(result).error, "cancelled by user: no longer needed");
		assert.equal(single(result).output, "so far");
		assert.match(
			textOf(result),
			/^explorer failed with exit code 130\n\nerror: cancelled by user.*\n\npartial output:\n```text\nso far\n```\n\nsession: /,
		);
		assert.ok(existsSync(single(result).sessionFile ?? ""));
		assert.deepEqual(scene.remainingFiles(), ["session.jsonl"]);
	});

	it("works from within an update", async (t) => {
		const scene = new Scene(t, hangs);
		const handle = scene.start({}, () => handle.abort());
		assert.deepEqual(shape(await inTime(handle.result(), "the result")), aborted);
	});

	it("ends a child that ignores SIGTERM, and its processes", async (t) => {
		const script = `trap '' TERM; sleep 60 & echo $! > $here/pid; begin; delta 'so far'; while :; do sleep 1; done`;
		const scene = new Scene(t, script, { config: { graceMs: 200 } });
		const [shown, onUpdate] = shows("so far");
		const handle = scene.start({}, onUpdate);
		const grandchild = await scene.childPid();
		await inTime(shown, "an update");
		const started = performance.now();
		handle.abort();
		assert.deepEqual(shape(await inTime(handle.result(), "the result")), aborted);
		// The run must end before `inTime` gives up. A child without a grace period would have exited at once.
		assert.ok(performance.now() - started >= 190, "the child got its whole grace period");
		assert.ok(!isAlive(grandchild));
	});

	it("ends soon if the host exits, regardless of the remaining grace period", async (t) => {
		const script = `trap '' TERM; begin; delta 'so far'; while :; do sleep 1; done`;
		const scene = new Scene(t, script, { config: { graceMs: 600_000 } });
		const [shown, onUpdate] = shows("so far");
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "an update");
		const started = performance.now();
		handle.abort();
		await inTime(handle.close(), "the end of the call");
		const took = performance.now() - started;
		assert.deepEqual(shape(await handle.result()), aborted);
		assert.ok(took >= 1_900, `the host left the child at least two seconds: ${took} ms`);
	});

	it("gives the child its grace period before it is killed", async (t) => {
		const script = `trap 'delta " and goodbye"; echo bye > $here/bye; exit 0' TERM; begin; delta 'so far'; while :; do sleep 0.05; done`;
		const scene = new Scene(t, script);
		const [shown, onUpdate] = shows("so far");
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "an update");
		handle.abort();
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(shape(result), aborted);
		assert.equal(single(result).output, "so far and goodbye");
		assert.ok(existsSync(scene.path("bye")));
	});

	it("is never a success, even after the answer", async (t) => {
		const scene = new Scene(t, "begin; said 'Done.'; sleep 60");
		const [shown, onUpdate] = shows("Done.");
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "an update");
		handle.abort();
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(shape(result), aborted);
		assert.match(textOf(result), /partial output:\n```text\nDone\./);
	});

	it("withdraws a pending question", async (t) => {
		const scene = new Scene(t, hangs, { agent: "local" });
		scene.write("project/.pi/agents/local.md", "---\nname: local\n---\nLook.");
		let asked = false;
		const confirm = () => {
			asked = true;
			return new Promise<boolean>(() => {});
		};
		const handle = scene.start({}, undefined, { confirm });
		await until(() => asked, "the question");
		handle.abort();
		assert.deepEqual(shape(await inTime(handle.result(), "the result")), aborted);
		assert.ok(!scene.wasStarted);
	});

	it("changes nothing after the end", async (t) => {
		const scene = new Scene(t, "begin; said 'Done.'; settled");
		const handle = scene.start();
		const result = await handle.result();
		handle.abort();
		assert.deepEqual(await handle.result(), result);
	});
});
