/** Calls that a program hands over, and runs that it continues. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { startChain, startParallel, startRun } from "../../native.js";
import { backgroundScene, Here, OtherProcess } from "./conversation.ts";
import { inTime, untilEnded } from "./scene.ts";
import { gate } from "./stand-in.ts";

/** A child that has begun, and ends when the gate is open. */
const waits = [{ stream: "so far" }, gate(), { say: "You said: {task}" }];

describe("moving a call to the background", () => {
	it("gives a receipt, and delivers the result to the conversation, regardless of the handle", async (t) => {
		const scene = backgroundScene(t, waits);
		const here = Here.open(scene);
		const call = startRun({ ...here.options, agent: "explorer", task: "look" });
		const [receipt, more] = await inTime(call.background(), "the receipt");
		assert.deepEqual([receipt?.status, more], ["accepted", undefined], receipt?.error);
		assert.match(receipt?.childSessionKey ?? "", /^agent:explorer:subagent:/);
		const { isError = false, usage, details } = await inTime(call.result(), "the result");
		const [single] = details.results;
		assert.deepEqual(
			[isError, usage, single?.outcome, single?.runId],
			[false, undefined, "background", receipt?.runId],
		);
		assert.deepEqual(await call.background(), [receipt], "a second request returns the same receipt");
		call.abort("too late");
		await inTime(call.close(), "the end of the call");
		scene.open();
		const message = await here.receive();
		assert.deepEqual(message.runIds, [receipt?.runId]);
		assert.match(message.text, /^Status: success$[\s\S]*You said: look/m);
		await here.settled();
		assert.equal(here.messages.length, 1);
	});

	it("survives SIGKILL to its host like any background run: delivered once, and continued in its session", async (t) => {
		const scene = backgroundScene(t, [{ say: "Half of it." }, { call: "read", takesMs: 60_000 }]);
		const there = OtherProcess.open(scene);
		const [receipt] = await there.handOver("look");
		const runId = receipt?.runId ?? "";
		const before = await there.run(runId, ({ lastTool, transcript }) => !!lastTool && !!transcript);
		await there.kill();
		await untilEnded(before.pid ?? 0);
		scene.write("scenario.json", JSON.stringify([{ say: "All of it: {task}" }]));
		const here = Here.open(scene);
		const message = await here.receive();
		assert.deepEqual(
			message.runs.map((run) => [run.runId, run.outcome]),
			[[runId, "interrupted"]],
		);
		await here.execute(`resume ${runId} and be quick`);
		assert.match((await here.receive()).text, /Status: success[\s\S]*All of it: and be quick/);
		await here.settled();
		assert.equal(here.messages.length, 2);
	});

	it("keeps ended tasks with their call, and reports a missing conversation", async (t) => {
		const scene = backgroundScene(t, [{ say: "You said: {task}" }]);
		const here = Here.open(scene);
		const call = startRun({ ...here.options, agent: "explorer", task: "look" });
		await inTime(call.result(), "the result");
		const [late] = await call.background();
		assert.deepEqual([late?.status, late?.runId], ["forbidden", undefined]);
		assert.match(late?.error ?? "", /has already ended/);
		const { sessionId: _sessionId, ...homeless } = here.options;
		const other = startRun({ ...homeless, agent: "explorer", task: "look" });
		const [refused] = await inTime(other.background(), "the refusal");
		assert.equal(refused?.status, "forbidden");
		await inTime(other.result(), "the result");
		assert.equal(here.messages.length, 0);
	});

	it("gives a receipt for each of several, and one for a chain", async (t) => {
		const scene = backgroundScene(t, waits);
		const here = Here.open(scene);
		const tasks = ["one", "two"].map((task) => ({ agent: "explorer", task }));
		const many = startParallel({ ...here.options, tasks });
		const chain = startChain({ ...here.options, steps: tasks });
		const receipts = await inTime(many.background(), "the receipts");
		assert.deepEqual(
			receipts.map(({ status }) => status),
			["accepted", "accepted"],
		);
		const [whole, more] = await inTime(chain.background(), "the receipt of the chain");
		assert.deepEqual([whole?.status, more], ["accepted", undefined]);
		const outcomes = (await chain.result()).details.results.map(({ outcome }) => outcome);
		assert.deepEqual(outcomes, ["background", "background"]);
		scene.open();
		await here.settled(60_000);
		const delivered = here.messages.flatMap(({ runIds }) => runIds).sort();
		assert.deepEqual(delivered, [...receipts, whole].map((receipt) => receipt?.runId).sort());
	});
});

describe("continuing a run", () => {
	it("gives a receipt, and delivers its result", async (t) => {
		const scene = backgroundScene(t, [{ say: "You said: {task}" }]);
		const here = Here.open(scene);
		const call = startRun({ ...here.options, agent: "explorer", task: "look" });
		const [single] = (await inTime(call.result(), "the result")).details.results;
		const receipt = await inTime(here.session.continueRun(single?.runId ?? "", "And now?"), "the receipt");
		assert.deepEqual([receipt.status, receipt.runId], ["accepted", single?.runId], receipt.error);
		assert.match((await here.receive()).text, /You said: And now\?/);
		const unknown = await here.session.continueRun("nobody");
		assert.equal(unknown.status, "error");
		assert.match(unknown.error ?? "", /there is no run `nobody`/);
	});
});
