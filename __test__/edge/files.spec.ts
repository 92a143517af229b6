/** A run's files on disk: private, in their place, and as few as needed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { startRun } from "../../native.js";
import { host } from "./host.ts";
import { answers, isOfStore, Scene, shape, single, textOf } from "./scene.ts";

const isRoot = process.getuid?.() === 0;

/** A user who owns nothing. */
const nobody = 65_534;

/** True if that user could run the addon from here. */
const mayBeNobody =
	!isRoot ||
	spawnSync(
		process.execPath,
		["-e", `require(${JSON.stringify(fileURLToPath(new URL("../../native.js", import.meta.url)))})`],
		{
			uid: nobody,
			cwd: "/",
		},
	).status === 0;

const mode = (path: string) => statSync(path).mode & 0o777;

describe("the files of a run", () => {
	it("are in a private directory with the run's id", async (t) => {
		const mask = process.umask(0);
		t.after(() => process.umask(mask));
		const scene = new Scene(t, answers);
		const handle = scene.start();
		const { sessionFile = "" } = single(await handle.result());
		assert.equal(sessionFile, join(scene.agentDir, "subagents/runs", handle.runId, "session.jsonl"));
		assert.deepEqual(
			[mode(sessionFile), mode(dirname(sessionFile)), mode(dirname(dirname(sessionFile)))],
			[0o600, 0o700, 0o700],
		);
		const [header = "{}"] = readFileSync(sessionFile, "utf8").split("\n");
		assert.deepEqual([JSON.parse(header).type, JSON.parse(header).cwd], ["session", scene.project]);
	});

	it("are private during the run, including the prompt, and only the session remains", async (t) => {
		const scene = new Scene(
			t,
			`find "$here/agent/subagents" -printf '%m %f\\n' | sort -u > $here/seen; printf '%s\\n' "$@" > $here/argv; ${answers}`,
		);
		const { sessionFile = "" } = single(await scene.run());
		const seen = scene.read("seen").trim().split("\n");
		assert.ok(
			seen.length >= 4 && seen.every((entry) => /^(600 .*\..*|200 .*\.lock|700 [^.]*)$/.test(entry)),
			seen.join(", "),
		);
		const argv = scene.read("argv");
		assert.ok(!argv.includes("look around"), "the task is never an argument");
		for (const path of argv.match(/\/\S+/g) ?? []) assert.equal(existsSync(path), path === sessionFile, path);
		assert.deepEqual(scene.remainingFiles(), ["session.jsonl"]);
	});

	it("are next to the session of the delegating conversation", async (t) => {
		const scene = new Scene(t, answers);
		const parentSessionFile = join(scene.root, "sessions", "2026_abc.jsonl");
		const handle = scene.start({ parentSessionFile });
		const { sessionFile } = single(await handle.result());
		assert.equal(sessionFile, join(scene.root, "sessions", "2026_abc", handle.runId, "session.jsonl"));
		assert.ok(!existsSync(join(scene.agentDir, "subagents/runs")));
	});

	it("are below PI_CODING_AGENT_DIR", async (t) => {
		const { agentDir, ...options } = new Scene(t, answers).options;
		const result = await startRun({
			...options,
			env: { ...options.env, PI_CODING_AGENT_DIR: agentDir ?? "" },
		}).result();
		assert.ok(single(result).sessionFile?.startsWith(`${agentDir}/subagents/runs/`), single(result).sessionFile);
	});

	it("do not exist without sessions", async (t) => {
		const scene = new Scene(t, answers);
		const result = await scene.run({ config: { persistSession: false } });
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.equal(single(result).sessionFile, undefined);
		assert.deepEqual(scene.remainingFiles(), []);
	});

	for (const [label, relativeTo] of Object.entries({
		"agent directory": ({ agentDir }: Scene) => ({ agentDir: relative(process.cwd(), agentDir) }),
		"parent's session": (scene: Scene) => ({
			parentSessionFile: relative(process.cwd(), scene.path("sessions/s.jsonl")),
		}),
	})) {
		it(`are found by the child and the caller for a relative path: ${label}`, async (t) => {
			const words =
				'for word in "$@"; do case $word in */*) test -e "$word" || echo "$word";; esac; done > $here/missing';
			const scene = new Scene(t, `${words}; ${answers}`);
			// At a depth of its own, where no path that is relative to ours leads anywhere.
			const cwd = join(scene.project, "a/b/c/d");
			mkdirSync(cwd, { recursive: true });
			const { sessionFile = "" } = single(await scene.run({ cwd, ...relativeTo(scene) }));
			assert.equal(scene.read("missing"), "", "every path in the arguments exists");
			assert.ok(isAbsolute(sessionFile), sessionFile);
		});
	}
});

