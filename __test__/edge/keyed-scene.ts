/** Runs with keys in a scene, in this process and in others. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import type { WorkflowOptions } from "../../index.js";
import { type RunOptions as NativeOptions, startRun, type ToolResult, workflows } from "../../native.js";
import { inTime, Scene, single, until } from "./scene.ts";

/**
 * A child that counts its request and answers with the number. Its session has its task. The task `hangs` waits at a gate,
 * `spends` does so after a turn, and a child that finds a task in its session says that it has continued.
 */
const child = String.raw`
for word in "$@"; do test "$before" = --session && session=$word; before=$word; done
cat $here/task >> $here/tasks; echo >> $here/tasks
begin
if grep -qs '"role":"user"' "$session"; then said 'Continued.'; settled; exit; fi
printf '{"type":"message","id":"1","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"task"}]}}\n' >> "$session"
echo x >> $here/requests
n=$(wc -l < $here/requests | tr -d ' ')
if grep -q fails $here/task; then said '' error ',"errorMessage":"401: no key"'; settled; exit; fi
if grep -q long $here/task; then long=$(head -c 70000 /dev/zero | tr '\0' 'y'); said "begin $long end"; settled; exit; fi
if grep -q spends $here/task; then said 'Thinking.' toolUse; gate go; fi
if grep -q hangs $here/task; then delta 'so far'; gate go; fi
said "Answer $n"
settled
`;

export const config = { sandbox: "off", protocol: "json", retry: { enabled: false } };

export function keyedScene(t: TestContext): Scene {
	return new Scene(t, child);
}

export const requests = (scene: Scene) =>
	scene.exists("requests") ? scene.read("requests").split("\n").length - 1 : 0;

/** The options of a run with a key. */
export const keyed = (scene: Scene, key: string, change: Partial<NativeOptions> = {}): NativeOptions => ({
	...scene.options,
	config,
	workflow: { id: "w", key },
	...change,
});

export const result = (scene: Scene, key: string, change: Partial<NativeOptions> = {}): Promise<ToolResult> =>
	inTime(startRun(keyed(scene, key, change)).result(), `the result of ${key}`);

export const outputOf = (ended: ToolResult) => single(ended).output;
export const notesOf = (ended: ToolResult) => (single(ended).diagnostics ?? []).join("\n");

/** Another process with a run, or with a script of runs. */
export class OtherProgram {
	readonly lines: { update?: string; result?: ToolResult; error?: string }[] = [];
	readonly #process: ChildProcess;
	readonly #exited: Promise<unknown>;

	constructor(options: { env?: Record<string, string> | undefined }, name = "keyed-run") {
		const host = fileURLToPath(new URL(`hosts/${name}.mjs`, import.meta.url));
		const env = { ...process.env, ...options.env };
		this.#process = spawn(process.execPath, [host, JSON.stringify(options)], {
			stdio: ["ignore", "pipe", "inherit"],
			env,
		});
		this.#exited = once(this.#process, "exit");
		let text = "";
		this.#process.stdout?.on("data", (data) => {
			text += data;
			const lines = text.split("\n");
			text = lines.pop() ?? "";
			this.lines.push(...lines.map((line) => JSON.parse(line)));
		});
	}

	async kill(): Promise<void> {
		this.#process.kill("SIGKILL");
		await inTime(this.#exited, "the end of the program");
	}

	/** Waits for the end of the program. */
	async ended(): Promise<void> {
		await inTime(this.#exited, "the end of the program");
	}

	async result(): Promise<ToolResult> {
		await this.ended();
		return this.lines.at(-1)?.result ?? assert.fail("the program has no result");
	}
}

export const listed = async (scene: Scene) => (await workflows({ ...scene.options }))[0];

/** Starts a run that hangs in another process, and waits until its child works. */
export async function hanging(scene: Scene, change: Partial<NativeOptions> = {}): Promise<OtherProgram> {
	const program = new OtherProgram(keyed(scene, "a", { task: "hangs", ...change }));
	await until(() => requests(scene) === 1, "its request");
	// The next process finds the session once the state is stored.
	await until(async () => (await listed(scene))?.runs[0]?.state === "running", "its stored state");
	return program;
}

/** Starts a script with one run in another process. */
export function otherScript(scene: Scene, words: string): OtherProgram {
	return new OtherProgram({ ...scriptOptions(scene), task: words } as { env?: Record<string, string> }, "keyed-script");
}

/** The options of a script in a scene. */
export function scriptOptions(scene: Scene, change: WorkflowOptions = {}): WorkflowOptions {
	const { cwd, agentDir, env, piCommand } = scene.options;
	return { cwd, agentDir, env, piCommand, config, ...change };
}

export const task = (key: string, words = `look at ${key}`) => ({ key, agent: "explorer", task: words });

/** Returns the error of a promise. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
	const error = await inTime(
		promise.then(
			() => undefined,
			(error: unknown) => error,
		),
		"the error",
	);
	return error ?? assert.fail("there is no error");
}
