/**
 * Children that are booted while their call is still arriving: used by that call and by no other, and where they are not,
 * gone without a trace.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { bootEarly, type EarlyCall, type EarlyOptions, type RunOptions } from "../../native.js";
import { survivors } from "../support/survivors.ts";
import type { Scenario } from "./fault.ts";
import { startHost } from "./host.ts";
import { inTime, isAlive, type Scene, shape, single, textOf, until } from "./scene.ts";
import { outcomesOf, playing, records, recordsOf, startSeveral, untilRecorded } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const aborted = ["SUBAGENT_FAILED", 130, "aborted", true];
const callId = "call_1";

const repeats = [{ say: "You said: {task}" }];
const agent = "---\nname: local\nreadonly: true\ndescription: Looks around here.\n---\nLook.";

/** A scene with a place of its own for temporary files. */
function sceneOf(test: TestContext, scenario: Scenario = repeats, change: Partial<RunOptions> = {}): Scene {
	const scene = playing(test, scenario, change);
	mkdirSync(scene.path("tmp"));
	Object.assign(scene.options.env ?? {}, { TMPDIR: scene.path("tmp") });
	return scene;
}

/** A call of the scene's agent that begins to arrive. */
function arriving(test: TestContext, scene: Scene, change: Partial<EarlyOptions> = {}): EarlyCall {
	const { agent: _, task: __, ...around } = scene.options;
	const early = bootEarly({ ...around, tool: "subagent", callId, ...change });
	test.after(() => early.end());
	return early;
}

/** Waits until so many children have been booted in all, and are up. */
const booted = async (scene: Scene, count = 1) => await untilRecorded(scene, "argv", count);

/** Returns all traces of early children: processes, run directories, temporary files, and received messages. */
function traces(scene: Scene): unknown[] {
	const runs = scene.path("agent/subagents/runs");
	return [
		survivors(scene.mark).length,
		existsSync(runs) ? readdirSync(runs) : [],
		readdirSync(scene.path("tmp")),
		recordsOf(scene, "task"),
	];
}

const nothing = [0, [], [], []];

/** Boots a child for a call that is never made, and ends it. */
async function boots(test: TestContext, scene: Scene, change: Partial<EarlyOptions> = {}): Promise<boolean> {
	const early = arriving(test, scene, { callId: "of a look", ...change });
	early.push(`{"agent":"${scene.options.agent}","task"`);
	// Something that boots for sure, later: by then the first one is up as well, if it is ever.
	const { piCommand } = scene.options;
	const other = sceneOf(test, repeats, piCommand ? { piCommand } : {});
	const later = arriving(test, other, { callId: "of another" });
	later.push('{"agent":"explorer","task"');
	await booted(other);
	const isThere = records(scene).length > 0;
	await Promise.all([early.end(), later.end()]);
	return isThere;
}

