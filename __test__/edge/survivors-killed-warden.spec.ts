/**
 * The warden itself is killed. A living host ends the remaining processes. Without a host the level decides which
 * processes remain, and the plain level leaves those listed here.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { kinds } from "../support/tree.ts";
import { allows } from "../support/warden.ts";
import { shape, single, textOf } from "./scene.ts";
import { TreeScene } from "./tree-scene.ts";

const LINUX = { skip: process.platform !== "linux" && "counts in /proc" };

/** The time that the last process of a tree has to exit. */
const goneMs = 2_000;

/** Ends the host and the warden at the same moment: neither can do anything about the other's end. */
async function killBoth(scene: TreeScene): Promise<void> {
	const pids = [await scene.hostPid(), await scene.wardenPid()];
	for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const pid of pids) process.kill(pid, signal);
	await scene.ended();
}

describe("a killed warden", LINUX, () => {
	it("fails the run with its name, and its host ends the processes that it finds", async (t) => {
		const scene = new TreeScene(t, { level: "warden", script: "hang" });
		scene.start("wait");
		await scene.up();
		process.kill(await scene.wardenPid(), "SIGKILL");
		const { result, stderr } = await scene.ended();
		assert.ok(result, `the host printed no result; ${stderr}`);
		assert.deepEqual(shape(result).slice(0, 1), ["SUBAGENT_FAILED"], textOf(result));
		assert.match(single(result).error ?? "", /warden/);
		// It has left the session and has no environment to identify it. A control group still holds it.
		const beyond = allows("cgroup") ? [] : ["bare"];
		assert.deepEqual(await scene.tree.settled(beyond, goneMs), beyond);
	});

	it("leaves stubborn processes if its host is killed, too", async (t) => {
		const scene = new TreeScene(t, { level: "warden", script: "hang" });
		scene.start("wait");
		await scene.up();
		await killBoth(scene);
		// The child itself is asked to leave by the kernel, and does.
		const others = kinds.filter((kind) => kind !== "pi").sort();
		assert.deepEqual(await scene.tree.settled(others, goneMs), others);
	});

	it("leaves no process of a pid namespace if its host is killed, too", async (t) => {
		if (!allows("pid-ns")) return t.skip("no pid namespaces here");
		const scene = new TreeScene(t, { level: "pid namespace", script: "hang" });
		scene.start("wait");
		await scene.up();
		await killBoth(scene);
		assert.deepEqual(await scene.tree.gone(goneMs), []);
	});

	it("leaves no process of a pid namespace", async (t) => {
		if (!allows("pid-ns")) return t.skip("no pid namespaces here");
		const scene = new TreeScene(t, { level: "pid namespace", script: "hang" });
		scene.start("wait");
		await scene.up();
		process.kill(await scene.wardenPid(), "SIGKILL");
		const { result, stderr } = await scene.ended();
		assert.ok(result, `the host printed no result; ${stderr}`);
		assert.match(single(result).error ?? "", /warden/);
		assert.deepEqual(await scene.tree.gone(goneMs), []);
	});
});

describe("a limit of the tree", LINUX, () => {
	it("ends all of it, and names the one with the largest share", async (t) => {
		// Reads an endless line, and waits for the end of its input. Its output is not read.
		const grow = "{ head -c 500000000 /dev/zero; sleep 60; } | tail > /dev/null &\nhang";
		const config = { limits: { memoryBytes: 400_000_000 } };
		const scene = new TreeScene(t, { level: "warden", script: grow, config });
		scene.start("wait");
		const { result, stderr } = await scene.ended();
		assert.ok(result, `the host printed no result; ${stderr}`);
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 137, "killed", true], textOf(result));
		assert.match(single(result).error ?? "", /memoryBytes.*tail/s);
		assert.deepEqual(await scene.tree.gone(goneMs), []);
	});
});
