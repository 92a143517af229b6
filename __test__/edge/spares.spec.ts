/** Spare children behind a warden: their files, and their end. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";

import { doctor, endSpares, type RunOptions } from "../../native.js";
import { pathsBelow } from "../support/files.ts";
import { survivors } from "../support/survivors.ts";
import { allows } from "../support/warden.ts";
import { startHost } from "./host.ts";
import { isAlive, type Scene, shape, single, textOf, until } from "./scene.ts";
import { playing, recordsOf, untilRecorded } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const repeats = [{ say: "You said: {task}" }];

function sceneOf(test: TestContext, change: Partial<RunOptions> = {}): Scene {
	const scene = playing(test, repeats, { ...change, config: { spare: { count: 1 }, ...change.config } });
	mkdirSync(scene.path("tmp"));
	Object.assign(scene.options.env ?? {}, { TMPDIR: scene.path("tmp") });
	test.after(() => endSpares());
	return scene;
}

/** Returns processes, private directories, and files of runs next to their sessions. */
function traces(scene: Scene): unknown[] {
	const files = pathsBelow(scene.path("agent/subagents/runs"));
	return [
		survivors(scene.mark).length,
		readdirSync(scene.path("tmp")),
		files.filter((file) => file.includes("/") && !file.endsWith("/session.jsonl")),
		readdirSync(scene.path("agent/subagents/scratch")),
	];
}

const nothing = [0, [], [], []];

/** Returns true if a run has ended, so that only its session is left. */
function isEnded(scene: Scene, run: string): boolean {
	return !existsSync(scene.path(`agent/subagents/runs/${run}/guard.cjs`));
}

/** Runs a first task and waits until a child waits afterwards; says which one. */
async function waiting(scene: Scene): Promise<number> {
	assert.deepEqual(shape(await scene.run({ task: "first" })), completed);
	await untilRecorded(scene, "argv", 2);
	return Number(recordsOf(scene, "pid")[1]);
}

describe("a spare child", () => {
	const noSandbox = !allows("landlock") && "there is no sandbox here";
	it("is sandboxed like an ordinary child, and leaves the same files", { skip: noSandbox }, async (t) => {
		const scene = sceneOf(t, { config: { sandbox: "required" } });
		// The sandbox keeps these children from writing down who they are.
		Object.assign(scene.options.env ?? {}, { FAKE_PI_LOG: "" });
		const runs = () => readdirSync(scene.path("agent/subagents/runs"));
		assert.deepEqual(shape(await scene.run({ task: "first" })), completed);
		await until(() => readdirSync(scene.path("tmp")).length === 1, "the temporary directory of the spare child");
		const [first, waits] = runs().sort((one) => (isEnded(scene, one) ? -1 : 1));
		const handle = scene.start({ task: "second" });
		const result = await handle.result();
		assert.deepEqual([shape(result), textOf(result), handle.runId], [completed, "You said: second", waits]);
		assert.equal(single(result).sandbox?.enforced, true);
		await endSpares();
		assert.deepEqual([traces(scene), runs().sort()], [nothing, [first, waits].sort()]);
	});

	it("is not used after its login was renewed", async (t) => {
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
		await untilRecorded(scene, "argv", 4);
		assert.equal(
			recordsOf(scene, "pid").length,
			4,
			"four children start: two spares, one for the call, and a new spare",
		);
		await until(() => !isAlive(spare), "the end of the spare child");
		await endSpares();
		assert.deepEqual(traces(scene), nothing);
	});

	it("is not used by a call whose limit exceeds the life of its login copy", async (t) => {
		const scene = sceneOf(t);
		const minute = 60_000;
		// With credentials of its own for something else, its agent directory is a copy.
		scene.write("agent/subagents/auth/explorer.json", JSON.stringify({ other: { type: "api_key", key: "k" } }));
		const login = { type: "oauth", access: "one", refresh: "two", expires: Date.now() + 30 * minute };
		scene.write("agent/auth.json", JSON.stringify({ fake: login }));
		const ours = { model: "fake/m1" };
		const run = async (task: string, timeoutMs: number) =>
			assert.deepEqual(
				shape(await scene.run({ ...ours, task, config: { ...scene.options.config, timeoutMs } })),
				completed,
			);
		await run("first", minute);
		await untilRecorded(scene, "argv", 2);
		await run("second", 2 * minute);
		await untilRecorded(scene, "argv", 3);
		await run("third", 60 * minute);
		const pids = recordsOf(scene, "pid").map(Number);
		assert.equal(pids.length, 4, "a spare waits until the third call, which starts its own child");
		await until(() => !isAlive(pids[2] ?? 0), "the end of the spare child");
	});

	it("does not outlive its host after SIGKILL or a normal exit", async (t) => {
		for (const stays of [true, false]) {
			const scene = sceneOf(t);
			Object.assign(scene.options, { stays, task: "first" });
			const host = startHost(scene, "spares.mjs");
			await untilRecorded(scene, "argv", stays ? 2 : 1);
			if (stays) await host.end();
			await until(() => JSON.stringify(traces(scene)) === JSON.stringify(nothing), "the end of all children");
			assert.deepEqual(recordsOf(scene, "task"), ["first"]);
			await until(
				() => readdirSync(scene.path("agent/subagents/runs")).length === 1,
				"the removal of the child's directory",
			);
		}
	});

	it("is reported by doctor with its cost", async (t) => {
		const about = async (scene: Scene) => {
			const { agent: _, task: __, ...place } = scene.options;
			return (await doctor(place)).checks.find(({ area }) => area === "spare children");
		};
		const found = await about(sceneOf(t));
		assert.match(
			found?.message ?? "",
			/^up to 1 are kept after a run, for 60 s each, with up to 128 MiB of memory each/,
		);
		assert.equal(await about(sceneOf(t, { config: { spare: { count: 0 } } })), undefined);
	});
});
