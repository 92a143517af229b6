/** Background runs of a program, and the messages with their results. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { it, type TestContext } from "node:test";
import { promisify } from "node:util";

import {
	openSession,
	type RunRecord,
	run,
	type Session,
	type SessionMessage,
	type SessionOptions,
} from "../../index.js";
import { endBackground } from "../../native.js";
import type { Scenario } from "./fault.ts";
import { inTime, type Scene, until } from "./scene.ts";
import { gate, playing, recordsOf } from "./stand-in.ts";

/** Opens the session of a scene; `received` has its messages. */
function stage(t: TestContext, scenario: Scenario, change: Partial<SessionOptions> = {}) {
	const scene = playing(t, scenario);
	const { cwd, agentDir, env, piCommand, config } = scene.options;
	const received: SessionMessage[] = [];
	const open = (more: Partial<SessionOptions> = {}): Session =>
		openSession({
			id: "program",
			cwd,
			agentDir,
			env,
			piCommand,
			config,
			onMessage: (message) => void received.push(message),
			...change,
			...more,
		});
	// The end of the process ends them.
	t.after(() => endBackground());
	return { scene, received, open };
}

const spoken = (messages: readonly SessionMessage[]) =>
	messages.flatMap(({ results }) => results.map(({ ok, text }) => [ok, text]));

it("a background run's result comes once, as the words of the child", async (t) => {
	const { received, open } = stage(t, [{ say: "In src/config." }]);
	const session = open();
	const { runId, sessionKey } = await session.spawn({ agent: "explorer", task: "Where?", label: "config" });
	await inTime(session.settled(), "the result");
	assert.deepEqual(spoken(received), [[true, "In src/config."]]);
	assert.equal(received[0]?.results[0]?.runId, runId);
	const [listed] = await session.list();
	assert.deepEqual([listed?.sessionKey, listed?.label, listed?.outcome], [sessionKey, "config", "completed"]);
	const history = await session.history("config");
	assert.equal(history.at(-1)?.text, "In src/config.");
	await session.close();
});

it("an ended run is continued with a message", async (t) => {
	const { received, open } = stage(t, [{ say: "You said: {task}" }]);
	const session = open();
	const { runId } = await session.spawn({ agent: "explorer", task: "Where?" });
	await inTime(session.settled(), "the result");
	await session.send(runId, "And why?");
	await inTime(session.settled(), "the second result");
	assert.match(String(spoken(received)[1]?.[1]), /And why\?/);
	await session.close();
});

it("a message whose callback failed comes again, with the same id", async (t) => {
	const { received, open } = stage(t, [{ say: "Done." }]);
	let failures = 0;
	const seen: string[] = [];
	const session = open({
		onMessage: async (message) => {
			seen.push(message.id);
			if (failures++ === 0) throw new Error("the database is away");
			received.push(message);
		},
	});
	await session.spawn({ agent: "explorer", task: "Look." });
	await inTime(session.settled(), "the result");
	while (received.length === 0) await new Promise((resolve) => setImmediate(resolve));
	assert.deepEqual(spoken(received), [[true, "Done."]]);
	assert.deepEqual(seen, [seen[0], seen[0]]);
	await session.close();
});

it("a message whose callback keeps failing comes again until it works, and each failure is a notice", async (t) => {
	const notices: string[] = [];
	const { received, open } = stage(t, [{ say: "You said: {task}" }]);
	let failures = 0;
	const session = open({
		onNotice: (notice) => void notices.push(notice),
		onMessage: async (message) => {
			if (failures++ < 7) throw new Error("the database is away");
			received.push(message);
		},
	});
	await session.spawn({ agent: "explorer", task: "First." });
	await until(() => failures > 0, "the first failure");
	await session.spawn({ agent: "explorer", task: "Second." });
	await inTime(session.settled(), "the results");
	assert.deepEqual(
		spoken(received)
			.map(([ok, text]) => [ok, /(First|Second)\./.exec(String(text))?.[1]])
			.toSorted(),
		[
			[true, "First"],
			[true, "Second"],
		],
	);
	assert.equal(notices.length, 7);
	assert.match(notices[0] ?? "", /^onMessage of session "program" has failed, .*: Error: the database is away$/);
	await session.close();
});

it("a wait for results rejects with the reason if they were not received", async (t) => {
	const { open } = stage(t, [{ say: "Done." }]);
	const { promise: failed, resolve } = Promise.withResolvers<void>();
	const session = open({
		onNotice: () => {},
		onMessage: async () => {
			resolve();
			throw new Error("the database is away");
		},
	});
	await session.spawn({ agent: "explorer", task: "Look." });
	await inTime(failed, "the failure");
	const message = "not every result was received: onMessage has failed: Error: the database is away";
	await assert.rejects(inTime(session.settled(1), "the end of the wait"), { message });
	const refused = assert.rejects(session.settled(), { message: /was received: the session was closed/ });
	await session.close();
	await inTime(refused, "the end of the wait");
});

