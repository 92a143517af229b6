/** No file of a repository stops a run, and git ends with an abort and with the time limit. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, it, type TestContext } from "node:test";

import type { ToolResult } from "../../native.js";
import { slower } from "../support/machine.ts";
import { allows } from "../support/warden.ts";
import { answers, inTime, patienceMs, Scene, shape, single, textOf, until } from "./scene.ts";

/** Much longer than a run takes here, and shorter than the 10 seconds that git once waited for a single file. */
const limitMs = 8_000 * slower;

/** Larger than any disk, and takes up nothing. */
const hugeBytes = 5e12;

const unix = process.platform === "win32" && "needs FIFOs";

/** A committed project, with one file that is not, and three agents: one of each kind. */
function sceneOf(t: TestContext, script = answers): Scene {
	const scene = new Scene(t, script);
	scene.options.env = { ...scene.options.env, HOME: scene.path("home") };
	scene.write("home/empty", "");
	for (const [name, more] of [
		["in-place", ""],
		["isolated", "isolation: private\n"],
		["readonly", "readonly: true\n"],
	])
		scene.write(`agent/agents/${name}.md`, `---\nname: ${name}\ndescription: works\n${more}---\nWork.`);
	git(scene, "init", "-q", "-b", "main");
	scene.write("project/kept.txt", "kept");
	scene.write("project/sub/kept.txt", "kept");
	git(scene, "add", "-A");
	git(scene, "-c", "user.name=a", "-c", "user.email=b", "-c", "commit.gpgsign=false", "commit", "-qm", "first");
	scene.write("project/new.txt", "not committed");
	return scene;
}

function git(scene: Scene, ...args: string[]): string {
	return execFileSync("git", ["-C", scene.project, ...args], { encoding: "utf8" });
}

function config(more: Record<string, unknown> = {}): Record<string, unknown> {
	return { allowWrite: true, ...more };
}

function notes(result: ToolResult): string {
	return single(result).diagnostics?.join("\n") ?? "";
}

type Make = (path: string) => void;
const fifo: Make = (path) => execFileSync("mkfifo", [path]);
const device: Make = (path) => symlinkSync("/dev/zero", path);
const huge: Make = (path) => {
	writeFileSync(path, "");
	truncateSync(path, hugeBytes);
};

/** Puts something else in the place of a file of the project. */
function replace(scene: Scene, name: string, make: Make): void {
	const path = scene.path(`project/${name}`);
	rmSync(path, { recursive: true, force: true });
	mkdirSync(dirname(path), { recursive: true });
	make(path);
}

interface Row {
	what: string;
	make: (scene: Scene) => void;
	/** The file that is named. */
	names: string;
	/** True if an isolated run does not need the file. */
	isolatedRuns?: boolean;
}

const inRepository: Row[] = [
	...[
		"HEAD",
		"config",
		"packed-refs",
		"index",
		"shallow",
		"commondir",
		"objects/info/alternates",
		"refs/heads/main",
	].map((file) => row(`a FIFO as .git/${file}`, `.git/${file}`, fifo)),
	{ ...row("a FIFO as .git/info/attributes", ".git/info/attributes", fifo), isolatedRuns: true },
	row("a link to a device as .git/index", ".git/index", device),
	row("a link to a device as .git/HEAD", ".git/HEAD", device),
	row("an index of 5 TB", ".git/index", huge),
	row("a list of references of 5 TB", ".git/packed-refs", huge),
	row("a FIFO as .gitignore", ".gitignore", fifo),
	row("a .gitattributes of 5 TB", ".gitattributes", huge),
	row("a FIFO as .gitignore below", "sub/.gitignore", fifo),
	{
		what: "a FIFO in a repository below",
		make: (scene) => {
			execFileSync("git", ["init", "-q", scene.path("project/inner")]);
			replace(scene, "inner/.git/HEAD", fifo);
		},
		names: "inner/.git/HEAD",
	},
	{
		what: "a FIFO in the place of an object",
		make: (scene) => {
			const object = git(scene, "rev-parse", "HEAD^{tree}").trim();
			replace(scene, `.git/objects/${object.slice(0, 2)}/${object.slice(2)}`, fifo);
		},
		names: ".git/objects/",
	},
	{
		what: "a FIFO that the configuration includes",
		make: (scene) => {
			fifo(scene.path("included"));
			git(scene, "config", "include.path", scene.path("included"));
		},
		names: "included",
	},
	{
		what: "a FIFO as core.excludesFile",
		make: (scene) => {
			fifo(scene.path("ignored"));
			git(scene, "config", "core.excludesFile", scene.path("ignored"));
		},
		names: "ignored",
		isolatedRuns: true,
	},
];

