/**
 * Runs that continue when their pi has ended: `background.onExit` is `keep`. Each has a host process of its own. After
 * any end of pi, the host process or the run, the next pi gets the result once, and nothing is left.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import type { RunRecord } from "../../native.js";
import { slower } from "../support/machine.ts";
import { survivors } from "../support/survivors.ts";
import { announces, backgroundScene, filesOf, Here, OtherProcess, type Spawn } from "./conversation.ts";
import { inTime, isAlive, type Scene, until, untilEnded } from "./scene.ts";
import { gate, recordsOf, untilRecorded } from "./stand-in.ts";

const LINUX = { skip: process.platform !== "linux" && "looks at processes in /proc" };

/** A child that works until the test lets it end, and then says its task. */
const works = announces([{ stream: "so far" }, gate(), { say: "You said: {task}" }], [{ say: "The news." }]);

const stalls = [{ stream: "so far" }, "hang"];

const kept: Spawn = { runTimeoutSeconds: 60, config: { background: { onExit: "keep" } } };

/** A scene whose runs are kept. */
const keepScene = (test: TestContext, scenario: string | unknown[] = stalls) => backgroundScene(test, scenario);

/** The host processes of a scene. */
const hostProcesses = (scene: Scene) =>
	survivors(scene.mark).filter(({ command }) => /pi-subagent-host/i.test(command));

/** Returns the files that show host processes. */
function shown(scene: Scene): string[] {
	const folder = scene.path("agent/subagents/live");
	return existsSync(folder) ? readdirSync(folder) : [];
}

/** The permissions of a file. */
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Nothing runs and nothing lies around. */
async function assertClean(scene: Scene, ...runs: RunRecord[]): Promise<void> {
	await until(() => survivors(scene.mark).length === 0, "the end of all processes");
	assert.deepEqual(shown(scene), []);
	for (const run of runs) assert.deepEqual(filesOf(run), ["session.jsonl"]);
}