describe("an early child", () => {
	it("serves the run that it was booted for", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		early.push(':"look around"}');
		const handle = scene.start({ callId });
		const result = await inTime(handle.result(), "the result");
		const run = single(result);
		assert.deepEqual([shape(result), textOf(result), run.attempts], [completed, "You said: look around", 1]);
		assert.equal(recordsOf(scene, "pid").length, 1, "only one child starts");
		assert.equal(run.sessionFile, join(scene.agentDir, "subagents/runs", handle.runId, "session.jsonl"));
		assert.ok(readFileSync(run.sessionFile ?? "", "utf8").includes("You said: look around"));
		assert.deepEqual(readdirSync(join(scene.agentDir, "subagents/runs", handle.runId)), ["session.jsonl"]);
		await early.end();
		assert.equal(survivors(scene.mark).length, 0);
	});

	it("is booted once its agent is known, for any split of the call", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene);
		for (const character of '{ "agent" : "expl\\u006frer" , "task"') early.push(character);
		await booted(scene);
		const result = await scene.run({ callId });
		assert.deepEqual([shape(result), recordsOf(scene, "pid").length], [completed, 1]);
	});

	it("is booted for each of several tasks, up to the limit", async (t) => {
		const scene = sceneOf(t, repeats, { config: { parallelConcurrency: 2 } });
		const early = arriving(t, scene, { tool: "subagent_parallel" });
		mkdirSync(scene.path("project/inner"));
		early.push('{"tasks":[{"agent":"explorer","cwd":"inner","task":"one"},{"agent":"explorer","task":"two"}');
		early.push(',{"agent":"explorer","task":"three"},{"agent":"explorer","task":"four"}]}');
		await booted(scene, 2);
		const before = recordsOf(scene, "pid");
		assert.deepEqual(recordsOf(scene, "cwd").toSorted(), [scene.project, scene.path("project/inner")]);
		const handle = startSeveral("parallel", scene, [{ cwd: "inner", task: "one" }, "two", "three", "four"], { callId });
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(outcomesOf(result), Array(4).fill("completed"));
		const pids = recordsOf(scene, "pid");
		assert.deepEqual([pids.length, pids.slice(0, 2)], [4, before], "two of the four children were booted early");
		assert.deepEqual(recordsOf(scene, "task").toSorted(), ["four", "one", "three", "two"]);
	});

	it("is booted only for the first step of a chain", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene, { tool: "subagent_chain" });
		early.push('{"steps":[{"agent":"explorer","task":"one"},{"agent":"tester","task":"two {previous}"}]}');
		await booted(scene);
		const steps = ["one", { agent: "tester", task: "two {previous}" }];
		const handle = startSeveral("chain", scene, steps, { callId });
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual([outcomesOf(result), recordsOf(scene, "pid").length], [["completed", "completed"], 2]);
	});

	it("does nothing before its prompt, and its files are private", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		const [run = ""] = readdirSync(scene.path("agent/subagents/runs"));
		const folder = scene.path(`agent/subagents/runs/${run}`);
		const files = readdirSync(folder).sort();
		assert.ok(files.includes("prompt.md") && files.includes("session.jsonl"), String(files));
		// No process reads the lock file of a live run, so a process with read permission cannot lock it.
		const mode = (file: string) => (file === "run.lock" ? 0o200 : 0o600);
		for (const file of files) assert.equal(statSync(join(folder, file)).mode & 0o777, mode(file), file);
		assert.equal(
			readFileSync(join(folder, "session.jsonl"), "utf8").split("\n").length,
			2,
			"the session file has only its header",
		);
		assert.deepEqual(records(scene).flatMap(Object.keys), ["pid", "cwd", "argv"]);
		await early.end();
		assert.deepEqual(traces(scene), nothing);
	});

	it("may take longer to boot than its call to arrive", async (t) => {
		const scene = sceneOf(t, [{ boot: [{ sleep: 500 }] }, ...repeats]);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task":"look around"}');
		const result = await scene.run({ callId });
		assert.deepEqual([shape(result), recordsOf(scene, "pid").length], [completed, 1]);
	});
});

