/** The features of RPC mode: a refused prompt, an unread prompt, an abort, a steering message. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { inTime, isAlive, Scene, shape, single, textOf } from "./scene.ts";
import { gate, playing, records, recordsOf, shows, showsCall, untilRecorded, updateWith } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const aborted = ["SUBAGENT_FAILED", 130, "aborted", true];
const failed = (code: number) => ["SUBAGENT_FAILED", code, "failed", true];
const silent = ["SUBAGENT_TIMEOUT", 124, "idle_timeout", true];

describe("a prompt", () => {
	it("fails the run with the child's reason if it is refused", async (t) => {
		const scene = playing(t, "refuses");
		const result = await scene.run();
		assert.deepEqual(shape(result), failed(1));
		assert.equal(single(result).error, "the child rejected the prompt: `No API key found for fake.`");
		assert.deepEqual(recordsOf(scene, "ended"), ["stdin"], "the child's input is closed at once");
	});

	it("fails the run if a command of the child handles it", async (t) => {
		const result = await playing(t, "handles").run();
		assert.deepEqual(shape(result), failed(1));
		assert.equal(single(result).error, "the child rejected the prompt: `one of its extensions took it for a command`");
	});

	it("is not needed by a child that answers without reading it", async (t) => {
		const result = await playing(t, ["deaf", { say: "Done." }], { task: "x".repeat(1 << 20) }).run();
		assert.deepEqual([shape(result), textOf(result)], [completed, "Done."]);
	});

	it("ends in the idle limit if a hanging child never reads it", async (t) => {
		const scene = playing(t, ["deaf", "hang"], { task: "x".repeat(1 << 20), config: { idleTimeoutMs: 1_500 } });
		assert.deepEqual(shape(await scene.run()), silent);
	});

	for (const [label, script] of Object.entries({
		"before it reads the task": "exit 5",
		"while it reads the task": "head -c 1000 > /dev/null; exit 5",
	})) {
		it(`goes to a child that dies ${label}`, async (t) => {
			const scene = new Scene(t, "", { task: "x".repeat(1 << 20), config: { protocol: "rpc" } });
			const result = await scene.run({ piCommand: scene.pi("pi.sh", script), config: { protocol: "rpc" } });
			assert.deepEqual(shape(result), failed(5));
			assert.equal(single(result).error, "the child gave no reason");
		});
	}

	it("waits for a child that boots slowly", async (t) => {
		const scene = playing(t, [{ boot: [gate()] }, { say: "You said: {task}" }]);
		const handle = scene.start();
		await untilRecorded(scene, "argv");
		scene.open();
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual([shape(result), textOf(result)], [completed, "You said: look around"]);
	});

	for (const [task, received] of Object.entries({
		"/quit now": "\n/quit now",
		"look at /etc": "look at /etc",
		" - first\n\u2028second\r\n": " - first\n\u2028second\r\n",
		'"quoted" \\ {"type":"abort"}': '"quoted" \\ {"type":"abort"}',
	})) {
		it(`arrives unchanged, and is not a command: ${JSON.stringify(task)}`, async (t) => {
			const scene = playing(t, "answers");
			assert.deepEqual(shape(await scene.run({ task })), completed);
			assert.deepEqual(recordsOf(scene, "task"), [received]);
		});
	}

	it("is not a command in the json protocol either", async (t) => {
		const scene = playing(t, "answers", { config: { protocol: "json" } });
		await scene.run({ task: "\n/quit now" });
		assert.deepEqual(recordsOf(scene, "task"), ["Task: \n/quit now"]);
	});
});

describe("an abort", () => {
	/** A run that is aborted at its first text. */
	async function abortedIn(scene: Scene, fits = shows("so far")) {
		const [shown, onUpdate] = updateWith(fits);
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "the update");
		const started = performance.now();
		handle.abort("enough");
		const result = await inTime(handle.result(), "the result");
		return { result, took: performance.now() - started };
	}

	it("keeps the partial text and its cost", async (t) => {
		const usage = { input: 1_000, output: 200, cacheRead: 30, cacheWrite: 4, cost: 0.125 };
		const scene = playing(t, [{ say: "First.", usage }, { stream: "so far", usage }, "hang"]);
		const { result } = await abortedIn(scene);
		const run = single(result);
		assert.deepEqual(shape(result), aborted);
		assert.deepEqual([run.output, run.stopReason, run.error], ["so far", "aborted", "cancelled by user: enough"]);
		assert.deepEqual(run.usage, { input: 2_000, output: 400, cacheRead: 60, cacheWrite: 8, cost: 0.25, turns: 2 });
		assert.equal(result.usage?.totalTokens, 2_468);
	});

	it("counts the turn whose tool it ends", async (t) => {
		const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: 0.25 };
		const scene = playing(t, [{ call: "read", takesMs: 60_000, usage }]);
		const { result } = await abortedIn(scene, showsCall);
		assert.deepEqual(shape(result), aborted);
		assert.equal(single(result).usage.cost, 0.25);
	});

	for (const [label, deafness] of Object.entries({
		"that word": "abort",
		"the end of its input": "eof",
		SIGTERM: ["SIGTERM", "SIGHUP"],
		everything: ["abort", "eof", "SIGTERM", "SIGHUP", "SIGINT"],
	})) {
		it(`ends a child that ignores ${label} within the grace period`, async (t) => {
			const scene = playing(t, [{ ignore: deafness }, { stream: "so far" }, "hang"], { config: { graceMs: 600 } });
			const { result, took } = await abortedIn(scene);
			assert.deepEqual([shape(result), single(result).output], [aborted, "so far"]);
			assert.ok(took < 5_000, `${took} ms`);
			const [pid] = recordsOf(scene, "pid");
			assert.ok(!isAlive(Number(pid)));
		});
	}

	it("ends a child that reads nothing", async (t) => {
		const scene = playing(t, ["deaf", { stream: "so far" }, "hang"]);
		const { result } = await abortedIn(scene);
		assert.deepEqual([shape(result), single(result).output], [aborted, "so far"]);
	});
});

