/** A run's lifetime: as long as a caller can receive its result, and never longer. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { type Ended, host, startHost } from "./host.ts";
import { answers, hangs, isAlive, Scene, untilEnded } from "./scene.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const gc = { node: ["--expose-gc"] };

describe("a dropped handle", () => {
	for (const deed of ["dropped", "dropped with callbacks"]) {
		it(`ends its run: ${deed}`, async (t) => {
			const scene = new Scene(t, hangs, { config: { graceMs: 500 } });
			// The host itself would go on for much longer.
			const dropping = startHost(scene, "lifetime.mjs", [deed], gc);
			try {
				await untilEnded(await scene.childPid());
			} finally {
				await dropping.end();
			}
		});
	}

	it("does not end its run while a caller waits for the result", async (t) => {
		const scene = new Scene(t, "echo $$ > $here/pid; begin; gate go; said 'Done.'; settled");
		const ended = await host(scene, "lifetime.mjs", ["promise only"], gc);
		assert.deepEqual([ended.stdout, ended.code], ["Done.\n", 0], ended.stderr);
	});
});

describe("a process", () => {
	it("stays alive for an awaited result", async (t) => {
		const ended = await host(new Scene(t, "begin; sleep 0.5; said 'Done.'; settled"), "lifetime.mjs", ["awaited"]);
		assert.deepEqual([ended.stdout, ended.code, ended.stderr], ["Done.\n", 0, ""]);
	});

	for (const deed of ["unawaited", "unawaited and up"]) {
		it(`exits with its child if nothing is awaited: ${deed}`, async (t) => {
			const scene = new Scene(t, hangs);
			const ended = await host(scene, "lifetime.mjs", [deed]);
			assert.deepEqual([ended.code, ended.signal, ended.stderr], [0, null, ""]);
			if (deed === "unawaited and up") await untilEnded(await scene.childPid());
		});
	}

	it("ends a child that ignores SIGTERM", async (t) => {
		const scene = new Scene(t, "trap '' TERM; echo $$ > $here/pid; begin; while :; do sleep 1; done");
		await host(scene, "lifetime.mjs", ["unawaited and up"]);
		await untilEnded(await scene.childPid());
	});

	for (const [deed, code] of [
		["abort at exit", 3],
		["exit", 3],
		["mistake", 1],
	] as const) {
		it(`ends the child of an awaited run: ${deed}`, async (t) => {
			const scene = new Scene(t, hangs);
			const ended = await host(scene, "lifetime.mjs", [deed]);
			assert.equal(ended.code, code);
			const pid = await scene.childPid();
			try {
				await untilEnded(pid);
			} finally {
				if (isAlive(pid)) process.kill(pid, "SIGKILL");
			}
		});
	}

	it("is not affected by exceptions of its callbacks", async (t) => {
		const scene = new Scene(t, answers);
		scene.write("project/.pi/agents/local.md", "---\nname: local\n---\nLook.");
		const ended = await host(scene, "lifetime.mjs", ["callbacks"]);
		assert.deepEqual([ended.stdout, ended.code, ended.stderr], ["Done. SUBAGENT_DISABLED\n", 0, ""]);
	});
});

describe("a command in the tree of a child", { skip: process.platform !== "linux" && "no warden" }, () => {
	for (const word of ["check", "setup"]) {
		it(`ends with its killed host: ${word}`, async (t) => {
			const scene = new Scene(t, "begin; said 'Done.'; settled", { agent: "writer", config: { allowWrite: true } });
			const endless = `echo $$ > ${scene.path("pid")}; sleep 600`;
			const isolation = word === "setup" ? "isolation: private\n" : "";
			scene.write(
				"agent/agents/writer.md",
				`---\nname: writer\nreadonly: false\n${isolation}${word}: ${endless}\n---\nWrite.`,
			);
			if (isolation) {
				rmSync(scene.path("project/.git"), { recursive: true });
				execFileSync("git", ["init", "-q"], { cwd: scene.project });
			}
			const killed = startHost(scene, "lifetime.mjs", ["awaited"]);
			const pid = await scene.childPid();
			const { signal, stdout } = (await killed.end()) as Ended;
			assert.deepEqual([signal, stdout], ["SIGKILL", ""]);
			await untilEnded(pid);
		});
	}
});

describe("worker threads", () => {
	for (const word of ["awaited", "unawaited"]) {
		it(`can be terminated with their runs and without affecting others: ${word}`, async (t) => {
			const scene = new Scene(t, "");
			scene.pi("hangs.sh", `cat > /dev/null; ${hangs}`);
			scene.pi("answers.sh", "cat > /dev/null; begin; sleep 0.7; said 'Done.'; settled");
			const ended = await host(scene, "workers.mjs", [scene.root, word]);
			assert.deepEqual([ended.stdout, ended.code, ended.stderr], ["Done.\nDone.\n", 0, ""]);
			await untilEnded(await scene.childPid());
		});
	}
});

describe("two copies of the addon", () => {
	/** Copies the loaded package to a folder with another name. */
	function copy(scene: Scene, name: string): string {
		const place = scene.path(name);
		mkdirSync(place);
		const binaries = readdirSync(root).filter((file) => file.endsWith(".node"));
		for (const file of ["native.js", "package.json", ...binaries]) copyFileSync(join(root, file), join(place, file));
		return join(place, "native.js");
	}

	for (const [label, names] of Object.entries({
		"in two places": ["one", "two"],
		"in one place, loaded again": ["one"],
	})) {
		it(`do not affect each other in one process: ${label}`, async (t) => {
			const scene = new Scene(t, answers);
			const places = names.map((name) => copy(scene, name));
			const ended = await host(scene, "copies.mjs", [places[0] ?? "", places.at(-1) ?? ""]);
			const lines = ["Done.", "Done.", "UNKNOWN_AGENT", "SUBAGENT_FAILED", "API_TOKEN=[REDACTED]", ""];
			assert.deepEqual([ended.stdout.split("\n"), ended.code, ended.stderr], [lines, 0, ""]);
		});
	}
});