describe("an unwritable place", () => {
	it("is reported: a file in the way", async (t) => {
		const scene = new Scene(t, answers);
		scene.write("agent/subagents", "in the way");
		const result = await scene.run();
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
		assert.match(single(result).error ?? "", /^session directory: .*\/agent\/subagents/);
	});

	it("is named: no permission", { skip: !mayBeNobody && "the repository is closed to other users" }, async (t) => {
		const scene = new Scene(t, answers);
		// Root may write everywhere, so another user has to try.
		chmodSync(scene.root, 0o755);
		chmodSync(scene.agentDir, isRoot ? 0o755 : 0o555);
		const ended = await host(scene, "disk.mjs", [], isRoot ? { uid: nobody } : {});
		assert.deepEqual([ended.code, ended.stderr], [0, ""]);
		const { result, files } = JSON.parse(ended.stdout);
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
		assert.match(single(result).error ?? "", /^session directory: .*\/agent\/subagents.*os error 13/);
		assert.deepEqual([files, scene.wasStarted], [[], false]);
	});
});

const mayMount = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;

/** A full or read-only disk needs a mount of our own, which a namespace gives to ordinary users too. */
describe("a disk", { skip: !mayMount && "no namespace to mount in" }, () => {
	/** Runs in a namespace in which the agent directory is a disk with these options; prints result and files. */
	async function onDisk(scene: Scene, options: string) {
		const mount = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"';
		const before = ["unshare", "-rm", "sh", "-c", mount, "sh", options, scene.agentDir];
		const ended = await host(scene, "disk.mjs", [], { before });
		assert.deepEqual([ended.code, ended.stderr], [0, ""]);
		const { result, files } = JSON.parse(ended.stdout);
		return { result, files: files.filter((name: string) => !isOfStore(name)) };
	}

	it("that is full from the start is named, and nothing starts or remains", async (t) => {
		const scene = new Scene(t, answers);
		const { result, files } = await onDisk(scene, "size=4k");
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
		assert.match(single(result).error ?? "", /^session directory: .*\/agent\/subagents\/runs\/.*the disk is full/);
		assert.equal(single(result).sessionFile, undefined, "the result names no session file");
		assert.ok(!scene.wasStarted);
		assert.deepEqual(files, ["subagents", "subagents/runs"]);
	});

	it("that is read-only is named", async (t) => {
		const scene = new Scene(t, answers);
		const { result } = await onDisk(scene, "ro");
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
		assert.match(single(result).error ?? "", /^session directory: .*os error 30/);
		assert.ok(!scene.wasStarted);
	});

	it("that fills up while a long answer is saved loses the full text, not the run", async (t) => {
		const scene = new Scene(t, `begin; said "first $(head -c 300000 /dev/zero | tr '\\0' x) last"; settled`);
		const { result, files } = await onDisk(scene, "size=256k");
		assert.deepEqual(shape(result), ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed", false]);
		assert.equal(single(result).fullOutputFile, undefined);
		assert.ok(textOf(result).startsWith("first x") && textOf(result).endsWith("x last"));
		assert.match(single(result).diagnostics?.join("\n") ?? "", /full text is lost/);
		await t.test("and says why", () =>
			assert.match(single(result).diagnostics?.join("\n") ?? "", /full text is lost.*the disk is full/),
		);
		await t.test("and leaves no half of a file", () => {
			const run = `subagents/runs/${result.details.runId}`;
			assert.deepEqual(files, ["subagents", "subagents/runs", run, `${run}/session.jsonl`]);
		});
	});
});
