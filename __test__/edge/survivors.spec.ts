/**
 * Nothing is left running. Each row ends a run in another way, with a tree below its child that resists (see
 * `support/programs/tree.bash`), and counts the remaining processes: none. The same row with only a process group, like
 * a host without the warden, leaves the listed processes, which proves that the warden ends them.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { RunOptions } from "../../native.js";
import { slower } from "../support/machine.ts";
import { escapees, kinds } from "../support/tree.ts";
import { allows, keepsNamespaces, withoutNamespaces } from "../support/warden.ts";
import { shape, single, textOf, until } from "./scene.ts";
import { type HostEnd, type Level, TreeScene } from "./tree-scene.ts";

const LINUX = { skip: process.platform !== "linux" && "counts in /proc" };

/**
 * The time from the end of a run, or of its host, to the end of the last process. The measured time is below 100 ms.
 */
const goneMs = 2_000;

/**
 * The time if a process group ends the processes: a grace period, half a second for abandoned ones, a busy machine. The
 * time limit of the row is added (`limitOf`).
 */
const leftMs = 10_000;

/**
 * All processes except the child itself, which does not ignore SIGHUP: when a host ends without a supervisor, the
 * kernel hangs up the group because a stopped process is in it and no process is left to continue it.
 */
const orphans = kinds.filter((kind) => kind !== "pi").sort();

const hangs = "hang";

interface Row {
	how: string;
	deed: string;
	/** The child's script once its tree is running; by default it hangs. */
	script?: string;
	config?: RunOptions["config"] & { timeoutMs?: number; idleTimeoutMs?: number };
	terminal?: boolean;
	/** The action on the host, or from outside, once the tree is running. */
	act?: (scene: TreeScene) => Promise<void>;
	/** The result of the run, if a host survives to report it. */
	result?: ReturnType<typeof shape>;
	/** The exit status of the host, if it ends before its run. */
	host?: Pick<HostEnd, "code" | "signal">;
	/** The processes that a process group leaves. */
	remaining: string[];
	/** A slow host can end the process group before it is gone itself; then only `escapees` remain. */
	mayEndGroup?: boolean;
}

/** A host that ends by itself. It cancels its runs and does not wait for their end. */
const ended = (how: string, deed: string, code: number): Row => ({
	how,
	deed,
	host: { code, signal: null },
	remaining: orphans,
	mayEndGroup: true,
});

const signalled = (signal: NodeJS.Signals): Row => ({
	how: `${signal} to the host`,
	deed: "wait",
	act: async (scene) => {
		process.kill(await scene.hostPid(), signal);
	},
	host: { code: null, signal },
	remaining: orphans,
});

const aborted: Row["result"] = ["SUBAGENT_FAILED", 130, "aborted", true];

const rows: Row[] = [
	{
		how: "the child's own end",
		deed: "wait",
		script: "said 'Done.'; settled",
		result: [undefined, 0, "completed", false],
		remaining: escapees,
	},
	{
		how: "a failure of the child",
		deed: "wait",
		script: "said 'Done.' toolUse; exit 3",
		result: ["SUBAGENT_FAILED", 3, "failed", true],
		remaining: escapees,
	},
	{ how: "an abort", deed: "abort", result: aborted, remaining: escapees },
	{
		how: "an abort of a child that is stopped",
		deed: "stop the child and abort",
		result: aborted,
		remaining: escapees,
	},
	{
		how: "the hard limit",
		deed: "wait",
		config: { timeoutMs: 2_500 * slower },
		result: ["SUBAGENT_TIMEOUT", 124, "hard_timeout", true],
		remaining: escapees,
	},
	{
		how: "the limit of silence",
		deed: "wait",
		config: { idleTimeoutMs: 1_500 * slower },
		result: ["SUBAGENT_TIMEOUT", 124, "idle_timeout", true],
		remaining: escapees,
	},
	{
		how: "the end of a budget",
		deed: "wait",
		script: "called read '{}'; hang",
		config: { budget: { maxTurns: 1 } },
		result: ["SUBAGENT_FAILED", 1, "budget", true],
		remaining: escapees,
	},
	{ how: "a handle that nobody keeps", deed: "drop the handle", remaining: escapees },
	{ how: "the end of a worker thread", deed: "end the worker", remaining: escapees },
	ended("process.exit() of the host", "exit", 3),
	ended("an uncaught exception of the host", "throw", 1),
	ended("an unhandled rejection of the host", "reject", 1),
	signalled("SIGTERM"),
	signalled("SIGINT"),
	signalled("SIGHUP"),
	signalled("SIGKILL"),
	{
		how: "a terminal that goes away",
		deed: "wait",
		terminal: true,
		act: async (scene) => {
			const host = await scene.hostPid();
			scene.cut();
			await untilDead(host);
		},
		remaining: orphans,
	},
	{
		how: "SIGKILL to the host of a child that is stopped",
		deed: "wait",
		act: async (scene) => {
			process.kill(scene.tree.pid("pi"), "SIGSTOP");
			process.kill(await scene.hostPid(), "SIGKILL");
		},
		remaining: orphans,
	},
];