describe("a detached run", LINUX, () => {
	it("continues after any end of its host, and the next host delivers it once", async (t) => {
		const scene = keepScene(t, works);
		const hosts = [OtherProcess.open(scene), OtherProcess.open(scene), OtherProcess.open(scene)];
		const [killed, ended, exited] = hosts as [OtherProcess, OtherProcess, OtherProcess];
		const started = await Promise.all(hosts.map((host, at) => host.started({ ...kept, label: `number ${at}` })));
		for (const { runId } of started) {
			const run = await killed.run(runId, ({ pid, state }) => state !== "queued" && !!pid);
			assert.deepEqual([run.isDetached, run.isInProcess], [true, false]);
		}
		await killed.kill();
		const output = (await inTime(ended.end(), "the end of the host")) ?? "";
		assert.match(output, /^3 background runs continue without pi: .*`\/subagents list all`.*`\/subagents stop \w{8}`/);
		for (const { runId } of started) assert.ok(output.includes(`${runId} (explorer "number `), output);
		await ended.kill();
		await exited.exit();
		scene.open();
		const here = Here.open(scene);
		await until(() => here.messages.flatMap(({ runIds }) => runIds).length === 3, "the results of three runs");
		const delivered = here.messages.flatMap(({ runs }) => runs);
		assert.deepEqual(delivered.map(({ runId }) => runId).sort(), started.map(({ runId }) => runId).sort());
		for (const run of delivered)
			assert.deepEqual([run.status, run.result, run.isDetached], ["success", "The news.", true]);
		await here.delivered(here.messages.flatMap(({ deliveryIds }) => deliveryIds));
		assert.equal(recordsOf(scene, "argv").length, 3, "no run was started again");
		assert.deepEqual([...killed.messages, ...ended.messages, ...exited.messages], []);
		await assertClean(scene, ...delivered);
	});

	it("is refused without a time limit, or without a store", async (t) => {
		const scene = keepScene(t);
		const here = Here.open(scene);
		const rows: [Spawn, string, RegExp][] = [
			[{ ...kept, runTimeoutSeconds: 0 }, "forbidden", /hard limit.*`runTimeoutSeconds`.*`background\.onExit`/s],
			[{ config: { background: { onExit: "keep" } } }, "forbidden", /hard limit/],
			[
				{ ...kept, config: { ...kept.config, sessionBudget: { maxCost: 2 } } },
				"forbidden",
				/`sessionBudget\.maxCost` is \$2/,
			],
			[{ ...kept, agent: "nobody" }, "error", /Unknown agent `nobody`/],
			[{ ...kept, cleanup: "no" }, "error", /`cleanup`/],
		];
		for (const [change, status, error] of rows) {
			const receipt = await inTime(here.spawn(change), "the receipt");
			assert.deepEqual([receipt.status, receipt.runId], [status, undefined], receipt.error);
			assert.match(receipt.error ?? "", error);
		}
		assert.deepEqual([await here.runs(true), recordsOf(scene, "argv"), hostProcesses(scene)], [[], [], []]);
		const nowhere = keepScene(t);
		nowhere.write("agent/subagents", "taken");
		const lost = await Here.open(nowhere, { parentSessionFile: nowhere.write("project/s.jsonl", "") }).spawn(kept);
		assert.equal(lost.status, "error");
		assert.match(lost.error ?? "", /`background\.onExit` is `keep`.*store/s);
		await until(() => hostProcesses(nowhere).length === 0, "the end of the host process");
		assert.deepEqual(recordsOf(nowhere, "argv"), []);
	});

	it("asks about its agent in this pi, which has a user, and is answered at once", async (t) => {
		const scene = keepScene(t, announces([{ say: "x" }], [{ say: "The news." }]));
		const agent = "---\nname: local\nreadonly: true\ndescription: Looks around here.\n---\nLook.";
		scene.write("project/.pi/agents/local.md", agent);
		const here = Here.open(scene);
		const answers: ((yes: boolean) => void)[] = [];
		const confirm = () => new Promise<boolean>((answer) => answers.push(answer));
		const { runId, note } = await here.started({ ...kept, agent: "local" }, { confirm });
		assert.match(note ?? "", /being asked/);
		await until(() => answers.length === 1, "the first question");
		assert.deepEqual(hostProcesses(scene), []);
		answers[0]?.(true);
		const message = await here.receive();
		assert.deepEqual(
			[message.runIds, message.runs[0]?.status, message.runs[0]?.isDetached],
			[[runId], "success", true],
		);
		scene.write("project/.pi/agents/local.md", `${agent}\nElsewhere.`);
		await here.started({ ...kept, agent: "local" }, { confirm });
		await until(() => answers.length === 2, "the second question");
		answers[1]?.(false);
		assert.match((await here.receive()).text, /Status: error\nResult: \(not available\)/);
		assert.equal(recordsOf(scene, "argv").length, 1);
		await assertClean(scene);
	});

	it("is listed, messaged and stopped from another process", async (t) => {
		const steered = { steered: [{ say: "Heard: {steer}" }] };
		const work = [
			steered,
			{ stream: "so far" },
			{ repeat: [{ call: "read", args: { path: "a.md" }, takesMs: 100 }], times: 300 },
		];
		const scene = keepScene(t, announces(work, [{ say: "The news." }]));
		const there = OtherProcess.open(scene);
		const [talk, end] = [
			await there.started({ ...kept, label: "talk" }),
			await there.started({ ...kept, label: "end" }),
		];
		await there.kill();
		const here = Here.open(scene);
		for (const { runId } of [talk, end]) {
			const seen = await here.run(runId, ({ state, pid, lastTool }) => state === "running" && !!pid && !!lastTool);
			assert.ok(isAlive(seen.pid ?? 0) && /read/.test(seen.lastTool ?? ""), JSON.stringify(seen));
			assert.equal(seen.isInProcess, false);
		}
		await until(
			() => here.events.some(({ runs }) => runs?.some(({ lastTool }) => lastTool)),
			"an event with the last tool",
		);
		const live = scene.path("agent/subagents/live");
		const modes = ["", ...shown(scene).filter((name) => name.endsWith(".json"))].map((name) =>
			modeOf(join(live, name)),
		);
		assert.deepEqual(modes, [0o700, 0o600, 0o600], "the output of a child is private to its user");
		assert.equal(hostProcesses(scene).length, 2);
		assert.equal(shown(scene).length, 2);
		assert.match((await here.execute("list")).text, /talk[\s\S]*end/);
		await here.execute("send talk now come home");
		assert.deepEqual(await untilRecorded(scene, "steering"), ["now come home"]);
		await here.execute("stop end");
		await until(() => here.messages.flatMap(({ runIds }) => runIds).length === 2, "the results of both runs");
		const [talked, ended] = [await here.run(talk.runId), await here.run(end.runId)];
		assert.deepEqual([talked.status, talked.result], ["success", "The news."]);
		assert.deepEqual([ended.status, ended.error], ["error", "stopped on request"]);
		await assertClean(scene, talked, ended);
	});

	it("ends with its host process, as unknown and interrupted, after SIGKILL and SIGTERM", async (t) => {
		const scene = keepScene(t, [{ fork: ["session"] }, { say: "Half of it." }, ...stalls]);
		const here = Here.open(scene);
		for (const signal of ["SIGKILL", "SIGTERM"] as const) {
			const before = recordsOf(scene, "forked").length;
			const { runId } = await here.started(kept);
			await untilRecorded(scene, "forked", before + 1);
			const run = await here.run(runId, ({ pid, transcript }) => !!pid && !!transcript && existsSync(transcript));
			await until(
				() => readFileSync(run.transcript ?? "", "utf8").includes("Half of it."),
				"the first text in the transcript",
			);
			const [hostProcess = assert.fail("the run has no host process")] = hostProcesses(scene);
			assert.ok(hostProcess.pid > 1);
			process.kill(hostProcess.pid, signal);
			await untilEnded(run.pid ?? 0);
			const message = await here.receive();
			assert.deepEqual(
				[message.runIds, message.runs[0]?.status, message.runs[0]?.outcome],
				[[runId], "unknown", "interrupted"],
			);
			assert.match(message.text, /^Status: unknown$[\s\S]*```text\n(Half of it\.|so far)\n```/m);
			await assertClean(scene, ...message.runs);
		}
	});

	it("ends at its time limit without a pi", async (t) => {
		const scene = keepScene(t);
		const there = OtherProcess.open(scene);
		const seconds = 4 * slower;
		const { runId } = await there.started({ ...kept, runTimeoutSeconds: seconds });
		const run = await there.run(runId, ({ pid }) => !!pid);
		await there.kill();
		await untilEnded(run.pid ?? 0);
		await until(() => hostProcesses(scene).length === 0, "the end of the host process");
		const here = Here.open(scene);
		const message = await here.receive();
		assert.deepEqual(
			[message.runIds, message.runs[0]?.status, message.runs[0]?.outcome],
			[[runId], "timeout", "hard_timeout"],
		);
		assert.match(message.text, /^Status: timeout$[\s\S]*```text\nso far\n```/m);
		assert.ok(message.text.includes(`${seconds * 1_000} ms`), message.text);
		await assertClean(scene, ...message.runs);
	});
});