describe("a message to a run", () => {
	it("reaches the model before its next turn while it writes", async (t) => {
		const scene = playing(t, [{ stream: "so far" }, gate(), { say: "." }]);
		const [shown, onUpdate] = updateWith(shows("so far"));
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "the update");
		assert.equal(handle.steer("look\nelsewhere"), true);
		await untilRecorded(scene, "steering");
		scene.open();
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual([shape(result), textOf(result)], [completed, "Told: look\nelsewhere"]);
		assert.deepEqual(recordsOf(scene, "steering"), ["look\nelsewhere"]);
	});

	it("reaches it while a tool runs", async (t) => {
		const steered = { steered: [{ say: "You said: {steer}" }] };
		const scene = playing(t, [steered, { repeat: [{ call: "read", takesMs: 200 }], times: 300 }]);
		const [shown, onUpdate] = updateWith(showsCall);
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "the update");
		assert.equal(handle.steer("enough"), true);
		const result = await inTime(handle.result(), "the result");
		assert.equal(textOf(result), "You said: enough");
		assert.ok(single(result).usage.turns < 300, "the message arrives after the running tool");
	});

	it("waits for a child without any output yet", async (t) => {
		const scene = playing(t, [{ boot: [gate("boot")] }, gate("work"), { say: "First." }]);
		const handle = scene.start();
		await untilRecorded(scene, "argv");
		assert.equal(handle.steer("early"), true);
		scene.open("boot");
		await untilRecorded(scene, "steering");
		scene.open("work");
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual([shape(result), recordsOf(scene, "steering")], [completed, ["early"]]);
	});

	it("is refused before the child has started, after its work and after its end", async (t) => {
		const settles = [{ say: "Done." }, "settle", { sleep: 60_000 }];
		const scene = playing(t, [{ when: "holds", do: [gate(), { say: "Held." }], else: settles }], {
			config: { maxConcurrent: 1, bootAhead: 0 },
		});
		const holds = scene.start({ task: "holds the only place" });
		await untilRecorded(scene, "task");
		const [shown, onUpdate] = updateWith(shows("Done."));
		const handle = scene.start({}, onUpdate);
		assert.equal(handle.steer("too early"), false);
		scene.open();
		assert.deepEqual(shape(await inTime(holds.result(), "the result of the first run")), completed);
		await inTime(shown, "the update");
		await untilRecorded(scene, "ended", 2);
		assert.equal(handle.steer("too late"), false);
		assert.deepEqual(shape(await inTime(handle.result(), "the result")), completed);
		assert.equal(handle.steer("much too late"), false);
		assert.deepEqual(recordsOf(scene, "steering"), []);
	});

	it("is refused in the json protocol", async (t) => {
		const scene = playing(t, [{ stream: "so far" }, gate(), { say: "." }], { config: { protocol: "json" } });
		const [shown, onUpdate] = updateWith(shows("so far"));
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "the update");
		assert.equal(handle.steer("hello"), false);
		scene.open();
		assert.deepEqual(shape(await inTime(handle.result(), "the result")), completed);
	});

	it("is refused if the child has left too much unread", async (t) => {
		const scene = playing(t, ["deaf", { stream: "so far" }, "hang"]);
		const [shown, onUpdate] = updateWith(shows("so far"));
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "the update");
		const long = "x".repeat(1 << 20);
		const taken = Array.from({ length: 40 }, () => handle.steer(long));
		assert.ok(taken[0] && !taken.at(-1), `only some messages are accepted: ${taken.map(Number).join("")}`);
		handle.abort();
		assert.deepEqual(shape(await inTime(handle.result(), "the result")), aborted);
		assert.deepEqual(
			records(scene).filter((entry) => "task" in entry),
			[{ task: "" }],
			"the child read no task",
		);
	});
});