it("a wait for results rejects at its limit if `onMessage` does not return", async (t) => {
	const { open } = stage(t, [{ say: "Done." }]);
	const { promise: called, resolve } = Promise.withResolvers<void>();
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	const session = open({
		onMessage: () => {
			resolve();
			return released;
		},
	});
	await session.spawn({ agent: "explorer", task: "Look." });
	await inTime(called, "the message");
	const start = performance.now();
	const message = "not every result was received: onMessage has not returned";
	await assert.rejects(inTime(session.settled(200), "the end of the wait"), { message });
	assert.ok(performance.now() - start < 5_000, "at the limit");
	release();
	await inTime(session.settled(), "the result");
	await session.close();
});

it("a wait for results within `onMessage` is refused at once, and allowed after it", async (t) => {
	const errors: unknown[] = [];
	const { promise: later, resolve } = Promise.withResolvers<void>();
	const { open } = stage(t, [{ say: "Done." }]);
	const session = open({
		onMessage: async () => {
			setTimeout(() => void session.settled(2_000).then(resolve), 300);
			await session.settled(2_000).catch((error) => errors.push(error));
		},
	});
	await session.spawn({ agent: "explorer", task: "Look." });
	await inTime(session.settled(), "the result");
	assert.match(String(errors), /`settled` would wait for the message that `onMessage` receives now/);
	await inTime(later, "the wait after the message");
	await session.close();
});

/** Runs a program with the session `session` to its end. Returns its output. */
async function program(scene: Scene, change: object, script: string): Promise<string> {
	const { cwd, agentDir, env, piCommand, config } = scene.options;
	const place = JSON.stringify({ id: "program", cwd, agentDir, env, piCommand, config, ...change });
	const text = `
		import { openSession, run } from ${JSON.stringify(new URL("../../index.js", import.meta.url))};
		const place = ${place};
		const onMessage = ({ results }) => console.log(results[0].text);
		${script}`;
	const args = ["--input-type=module", "-e", text];
	return (await inTime(promisify(execFile)(process.execPath, args), "the end of the program")).stdout;
}

it("a session keeps its process alive until the result of a run was received", async (t) => {
	const { scene } = stage(t, [{ say: "Done." }]);
	const spawned = 'await openSession({ ...place, onMessage }).spawn({ agent: "explorer", task: "Look." });';
	assert.equal(await program(scene, {}, spawned), "Done.\n");
});

it("a session keeps its process alive for a run that was moved to the background", async (t) => {
	const { scene } = stage(t, [{ stream: "So far" }, { call: "read", until: gate().await }, { say: "Done." }]);
	const moved = `
		import { writeFileSync } from "node:fs";
		openSession({ ...place, onMessage });
		const { id, ...own } = place;
		const task = run({ ...own, agent: "explorer", task: "Look.", sessionId: id });
		for await (const update of task) if (update.type === "text") break;
		await task.background();
		writeFileSync(${JSON.stringify(scene.path("go"))}, "");`;
	assert.equal(await program(scene, {}, moved), "Done.\n");
});

it("a closed session, and one without `onMessage`, keep no process alive", async (t) => {
	for (const script of [
		"const s = openSession({ ...place, onMessage }); await s.spawn(look); await s.close();",
		"await openSession(place).spawn(look);",
	]) {
		const { scene } = stage(t, [{ stream: "So far" }, "hang"]);
		assert.equal(await program(scene, {}, `const look = { agent: "explorer", task: "Look." }; ${script}`), "");
	}
});

it("a result that no one received waits for the next opening", async (t) => {
	const { received, open } = stage(t, [{ say: "Done." }]);
	const deaf = open({ onMessage: undefined });
	await deaf.spawn({ agent: "explorer", task: "Look." });
	await until(async () => (await deaf.list()).every(({ outcome }) => outcome !== undefined), "the end of the run");
	await deaf.close();
	const session = open();
	await inTime(session.settled(), "the result");
	assert.deepEqual(spoken(received), [[true, "Done."]]);
	await session.close();
});

it("a run is stopped by its id, and an unknown one is named", async (t) => {
	const { received, open } = stage(t, [{ stream: "So far" }, "hang"]);
	const session = open();
	const { runId } = await session.spawn({ agent: "explorer", task: "Look." });
	await session.stop(runId);
	await inTime(session.settled(), "the result");
	assert.deepEqual([received[0]?.results[0]?.ok, received[0]?.results[0]?.error], [false, "stopped by `stop`"]);
	await assert.rejects(session.stop("ffffffff"), /ffffffff/);
	await assert.rejects(session.spawn({ agent: "nobody", task: "Look." }), /nobody/);
	await session.close();
});

