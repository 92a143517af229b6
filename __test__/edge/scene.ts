/** A throw-away world for runs through the addon: an agent directory, a project and a scripted stand-in for pi. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { type RunHandle, type RunOptions, type SingleResult, startRun, type ToolResult } from "../../native.js";
import { patienceMs, eventually as until } from "../support/eventually.ts";
import { assertNothingLeft, markVariable } from "../support/survivors.ts";

export { patienceMs, until };

/**
 * Shell functions that speak pi's event stream. A script also has `here`, the root of its scene, and `gate`, which waits
 * until the test opens it.
 */
const events = String.raw`
begin() { printf '{"type":"session","version":3}\n{"type":"agent_start"}\n{"type":"turn_start"}\n'; }
said() { # text [stopReason [more fields]]
	test -n "$2" || set -- "$1" stop
	printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"%s"}],"provider":"fake","model":"m1","usage":{"input":10,"output":5,"cacheRead":2,"cacheWrite":1,"totalTokens":18,"cost":{"input":0.1,"output":0.2,"cacheRead":0,"cacheWrite":0,"total":0.3}},"stopReason":"%s"%s}}\n' "$1" "$2" "$3"
}
called() { # tool, its arguments as JSON
	printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"%s","arguments":%s}],"stopReason":"toolUse"}}\n' "$1" "$2"
}
tool_start() { printf '{"type":"tool_execution_start","toolCallId":"c1","toolName":"%s","args":{}}\n' "$1"; }
tool_end() { printf '{"type":"tool_execution_end","toolCallId":"c1","toolName":"%s","result":{},"isError":false}\n' "$1"; }
delta() { printf '{"type":"message_update","usage":{},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"%s"}}\n' "$1"; }
settled() { printf '{"type":"agent_end","messages":[],"willRetry":false}\n{"type":"agent_settled","aborted":false}\n'; }
gate() { until test -e "$here/$1"; do sleep 0.02; done; }
hang() { exec sleep 600; }
`;

/** A child that answers. */
export const answers = "begin; said 'Done.'; settled";

/** A child that has begun an answer and says no more. */
export const hangs = "echo $$ > $here/pid; begin; delta 'so far'; hang";

// Environment variables of a hosting pi must not reach the runs of these tests.
for (const name of Object.keys(process.env)) if (name.startsWith("PI_")) delete process.env[name];

type Change = Partial<RunOptions>;

/**
 * Lets the fake pi of a scene write down its observations, which the read-only sandbox would refuse, and read its task
 * to the end, as pi does in its `json` mode. A test about the sandbox or the protocol says so in its own configuration.
 */
function unconfined<T extends Change>(options: T): T {
	return { ...options, config: { sandbox: "off", protocol: "json", ...options.config } };
}

/** The directories of all scenes. A store that later tests end may write once more into the directory of an earlier one. */
const roots: string[] = [];
process.on("exit", () => {
	for (const root of roots) rmSync(root, { recursive: true, force: true });
});

/** The directory of a test's runs. It is removed after the test, which fails if a process remains. */
export class Scene {
	readonly root: string;
	readonly project: string;
	readonly agentDir: string;
	/** Of every process that is started here. */
	readonly mark = randomUUID();
	readonly options: RunOptions;

	constructor(test: TestContext, script: string, change: Change = {}) {
		this.root = realpathSync(mkdtempSync(join(tmpdir(), "psn-edge-")));
		roots.push(this.root);
		test.after(() => this.#close());
		this.project = join(this.root, "project");
		this.agentDir = join(this.root, "agent");
		for (const folder of [join(this.project, ".git"), this.agentDir]) mkdirSync(folder, { recursive: true });
		this.options = unconfined({
			agent: "explorer",
			task: "look around",
			cwd: this.project,
			agentDir: this.agentDir,
			// A child that boots ahead has no task yet, and must not clear the task of the child before it.
			piCommand: this.pi("pi.sh", `cat > "$here/task.$$"; mv "$here/task.$$" "$here/task"\n${script}`),
			...change,
			env: { [markVariable]: this.mark, ...change.env },
		});
	}

	/** Writes a stand-in for pi and returns the command that starts it. */
	pi(name: string, script: string): string[] {
		return ["/bin/sh", this.write(name, `#!/bin/sh\nhere=${this.root}\n${events}\n${script}\n`)];
	}

	/** Writes a file, folders included, and returns its path. */
	write(name: string, text: string | Uint8Array): string {
		const path = this.path(name);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, text);
		return path;
	}