/** A child that is held by more than the warden ends in the same ways; these go through different hands. */
const inSandbox = ["the child's own end", "an abort", "the hard limit", "SIGKILL to the host"];

/**
 * A child's attempt to keep its warden from checking and killing: it limits the warden's descriptors and processor
 * time. `bare` has left its tree by `setsid env -i`. The last word is the result.
 */
const cripples = `for limit in nofile cpu; do
	prlimit --pid $PPID --$limit=0:0 2> /dev/null && echo $limit >> "$PI_CODING_AGENT_DIR/crippled"
done
[ ! -e "$PI_CODING_AGENT_DIR/crippled" ] || exit 9
`;

/** The strength of the sandbox. */
const layers: { where: string; before: readonly string[]; skip: string | false }[] = [
	{ where: "the sandbox", before: [], skip: false },
	{ where: "the sandbox, without namespaces,", before: withoutNamespaces, skip: keepsNamespaces() },
];

/** Starts a row and goes on until there is nothing more to do for its end. */
async function play(row: Row, scene: TreeScene): Promise<void> {
	scene.start(row.deed);
	await scene.up();
	await row.act?.(scene);
	if (!row.host) return;
	const { code, signal, stderr } = await scene.ended();
	assert.deepEqual({ code, signal }, row.host, stderr);
}

describe("with the warden no process survives", LINUX, () => {
	for (const row of rows) {
		it(row.how, async (t) => {
			const scene = sceneOf(t, row, "warden");
			await play(row, scene);
			if (row.result) {
				const { result, stderr } = await scene.ended();
				assert.ok(result, `the host printed no result; ${stderr}`);
				assert.deepEqual(shape(result), row.result, textOf(result));
			}
			assert.deepEqual(await scene.tree.gone(goneMs), []);
		});
	}
});

for (const { where, before, skip } of layers) {
	describe(`with the warden and ${where} no attacker of the warden survives`, LINUX, () => {
		for (const row of rows.filter(({ how }) => inSandbox.includes(how))) {
			it(row.how, { skip: skip || (!allows("landlock") && "no Landlock here") }, async (t) => {
				const { script = hangs, config = {} } = row;
				const options = { level: "warden", config, sandboxed: true, before } as const;
				const scene = new TreeScene(t, { ...options, script: `${cripples}${script}` });
				await play(row, scene);
				if (row.result) {
					const { result, stderr } = await scene.ended();
					assert.ok(result, `the host printed no result; ${stderr}`);
					assert.deepEqual(shape(result), row.result, textOf(result));
					const hasNamespace = allows("pid-ns") && before.length === 0;
					assert.equal(single(result).supervision?.includes("pid-ns"), hasNamespace);
				}
				assert.deepEqual(await scene.tree.gone(goneMs), []);
			});
		}
	});
}

describe("with only a process group a process survives", LINUX, () => {
	for (const row of rows) {
		it(row.how, async (t) => {
			const scene = sceneOf(t, row, "process group");
			await play(row, scene);
			// The test does not wait for a result, which arrives after the processes that hold the output have had their time.
			const found = await scene.tree.settled(row.remaining, limitOf(row) + leftMs);
			const certain = row.mayEndGroup ? escapees : row.remaining;
			assert.deepEqual(row.mayEndGroup ? found.filter((kind) => certain.includes(kind)) : found, certain);
		});
	}
});

/**
 * Returns the time for which a run with a time limit may continue after its tree is running. Other runs have ended by
 * then.
 */
function limitOf({ config = {} }: Row): number {
	return Math.max(config.timeoutMs ?? 0, config.idleTimeoutMs ?? 0);
}

function sceneOf(test: ConstructorParameters<typeof TreeScene>[0], row: Row, level: Level): TreeScene {
	const { script = hangs, config = {}, terminal = false } = row;
	return new TreeScene(test, { level, script, config, terminal });
}

async function untilDead(pid: number): Promise<void> {
	const isThere = () => {
		try {
			return process.kill(pid, 0);
		} catch {
			return false;
		}
	};
	await until(() => !isThere(), `the end of process ${pid}`);
}