function row(what: string, file: string, make: Make): Row {
	return { what, make: (scene) => replace(scene, file, make), names: file };
}

describe("a repository with a file that would block git", { skip: unix }, () => {
	for (const { what, make, names, isolatedRuns } of inRepository)
		it(`is named, and prevents only a run that needs git: ${what}`, async (t) => {
			const scene = sceneOf(t);
			make(scene);
			const run = async (agent: string) =>
				await inTime(scene.start({ agent, config: config() }).result(), `the ${agent} run`, limitMs);
			const inPlace = await run("in-place");
			assert.equal(single(inPlace).outcome, "completed", textOf(inPlace));
			assert.ok(notes(inPlace).includes(names), notes(inPlace));
			const isolated = await run("isolated");
			assert.equal(single(isolated).outcome, isolatedRuns ? "completed" : "failed", textOf(isolated));
			if (!isolatedRuns) assert.ok(single(isolated).error?.includes(names), single(isolated).error);
			const readonly = await run("readonly");
			assert.deepEqual([single(readonly).outcome, notes(readonly)], ["completed", ""]);
		});

	it("does not lose the answer if the child made the file", async (t) => {
		const scene = sceneOf(t, `rm -f .git/packed-refs; mkfifo .git/packed-refs; ${answers}`);
		const running = scene.start({ agent: "in-place", config: config() }).result();
		const result = await inTime(running, "the result", limitMs);
		assert.deepEqual([single(result).outcome, single(result).output], ["completed", "Done."]);
		assert.match(notes(result), /the files that this run changed are not listed.*`\.git\/packed-refs` is a FIFO/);
	});

	it("does not lose work if the file appears during an isolated run", async (t) => {
		const scene = sceneOf(t, `echo more >> kept.txt; mkfifo $here/project/.git/shallow; ${answers}`);
		const running = scene.start({ agent: "isolated", config: config() }).result();
		const result = await inTime(running, "the result", limitMs);
		assert.match(notes(result), /its changes could not be put on a branch: `\.git\/shallow` is a FIFO/);
		const kept = single(result).isolation?.keptTree ?? "";
		assert.equal(readFileSync(`${kept}/kept.txt`, "utf8"), "keptmore\n");
	});
});

const needsView = !allows("mount-ns") && "no mount namespaces here";

describe("a special file with a protected name", { skip: unix || needsView }, () => {
	for (const [what, name, make] of [
		["a link to a device", "sub/.claude", device],
		["a link to a device", ".mcp.json", device],
		["a FIFO", ".mcp.json", fifo],
	] as const)
		it(`is named or cannot be replaced, and prevents no writer: ${what} as ${name}`, async (t) => {
			const replaces = `rm ${name} 2>/dev/null && echo '{}' > ${name} && replaced=yes`;
			const scene = sceneOf(t, `${replaces}; begin; said "replaced: \${replaced:-no}"; settled`);
			replace(scene, name, make);
			const result = await scene.run({ agent: "in-place", config: config({ sandbox: "auto" }) });
			assert.equal(single(result).outcome, "completed", textOf(result));
			const isNamed = notes(result).includes(`${name}\` is a symbolic link`);
			assert.ok(isNamed || single(result).output === "replaced: no", textOf(result));
		});
});

/**
 * Puts a script before git in the search path. The script waits for the scene's gate if the file `hold` names its command. git
 * has no sandbox here, which could hide that file.
 */
function blockGit(scene: Scene, command?: string): void {
	const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
	const find = `for word; do case "$word" in -c|-*=*|*.*=*|--literal-pathspecs) ;; *) break;; esac; done`;
	const wait = `test "$(cat "$here/hold" 2>/dev/null)" = "$word" && { : > "$here/held"; until test -e "$here/go"; do sleep 0.05; done; }`;
	const path = scene.write("bin/git", `#!/bin/sh\nhere=${scene.root}\n${find}\n${wait}\nexec ${real} "$@"\n`);
	chmodSync(path, 0o755);
	const { PATH } = process.env;
	scene.options.env = { ...scene.options.env, PATH: `${dirname(path)}:${PATH}`, PI_SUBAGENT_WARDEN: "" };
	if (command) scene.write("hold", command);
}