	/** Lets children go on that wait at this gate. */
	open(gate = "go"): void {
		this.write(gate, "");
	}

	path(name: string): string {
		return join(this.root, name);
	}

	exists(name: string): boolean {
		return existsSync(this.path(name));
	}

	read(name: string): string {
		return readFileSync(this.path(name), "utf8");
	}

	/** Returns true if a child has read its task. */
	get wasStarted(): boolean {
		return existsSync(this.path("task"));
	}

	start(change: Change = {}, ...callbacks: Callbacks): RunHandle {
		return startRun(unconfined({ ...this.options, ...change }), ...callbacks);
	}

	/** Runs to the end, which has to come in time. */
	async run(change: Change = {}, ...callbacks: Callbacks): Promise<ToolResult> {
		return await inTime(this.start(change, ...callbacks).result(), "the result");
	}

	/** The process id that the child has written into `pid`. */
	async childPid(): Promise<number> {
		await until(() => existsSync(this.path("pid")) && this.read("pid").endsWith("\n"), "the child's process id");
		return Number(this.read("pid"));
	}

	/** The files below the agent directory that runs have made, sorted. */
	remainingFiles(): string[] {
		const entries = readdirSync(this.agentDir, { recursive: true, withFileTypes: true });
		const files = entries.filter((entry) => !entry.isDirectory());
		return files
			.filter(({ parentPath, name }) => !isOfStore(relative(this.agentDir, join(parentPath, name))))
			.map(({ name }) => name)
			.sort();
	}

	async #close(): Promise<void> {
		try {
			await assertNothingLeft(this.mark);
		} finally {
			rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
		}
	}
}

/** Returns true if a path in an agent directory belongs to the store, which outlives runs. */
export function isOfStore(path: string): boolean {
	return /^subagents\/(runs\.db|processes|scratch$)/.test(path);
}

type Callbacks = [onUpdate?: Parameters<typeof startRun>[1], host?: Parameters<typeof startRun>[2]];

/** Waits for something that announces itself; rejects when it does not come. */
export async function inTime<T>(promise: Promise<T>, what: string, limitMs = patienceMs): Promise<T> {
	const stop = new AbortController();
	const late = delay(limitMs, undefined, { signal: stop.signal }).then(() =>
		assert.fail(`timed out waiting for: ${what}`),
	);
	try {
		return await Promise.race([promise, late]);
	} finally {
		stop.abort();
		late.catch(() => undefined);
	}
}

/** Waits until a process has ended. */
export async function untilEnded(pid: number, limitMs = patienceMs): Promise<void> {
	await until(() => !isAlive(pid), `the end of process ${pid}`, limitMs);
}

export function isAlive(pid: number): boolean {
	const status = `/proc/${pid}/status`;
	try {
		process.kill(pid, 0);
		// A zombie has ended too.
		return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, "utf8"));
	} catch {
		// It may go between two looks, too.
		return false;
	}
}

/** The text of a result. */
export function textOf(result: ToolResult): string {
	return result.content.map((block) => block.text).join("\n");
}

/** The one run of a result. */
export function single(result: ToolResult): SingleResult {
	assert.equal(result.details.results.length, 1, textOf(result));
	return result.details.results[0] ?? assert.fail("the run has no result");
}

/** Returns the parts of a result that a program would read. */
export function shape(result: ToolResult): [string | undefined, number, string, boolean] {
	const { exitCode, outcome } = single(result);
	return [result.details.error?.code, exitCode, outcome, result.isError ?? false];
}

/** Returns the process warnings of a test. */
export function warningsIn(t: TestContext): string[] {
	const warnings: string[] = [];
	const note = ({ message }: Error) => void warnings.push(message);
	process.on("warning", note);
	t.after(() => process.off("warning", note));
	return warnings;
}