describe("an unused early child leaves nothing", () => {
	it("when its call has ended", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		const [argv] = await booted(scene);
		assert.ok(Array.isArray(argv));
		await early.end();
		assert.deepEqual(traces(scene), nothing);
		await early.end();
		early.push(',"task":"x"}');
		assert.deepEqual([traces(scene), records(scene).length], [nothing, 1], "no child starts after the end of the call");
	});

	it("when its call ends at once", async (t) => {
		const scene = sceneOf(t);
		for (let round = 0; round < 10; round++) {
			const early = arriving(t, scene);
			early.push('{"agent":"explorer","task"');
			await early.end();
			assert.deepEqual(traces(scene), nothing);
		}
	});

	it("when it ignores every command and signal", async (t) => {
		const scene = sceneOf(t, [{ boot: [{ ignore: ["SIGTERM", "SIGHUP", "eof", "abort"] }] }, "hang"]);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		await early.end();
		assert.deepEqual(traces(scene), nothing);
	});

	it("when the arriving call is dropped", async (t) => {
		const scene = sceneOf(t);
		const { agent: _, task: __, ...around } = scene.options;
		let early: EarlyCall | undefined = bootEarly({ ...around, tool: "subagent", callId });
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		early = undefined;
		setFlagsFromString("--expose-gc");
		const collectGarbage = runInNewContext("gc") as () => void;
		await until(() => {
			collectGarbage();
			return traces(scene)[0] === 0;
		}, "the end of the child");
		await until(() => JSON.stringify(traces(scene)) === JSON.stringify(nothing), "the removal of the child's files");
	});

	it("when another run needs its slot, which it gets", async (t) => {
		const scene = sceneOf(t, repeats, { config: { maxConcurrent: 1, bootAhead: 0 } });
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		const [pid] = recordsOf(scene, "pid");
		assert.deepEqual(shape(await scene.run({ task: "another" })), completed);
		assert.ok(!isAlive(Number(pid)));
		assert.equal(readdirSync(scene.path("agent/subagents/runs")).length, 1);
		assert.deepEqual(shape(await scene.run({ callId })), completed);
		assert.deepEqual(recordsOf(scene, "task"), ["another", "look around"]);
		assert.equal(recordsOf(scene, "pid").length, 3);
	});

	const changes: Record<string, (scene: Scene) => Partial<RunOptions>> = {
		"for another agent": () => ({ agent: "tester" }),
		"in another place": (scene) => {
			mkdirSync(scene.path("project/inner"));
			return { cwd: scene.path("project/inner") };
		},
		"with another model": () => ({ model: "fake/other" }),
		"with another environment": ({ options }) => ({ env: { ...options.env, OTHER: "1" } }),
		"with other tools": ({ options }) => ({ config: { ...options.config, tools: { deny: ["grep"] } } }),
		"with another protocol": ({ options }) => ({ config: { ...options.config, protocol: "json" } }),
		"with another pi": ({ options }) => ({
			piCommand: [process.execPath, "--no-warnings", options.piCommand?.[1] ?? ""],
		}),
	};
	for (const [label, change] of Object.entries(changes)) {
		it(`when the call is one ${label}`, async (t) => {
			const scene = sceneOf(t);
			const early = arriving(t, scene);
			early.push('{"agent":"explorer","task"');
			await booted(scene);
			const [pid] = recordsOf(scene, "pid");
			const result = await scene.run({ callId, ...change(scene) });
			assert.deepEqual([shape(result), textOf(result)], [completed, "You said: look around"]);
			assert.deepEqual([recordsOf(scene, "pid").length, isAlive(Number(pid))], [2, false]);
			await early.end();
			assert.equal(readdirSync(scene.path("agent/subagents/runs")).length, 1);
			assert.deepEqual(recordsOf(scene, "task"), ["look around"]);
		});
	}

	it("when the call is refused", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		const result = await scene.run({ callId, agent: "nobody" });
		assert.equal(result.details.error?.code, "UNKNOWN_AGENT");
		await early.end();
		assert.deepEqual(traces(scene), nothing);
	});

	it("when the session's budget is used up", async (t) => {
		const config = { sessionBudget: { maxCost: 1 } };
		const scene = sceneOf(t, [{ say: "Done.", usage: { cost: 1 } }], { config, sessionId: "early" });
		assert.deepEqual(shape(await scene.run()), completed);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await early.end();
		const next = arriving(t, scene, { callId: "next" });
		next.push('{"agent":"explorer","task"');
		const result = await scene.run({ callId: "next" });
		assert.equal(single(result).outcome, "budget");
		await next.end();
		assert.deepEqual([readdirSync(scene.path("agent/subagents/runs")).length, recordsOf(scene, "task").length], [1, 1]);
		assert.equal(survivors(scene.mark).length, 0);
	});

	it("when the call is aborted before it begins", async (t) => {
		const scene = sceneOf(t);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		assert.deepEqual(shape(await scene.run({ callId, aborted: true })), aborted);
		await early.end();
		assert.deepEqual(traces(scene), nothing);
	});

	it("when the call is aborted as soon as it begins", async (t) => {
		const scene = sceneOf(t);
		for (let round = 0; round < 5; round++) {
			const early = arriving(t, scene);
			early.push('{"agent":"explorer","task"');
			await booted(scene, round + 1);
			const handle = scene.start({ callId });
			handle.abort();
			const result = await inTime(handle.result(), "the result");
			assert.deepEqual(shape(result), aborted);
			await early.end();
			// A run that has begun keeps its session, and says so.
			const [processes, runs, files] = traces(scene);
			assert.deepEqual([processes, files], [0, []]);
			assert.equal((runs as string[]).length, single(result).sessionFile ? 1 : 0);
			rmSync(scene.path("agent/subagents/runs"), { recursive: true });
		}
	});

	it("when it ends by itself, and its run has another", async (t) => {
		const scene = sceneOf(t, [{ boot: [{ once: "{env.HERE}/first", do: [{ sleep: 100 }, { exit: 3 }] }] }, ...repeats]);
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await booted(scene);
		await until(() => JSON.stringify(traces(scene)) === JSON.stringify(nothing), "the end of the child");
		assert.deepEqual(shape(await scene.run({ callId })), completed);
		assert.equal(recordsOf(scene, "pid").length, 2);
	});

	it("when its host is killed", async (t) => {
		const scene = sceneOf(t);
		const host = startHost(scene, "early.mjs");
		await booted(scene);
		const runs = scene.path("agent/subagents/runs");
		assert.equal(readdirSync(runs).length, 1);
		await host.end();
		await until(() => survivors(scene.mark).length === 0, "the end of the child");
		await until(() => readdirSync(runs).length === 0, "the removal of the child's files");
		assert.deepEqual([readdirSync(scene.path("tmp")), recordsOf(scene, "task")], [[], []]);
	});
});