const untilBlocked = (scene: Scene) => until(() => existsSync(scene.path("held")), "the start of the git command");

/** The processes that hold a command of git. */
function blockedGit(scene: Scene): string[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc").filter((pid) => {
		try {
			return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(scene.path("bin/git"));
		} catch {
			return false;
		}
	});
}

const before = [
	["in-place", "config"],
	["in-place", "status"],
	["in-place", "--version"],
	["in-place", "ls-files"],
	["isolated", "--version"],
	["isolated", "rev-parse"],
	["isolated", "ls-files"],
	["isolated", "read-tree"],
] as const;

describe("git before a child", { skip: unix }, () => {
	for (const [agent, command] of before) {
		it(`ends with an abort: git ${command}, ${agent}`, async (t) => {
			const scene = sceneOf(t);
			blockGit(scene, command);
			const running = scene.start({ agent, config: config() });
			await untilBlocked(scene);
			running.abort("enough");
			const result = await inTime(running.result(), "the result", limitMs);
			assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 130, "aborted", true]);
			assert.equal(scene.wasStarted, false);
			await until(() => blockedGit(scene).length === 0, "the end of git", limitMs);
			await isClean(scene, agent);
		});

		it(`ends with the run's time limit: git ${command}, ${agent}`, async (t) => {
			const scene = sceneOf(t);
			blockGit(scene, command);
			// On most machines git reaches that command in this time. On a slow one an earlier command ends.
			const running = scene.start({ agent, config: config({ timeoutMs: 1_000 }) });
			const result = await inTime(running.result(), "the result", limitMs);
			assert.deepEqual(shape(result), ["SUBAGENT_TIMEOUT", 124, "hard_timeout", true], textOf(result));
			assert.equal(single(result).error, "hard limit reached: 1000 ms (`timeoutMs`)");
			assert.equal(scene.wasStarted, false);
			await until(() => blockedGit(scene).length === 0, "the end of git", limitMs);
			await isClean(scene, agent);
		});
	}
});

const trees = "agent/subagent-trees";

/** The entries of these directories of the scene. */
function listed(scene: Scene, ...names: string[]): string[] {
	const places = names.map((name) => scene.path(name));
	return places.flatMap((place) => (existsSync(place) ? readdirSync(place) : []));
}

/** Waits until nothing of an isolated run remains. The next sweep finds an unfinished snapshot of any other run. */
async function isClean(scene: Scene, agent: string): Promise<void> {
	if (agent !== "isolated") return;
	const isGone = () => listed(scene, trees, "agent/subagents/snapshots").length === 0;
	await until(isGone, "the removal of the tree", limitMs);
}

describe("git after a child", { skip: unix }, () => {
	for (const command of ["config", "status", "update-index"])
		it(`does not delay the answer of an aborted run: git ${command}`, async (t) => {
			const scene = sceneOf(t, `echo more >> kept.txt; echo ${command} > $here/hold; ${answers}`);
			blockGit(scene);
			const running = scene.start({ agent: "in-place", config: config() });
			await untilBlocked(scene);
			running.abort("enough");
			const result = await inTime(running.result(), "the result", limitMs);
			assert.deepEqual([single(result).outcome, single(result).output], ["completed", "Done."]);
			scene.open();
			await until(() => blockedGit(scene).length === 0, "the end of git");
		});

	it("brings the branch of an aborted isolated run later", async (t) => {
		const scene = sceneOf(t, `echo more >> kept.txt; echo pack-objects > $here/hold; ${answers}`);
		blockGit(scene);
		const running = scene.start({ agent: "isolated", config: config() });
		await untilBlocked(scene);
		running.abort("enough");
		const result = await inTime(running.result(), "the result", patienceMs / 2);
		assert.equal(single(result).output, "Done.");
		const [, branch = ""] = /once its branch `(subagent\/[0-9a-f]{8})` exists/.exec(notes(result)) ?? [];
		scene.open();
		await until(() => git(scene, "branch", "--list", branch).includes(branch), "the new branch");
		assert.equal(git(scene, "show", `${branch}:kept.txt`), "keptmore\n");
		await until(() => listed(scene, trees).length === 0, "the removal of the private tree");
	});
});
