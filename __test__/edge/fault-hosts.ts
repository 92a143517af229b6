/** Hosts of faults that lie around a child: a full disk, a clock that jumps, a host that dies, a second host. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
	chmodSync,
	chownSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
} from "node:fs";
import { fileURLToPath } from "node:url";

import type { ToolResult } from "../../native.js";
import { pathsBelow } from "../support/files.ts";
import { slower } from "../support/machine.ts";
import { survivors } from "../support/survivors.ts";
import { allows } from "../support/warden.ts";
import { type HostOptions, host, startHost } from "./host.ts";
import { type Scene, until } from "./scene.ts";

/** The result of a row that was played in another process. */
export interface Played {
	/** Absent if no process survived to report it. */
	result?: ToolResult;
	/** Everything in the agent directory of that place. */
	files?: string[];
}

const works = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

const isRoot = process.getuid?.() === 0;

/** A user who owns nothing. */
const nobody = 65_534;

/** A full or read-only disk needs a mount of our own, which a namespace gives to ordinary users too. */
export const lacksMounts =
	!works("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt") && "no namespace to mount in";

/** A clock of our own, an hour and more away from the machine's. */
const otherTime = ["unshare", "-rT", "--fork", "--kill-child", "--monotonic", "100000000", "--boottime", "100000000"];

export const lacksTime = !works(otherTime[0] ?? "", ...otherTime.slice(1), "true") && "no time namespace";

/** A library that shifts the time of day is compiled on the spot, by the compiler that builds the addon. */
export const lacksCompiler =
	!(process.platform === "linux" && slower === 1 && works("cc", "--version")) && "no C compiler for this processor";

/** Returns true if another user could run the addon from here. */
const addon = fileURLToPath(new URL("../../native.js", import.meta.url));
const asNobody: HostOptions = isRoot ? { uid: nobody } : {};
export const lacksUser =
	isRoot &&
	spawnSync(process.execPath, ["-e", `require(${JSON.stringify(addon)})`], { uid: nobody, cwd: "/" }).status !== 0 &&
	"the repository is closed to other users";

async function inOtherHost(scene: Scene, options: HostOptions = {}): Promise<Played> {
	const ended = await host(scene, "disk.mjs", [], options);
	assert.deepEqual([ended.code, ended.stderr], [0, ""]);
	return JSON.parse(ended.stdout);
}

/** The agent directory is a disk with these options, of which `mount` knows more. */
export function onDisk(options: string): (scene: Scene) => Promise<Played> {
	const mount = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"';
	return async (scene) =>
		await inOtherHost(scene, { before: ["unshare", "-rm", "sh", "-c", mount, "sh", options, scene.agentDir] });
}

/** Root may write everywhere, so another user has to try. */
export async function asStranger(scene: Scene): Promise<Played> {
	chmodSync(scene.root, 0o755);
	chmodSync(scene.path("tmp"), 0o777);
	chmodSync(scene.agentDir, isRoot ? 0o755 : 0o555);
	return await inOtherHost(scene, asNobody);
}

/** The monotonic clock began at another time. */
export async function inOtherTime(scene: Scene): Promise<Played> {
	return await inOtherHost(scene, { before: otherTime });
}

/** libc's answer to time queries: alternately hours ahead and hours behind. */
const jumpingClock = `
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long jump(void) { static unsigned asked; return (asked++ / 3 % 2 ? -5 : 5) * 3600L; }
int clock_gettime(clockid_t id, struct timespec *now) {
	int failed = syscall(SYS_clock_gettime, id, now);
	if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
	return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	int failed = syscall(SYS_gettimeofday, now, zone);
	if (!failed && now) now->tv_sec += jump();
	return failed;
}
time_t time(time_t *out) { time_t now = syscall(SYS_time, 0) + jump(); if (out) *out = now; return now; }
`;

/** The time of day jumps by hours, in the host and in its child, at every few queries. */
export async function withJumpingClock(scene: Scene): Promise<Played> {
	const library = scene.path("clock.so");
	const built = spawnSync("cc", ["-shared", "-fPIC", "-o", library, scene.write("clock.c", jumpingClock)]);
	assert.equal(built.status, 0, String(built.stderr));
	const env = { ...process.env, LD_PRELOAD: library };
	const script = "console.log(new Set(Array.from({ length: 20 }, () => Math.round(Date.now() / 36e5))).size > 1)";
	assert.equal(
		String(spawnSync(process.execPath, ["-e", script], { env }).stdout),
		"true\n",
		"the clock jumps by hours",
	);
	return await inOtherHost(scene, { before: ["env", `LD_PRELOAD=${library}`] });
}