describe("no early child is booted", () => {
	const pieces: Record<string, string> = {
		"for text that is not JSON": 'agent: explorer, task: "x"',
		"for nothing": "",
		"before its agent is complete": '{"agent":"explor',
		"for an agent that does not exist": '{"agent":"nobody","task":"x"}',
		"for an agent that is none": '{"agent":["explorer"],"task":"x"}',
		"for an agent that is blank": '{"agent":"","task":"x"}',
		"for a list without tasks": '{"tasks":[{"agent":"explorer","cwd":"."',
		"for JSON that is nested too deep": `${"[".repeat(1_000)}{"agent":"explorer","task"`,
	};
	for (const [label, piece] of Object.entries(pieces)) {
		it(label, async (t) => {
			const scene = sceneOf(t);
			const tool = piece.includes("tasks") ? "subagent_parallel" : "subagent";
			const early = arriving(t, scene, { tool });
			early.push(piece);
			await early.end();
			assert.deepEqual([traces(scene), records(scene)], [nothing, []]);
		});
	}

	const configs: Record<string, Record<string, unknown>> = {
		"if it is switched off": { earlyBoot: "off" },
		"in the json protocol": { protocol: "json" },
		"if delegation is switched off": { enabled: false },
	};
	for (const [label, config] of Object.entries(configs)) {
		it(label, async (t) => {
			const scene = sceneOf(t, repeats, { config });
			assert.equal(await boots(t, scene), false);
			assert.deepEqual(traces(scene), nothing);
		});
	}

	it("while other children have all slots", async (t) => {
		const scene = sceneOf(t, [{ stream: "so far" }, "hang"], {
			config: { maxConcurrent: 1, bootAhead: 0, graceMs: 200 },
		});
		const handle = scene.start();
		await untilRecorded(scene, "task");
		const early = arriving(t, scene);
		early.push('{"agent":"explorer","task"');
		await early.end();
		assert.equal(recordsOf(scene, "argv").length, 1);
		handle.abort();
		await handle.result();
	});

	it("for a project's agent before a person has allowed it", async (t) => {
		for (const config of [{}, { nonInteractivePolicy: "allow" }, { projectAgentPolicy: "deny" }]) {
			const scene = sceneOf(t, repeats, { agent: "local", config });
			scene.write("project/.pi/agents/local.md", agent);
			assert.equal(await boots(t, scene), false, JSON.stringify(config));
			assert.deepEqual(traces(scene), nothing);
		}
		const scene = sceneOf(t, repeats, { agent: "local" });
		scene.write("project/.pi/agents/local.md", agent);
		assert.deepEqual(shape(await scene.run({}, undefined, { confirm: () => true })), completed);
		const early = arriving(t, scene);
		early.push('{"agent":"local","task"');
		await booted(scene, 2);
		await early.end();
		const allowed = sceneOf(t, repeats, { agent: "local", config: { projectAgentPolicy: "allow" } });
		allowed.write("project/.pi/agents/local.md", agent);
		const unasked = arriving(t, allowed);
		unasked.push('{"agent":"local","task"');
		await booted(allowed);
		await unasked.end();
	});
});
