/** Children that wait for the next call, with a warden around them: what they leave, and who ends them. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";

import { doctor, endSpares, type RunOptions } from "../../index.js";
import { survivors } from "../support/survivors.ts";
import { startHost } from "./host.ts";
import { isAlive, type Scene, shape, single, textOf, until } from "./scene.ts";
import { playing, toldOf, untilTold } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const repeats = [{ say: "You said: {task}" }];

function sceneOf(test: TestContext, change: Partial<RunOptions> = {}): Scene {
	const scene = playing(test, repeats, { ...change, config: { spare: { count: 1 }, ...change.config } });
	mkdirSync(scene.path("tmp"));
	Object.assign(scene.options.env ?? {}, { TMPDIR: scene.path("tmp") });
	test.after(() => endSpares());
	return scene;
}

/** Processes, private directories, and files of runs beside their sessions. */
function traces(scene: Scene): unknown[] {
	const runs = scene.path("agent/subagents/runs");
	const files = existsSync(runs) ? readdirSync(runs, { recursive: true, encoding: "utf8" }) : [];
	return [
		survivors(scene.mark).length,
		readdirSync(scene.path("tmp")),
		files.filter((file) => file.includes("/") && !file.endsWith("/session.jsonl")),
		readdirSync(scene.path("agent/subagents/scratch")),
	];
}

const nothing = [0, [], [], []];

/** Runs a first task and waits until a child waits afterwards; says which one. */
async function waiting(scene: Scene): Promise<number> {
	assert.deepEqual(shape(await scene.run({ task: "first" })), completed);
	await untilTold(scene, "argv", 2);
	return Number(toldOf(scene, "pid")[1]);
}

describe("a child that waits for the next call", () => {
	it("is sandboxed as its successor would be, and leaves what any run leaves", async (t) => {
		const scene = sceneOf(t);
		await waiting(scene);
		const result = await scene.run({ task: "second" });
		assert.deepEqual([shape(result), textOf(result)], [completed, "You said: second"]);
		const [first, second] = [await scene.run({ task: "third", config: {} }), result].map(single);
		assert.ok(second?.sandbox, "it has one");
		assert.deepEqual(second?.sandbox, first?.sandbox);
		await endSpares();
		assert.deepEqual([traces(scene), readdirSync(scene.path("agent/subagents/runs")).length], [nothing, 3]);
		assert.deepEqual(toldOf(scene, "task"), ["first", "second", "third"]);
	});

	it("is not used with a login that has been renewed since it got its copy", async (t) => {
		const scene = sceneOf(t);
		const login = (access: string) => {
			const far = Date.now() + 3_600_000_000;
			scene.write(
				"agent/auth.json",
				JSON.stringify({ fake: { type: "oauth", access, refresh: access, expires: far } }),
			);
		};
		login("one");
		const spare = await waiting(scene);
		login("two");
		assert.deepEqual(shape(await scene.run({ task: "second" })), completed);
		await untilTold(scene, "argv", 4);
		assert.equal(toldOf(scene, "pid").length, 4, "the one that waited, one for the call, and its successor");
		await until(() => !isAlive(spare), "the end of the one that waited");
		await endSpares();
		assert.deepEqual(traces(scene), nothing);
	});

	it("does not outlive its host, killed or done", async (t) => {
		for (const stays of [true, false]) {
			const scene = sceneOf(t);
			Object.assign(scene.options, { stays, task: "first" });
			const host = startHost(scene, "spares.mjs");
			await untilTold(scene, "argv", stays ? 2 : 1);
			if (stays) await host.end();
			await until(() => JSON.stringify(traces(scene)) === JSON.stringify(nothing), "the end of all", 10_000);
			assert.deepEqual(toldOf(scene, "task"), ["first"]);
			assert.equal(readdirSync(scene.path("agent/subagents/runs")).length, 1);
		}
	});

	it("is announced by doctor, with what it costs", async (t) => {
		const about = async (scene: Scene) => {
			const { agent: _, task: __, ...place } = scene.options;
			return (await doctor(place)).checks.find(({ area }) => area === "spare children");
		};
		const found = await about(sceneOf(t));
		assert.match(found?.message ?? "", /^up to 1 wait after a run, 60 s each, and take up to 128 MiB of memory each/);
		assert.equal(await about(sceneOf(t, { config: { spare: { count: 0 } } })), undefined);
	});
});