/** The host is killed while descendants of all kinds run. They get no signal, and no result is reported. */
export async function killed(scene: Scene): Promise<Played> {
	const started = startHost(scene, "lifetime.mjs", ["awaited"]);
	const strays = () => survivors(scene.mark).filter(({ command }) => command.startsWith("sleep ")).length;
	await until(() => strays() === 4, "the start of the descendants");
	await started.end();
	await until(() => survivors(scene.mark).length === 0, "the end of all processes");
	return {};
}

/** A child must not leave a copy of a user's credentials. */
function logIn(scene: Scene): void {
	scene.write("agent/auth.json", JSON.stringify({ corp: { type: "api_key", key: "k-1" } }));
}

/** Everything in the agent directory that is not the user's own. */
function filesOf(scene: Scene): string[] {
	return pathsBelow(scene.agentDir)
		.filter((name) => name !== "auth.json")
		.sort();
}

/** The host exits in the middle of a run; no result is reported. */
export function exits(deed: string): (scene: Scene) => Promise<Played> {
	return async (scene) => {
		logIn(scene);
		const ended = await host(scene, "leaves.mjs", [deed]);
		assert.deepEqual([ended.code, ended.stderr], [3, ""]);
		await until(() => survivors(scene.mark).length === 0, "the end of all processes");
		return { files: filesOf(scene) };
	};
}

/** The host has these variables (`NAME=value`), or lacks them (`-u NAME`). */
export function inEnvironment(...words: string[]): (scene: Scene) => Promise<Played> {
	return async (scene) => await inOtherHost(scene, { before: ["env", ...words] });
}

/** The agent directory lies in a home whose path is no valid UTF-8; a background run is tried as well. */
export async function inForeignHome(scene: Scene): Promise<Played> {
	const { agentDir, ...options } = scene.options;
	const before = ["sh", "-c", `HOME=$(printf '${scene.root}/h\\351') && export HOME && exec "$@"`, "sh"];
	const ended = await host({ options }, "leaves.mjs", ["say how it ends, here and in the background"], { before });
	assert.deepEqual([ended.code, ended.stderr], [0, ""]);
	const { result, receipt } = JSON.parse(ended.stdout);
	assert.equal(result.details.error.code, "INVALID_INPUT");
	assert.match(
		result.details.error.message,
		/^the agent directory `.*` is not valid UTF-8, and pi cannot use such a path/,
	);
	assert.deepEqual([receipt.status, receipt.error], ["error", result.details.error.message]);
	return { files: filesOf(scene) };
}

/** Runs a host with a limited number of descriptors; returns its output. */
async function limited<T>(scene: Scene, deed: string): Promise<T> {
	logIn(scene);
	const before = ["sh", "-c", 'ulimit -n 200 && exec "$@"', "sh"];
	const ended = await host(scene, "leaves.mjs", [deed], { before });
	assert.deepEqual([ended.code, ended.stderr], [0, ""]);
	return JSON.parse(ended.stdout);
}

/** The host can open no more files from the child's first words on. */
export async function withoutDescriptors(scene: Scene): Promise<Played> {
	const result = await limited<ToolResult>(scene, "no descriptors at its end");
	return { result, files: filesOf(scene) };
}

/** The host can open a few more files, and each time others: a run has its sandbox, or none starts. */
export async function withFewDescriptors(scene: Scene): Promise<Played> {
	const results = await limited<ToolResult[]>(scene, "few descriptors at its start");
	for (const { details } of results) {
		const [run] = details.results;
		assert.doesNotMatch(JSON.stringify(details), /os error 24|unable to open database/);
		if (run?.outcome === "completed") assert.equal(run.sandbox?.enforced, allows("landlock"));
		else
			assert.match(
				details.error?.message ?? "",
				/^[a-z ]+: [^:]*`ulimit -[nu]`/,
				"the error names the limit in one sentence",
			);
	}
	assert.equal(results.at(-1)?.details.results[0]?.outcome, "completed");
	assert.notEqual(results[0]?.details.results[0]?.outcome, "completed");
	return { files: filesOf(scene).filter((name) => !name.endsWith("/session.jsonl")) };
}

/** Host, warden and child are killed together, so that no process cleans up. Then another run starts. */
export async function allKilled(scene: Scene): Promise<Played> {
	logIn(scene);
	const started = startHost(scene, "leaves.mjs", ["wait"]);
	const remaining = () => readdirSync(scene.path("tmp"));
	const isChild = (command: string) => command.includes("--append-system-prompt") && !command.includes("warden");
	await until(() => survivors(scene.mark).some(({ command }) => isChild(command)), "the start of the child");
	const others = survivors(scene.mark).map(({ pid }) => pid);
	for (const pid of others) signal(pid, "SIGSTOP");
	await started.end();
	for (const pid of others) signal(pid, "SIGKILL");
	await until(() => survivors(scene.mark).length === 0, "the end of all processes");
	assert.equal(remaining().length, 1, "one temporary directory remains");
	assert.match(filesOf(scene).join(" "), /auth\.json/, "a copy of the credentials remains");
	const env = { ...scene.options.env, FAKE_PI_SCENARIO: "answers" };
	const next = await host({ options: { ...scene.options, env } }, "disk.mjs");
	assert.deepEqual([next.code, next.stderr], [0, ""]);
	return { files: filesOf(scene) };
}

