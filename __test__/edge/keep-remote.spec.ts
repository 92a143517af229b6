/**
 * Runs that go on when their pi has ended, and whose children a launcher starts elsewhere: the next host finds such a run again, or
 * hears once how it ended. It is never started a second time.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "node:test";

import { packageDir } from "../support/pi.ts";
import { survivors } from "../support/survivors.ts";
import { announces, backgroundScene, Here, OtherProcess, type Spawn } from "./conversation.ts";
import { type Scene, until } from "./scene.ts";
import { gate } from "./stand-in.ts";

const LINUX = { skip: process.platform !== "linux" && "looks at processes in /proc" };

/** A child that works until the test lets it end, and then says its task. */
const works = announces([{ stream: "so far" }, gate(), { say: "You said: {task}" }], [{ say: "The news." }]);

/** The process number of the relay, then the relayed connection. */
const relay = 'echo $$ >"$0"; cat | setsid "$@" | cat';

/** A scene, and how a run of it is kept that a stand-in for `ssh` starts. */
function far(test: TestContext): { scene: Scene; kept: Spawn } {
	const scene = backgroundScene(test, works);
	const { piCommand = [], env = {} } = scene.options;
	const command = ["/bin/sh", join(packageDir, "tests/support/far.sh"), "sh", scene.path("far"), "{argv}"];
	const launcher = {
		command: ["/bin/sh", "-c", relay, scene.path("connection"), ...command],
		cancel: ["/bin/sh", "-c", `echo {runId} >>'${scene.path("cancelled")}'`],
		...{ piCommand, cwd: scene.project, quote: "sh", env: Object.keys(env) },
	};
	const config = { background: { onExit: "keep" }, launcher: "far", launchers: { far: launcher } };
	return { scene, kept: { runTimeoutSeconds: 60, config } };
}

/** A run whose child has said something. It has no transcript here. */
const speaking = (host: OtherProcess, runId: string) =>
	host.run(runId, ({ state, text }) => state === "running" && !!text);

const launches = (scene: Scene) => scene.read("far/launches").trim().split("\n").length;

async function nothingIsLeft(scene: Scene): Promise<void> {
	await until(() => survivors(scene.mark).length === 0, "the end of all processes");
	assert.deepEqual(readdirSync(scene.path("far/tmp")), []);
	assert.equal(launches(scene), 1, "the child is started only once");
}

it("a detached remote run is found by the next host and delivered once", LINUX, async (t) => {
	const { scene, kept } = far(t);
	const killed = OtherProcess.open(scene);
	const { runId } = await killed.started(kept);
	await speaking(killed, runId);
	await killed.kill();
	const here = Here.open(scene);
	assert.equal((await here.run(runId)).state, "running");
	scene.open();
	const message = await here.receive();
	assert.deepEqual(
		[message.runIds, message.runs[0]?.status, message.runs[0]?.result],
		[[runId], "success", "The news."],
	);
	assert.equal(existsSync(scene.path("cancelled")), false);
	await nothingIsLeft(scene);
});

it(
	"a detached remote run with a cut connection ends, is delivered once, and leaves no remote file",
	LINUX,
	async (t) => {
		const { scene, kept } = far(t);
		const killed = OtherProcess.open(scene);
		const { runId } = await killed.started(kept);
		await speaking(killed, runId);
		await killed.kill();
		process.kill(Number(readFileSync(scene.path("connection"), "utf8")), "SIGKILL");
		const here = Here.open(scene);
		const message = await here.receive();
		const [run] = message.runs;
		assert.deepEqual([message.runIds, run?.status], [[runId], "error"]);
		assert.match(message.text, /`far` ended without reporting the end of its child/);
		assert.match(message.text, /it was not restarted/);
		assert.equal(scene.read("cancelled").trim(), runId);
		await nothingIsLeft(scene);
		assert.deepEqual(here.messages.length, 1);
	},
);