it("an unknown run is named in one sentence, whatever the program wants of it", async (t) => {
	const { open } = stage(t, [{ say: "Done." }]);
	const session = open();
	await session.spawn({ agent: "explorer", task: "Look." });
	await inTime(session.settled(), "the result");
	const message = 'the session has no run "ffffffff"; expected a run\'s id, its session key or its label';
	for (const call of [
		() => session.send("ffffffff", "More."),
		() => session.stop("ffffffff"),
		() => session.history("ffffffff"),
	]) {
		await assert.rejects(call, { message });
	}
	await session.close();
});

it("a closed session starts no run", async (t) => {
	const { scene, open } = stage(t, [{ say: "never" }]);
	const session = open();
	await session.close();
	await assert.rejects(session.spawn({ agent: "explorer", task: "Look." }), /closed; open it again/);
	await assert.rejects(session.list(), /closed; open it again/);
	await session.close();
	assert.deepEqual(recordsOf(scene, "task"), []);
});

it("a session that is open is not opened again until it is closed", async (t) => {
	const { scene, received, open } = stage(t, [{ say: "Done." }]);
	const session = open();
	const message =
		/^the session "program" is open in this process: share the object .*, or await its `close\(\)` first$/;
	assert.throws(() => open({ cwd: scene.path("other") }), { message });
	await open({ id: "another" }).close();
	await session.spawn({ agent: "explorer", task: "Look." });
	await inTime(session.settled(), "the result");
	assert.deepEqual(spoken(received), [[true, "Done."]]);
	await session.close();
	const next = open();
	await session.close();
	assert.throws(() => open(), { message });
	await next.close();
});

it("a run is moved to the background, and its session gets the result", async (t) => {
	const { scene, received, open } = stage(t, [{ stream: "So far" }, { await: "{env.HERE}/go" }, { say: " and more." }]);
	const { cwd, agentDir, env, piCommand, config } = scene.options;
	const session = open();
	const task = run({ agent: "explorer", task: "Look.", sessionId: "program", cwd, agentDir, env, piCommand, config });
	for await (const update of task) if (update.type === "text") break;
	const { runId } = await task.background();
	const result = await task;
	assert.deepEqual([result.ok, result.error?.code, result.runId], [false, "MOVED_TO_BACKGROUND", runId]);
	assert.equal(result.error?.message, "the run continues in the background, and its session receives the result");
	scene.open();
	await inTime(session.settled(), "the result");
	assert.equal(received[0]?.results[0]?.runId, runId);
	await session.close();
});

it("a run without a session cannot be moved, and goes on", async (t) => {
	const { scene } = stage(t, [{ stream: "So far" }, { await: "{env.HERE}/go" }, { say: " and more." }]);
	const { cwd, agentDir, env, piCommand, config } = scene.options;
	const task = run({ agent: "explorer", task: "Look.", cwd, agentDir, env, piCommand, config });
	for await (const update of task) if (update.type === "text") break;
	const message = "the run has no session for its result: pass `sessionId`, and open that session with `openSession`";
	await assert.rejects(task.background(), { message });
	scene.open();
	assert.ok((await inTime(Promise.resolve(task), "the result")).ok);
});

/** A child that submits a value as its result. */
const submitting = (value: unknown): Scenario => [{ submit: value }];

const schema = { type: "object", properties: { files: { type: "array" } } };
const files = (count: number) => Array.from({ length: count }, (_, at) => `src/some/where/file-${at}.ts`);

for (const [size, count] of Object.entries({ small: 1, "20 KiB": 600, "100 KiB": 3_000, "1.5 MiB": 45_000 })) {
	it(`a background run's result has the submitted value: ${size}`, async (t) => {
		const value = { files: files(count) };
		const { received, open } = stage(t, submitting(value));
		const session = open();
		await session.spawn({ agent: "explorer", task: "Which files?", schema });
		await inTime(session.settled(), "the result");
		assert.deepEqual(received[0]?.results[0]?.data, value);
		await session.close();
	});
}

it("a large value waits with its message for the next opening, and is reported if its file is gone", async (t) => {
	const value = { files: files(3_000) };
	const { received, open } = stage(t, submitting(value));
	const seen: RunRecord[] = [];
	const session = open({
		onMessage: ({ results: [result] }) => {
			if (result) seen.push(result.run);
			throw new Error("the database is away");
		},
	});
	await session.spawn({ agent: "explorer", task: "Which files?", schema });
	while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
	await session.close();
	rmSync(seen[0]?.structuredFile ?? "");
	const notices: string[] = [];
	const next = open({ onNotice: (notice) => void notices.push(notice) });
	await inTime(next.settled(), "the result");
	assert.deepEqual([received[0]?.results[0]?.ok, received[0]?.results[0]?.data], [true, undefined]);
	assert.match(String(notices), /submitted value of run \w{8} cannot be read: ENOENT/);
	await next.close();
});