/** Some of them only look at the machine, and end by themselves. */
function signal(pid: number, name: NodeJS.Signals): void {
	try {
		process.kill(pid, name);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

/** Only root can give a file to another user. */
export const lacksOthers = !isRoot && "only root can give files away";

export const allowsSandbox = allows("landlock");

/** An entry of another user at the database's path. It stays unchanged, and the result reports it. */
export function withForeignEntry(kind: string): (scene: Scene) => Promise<Played> {
	return async (scene) => {
		const place = scene.path("agent/subagents/runs.db");
		const target = scene.write("precious", "precious");
		chmodSync(target, 0o644);
		mkdirSync(scene.path("agent/subagents"));
		const put: Record<string, () => unknown> = {
			link: () => symlinkSync(target, place),
			"hard link": () => linkSync(target, place),
			fifo: () => spawnSync("mkfifo", [place]),
			directory: () => mkdirSync(place),
			"another user's": () => chownSync(scene.write("agent/subagents/runs.db", ""), nobody, nobody),
		};
		put[kind]?.();
		const stateOf = (path: string) => [lstatSync(path).mode, lstatSync(path).uid, lstatSync(path).ino];
		const before = [stateOf(place), stateOf(target)];
		const ended = await inOtherHost(scene);
		assert.deepEqual([stateOf(place), stateOf(target)], before, "neither the path nor its target has changed");
		assert.equal(readFileSync(target, "utf8"), "precious");
		const notes = ended.result?.details.results[0]?.diagnostics?.join("\n") ?? "";
		assert.match(notes, /cannot use `.*runs\.db`: it (is|has|belongs)/);
		rmSync(place, { recursive: true });
		return { ...ended, files: (ended.files ?? []).filter((name) => name !== "subagents/runs.db") };
	};
}

/** The database goes while a child works. */
export async function losingDatabase(scene: Scene): Promise<Played> {
	const files = () => readdirSync(scene.path("agent/subagents")).filter((name) => name.startsWith("runs.db"));
	let isRemoved = false;
	const handle = scene.start({}, (update) => {
		if (isRemoved || !update.content.some(({ text }) => text.includes("so far"))) return;
		isRemoved = true;
		for (const name of files()) rmSync(scene.path(`agent/subagents/${name}`));
	});
	const result = await handle.result();
	assert.ok(isRemoved, "the database was removed during the run");
	return { result, files: filesOf(scene) };
}

/** A child in the sandbox says that its session is of two tebibytes. */
export async function claimingRoom(scene: Scene): Promise<Played> {
	const session = 'while [ $# -gt 0 ]; do [ "$1" = --session ] && session=$2; shift; done';
	const claim = 'why=$(truncate -s 2T "$session" 2>&1 | sed "s/.*: //"); begin; said "$why"; settled';
	scene.options.piCommand = scene.pi("claims.sh", `cat > /dev/null; ${session}; ${claim}`);
	const ended = await inOtherHost(scene);
	const { sessionFile = "" } = ended.result?.details.results[0] ?? {};
	assert.ok(statSync(sessionFile).size < 1 << 20);
	return ended;
}

/** Two hosts with several runs each; the columns show the last one. */
export async function twoHosts(scene: Scene): Promise<Played> {
	const parents = [scene.path("tmp"), scene.path("sessions")];
	for (const place of parents) mkdirSync(place, { recursive: true });
	const ended = await Promise.all(["one", "two"].map((name) => host(scene, "several.mjs", [name, "8"])));
	const results: ToolResult[] = ended.flatMap(({ code, stderr, stdout }) => {
		assert.deepEqual([code, stderr], [0, ""]);
		return JSON.parse(stdout);
	});
	const tasks = ["one", "two"].flatMap((name) => Array.from({ length: 8 }, (_, index) => `${name} ${index}`));
	assert.deepEqual(
		results.map((result) => result.content[0]?.text),
		tasks.map((task) => `You said: ${task}`),
	);
	for (const key of ["runId", "sessionFile"] as const) {
		const values = results.map(({ details }) => (key === "runId" ? details.runId : details.results[0]?.sessionFile));
		assert.equal(new Set(values).size, tasks.length, `each run has its own ${key}`);
	}
	const last = results.at(-1);
	return { ...(last ? { result: last } : {}), files: [] };
}
