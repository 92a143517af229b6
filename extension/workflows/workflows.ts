/**
 * The scripts of `/subagents workflow`, each in a process of its own. The process runs the user's text with the Node that
 * runs pi, and ends with pi. Its runs are in the store of this pi.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { AllowedScript, HostScript, SurfaceOptions, WorkflowEnd, WorkflowRecord } from "../../native.js";
import { packageFolder } from "../host/build.ts";
import { guardedTimeout, runGuarded } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import { defined } from "../host/stored.ts";
import { oneLine } from "../ui/text.ts";

/** The maximum length of the kept output, in characters: the newest part. */
const MAX_OUTPUT = 64 * 1024;

/** The time that a stopped script has for its own end. */
const STOP_MS = 5_000;

/** The time between the requests to a process that does not end: SIGTERM, then SIGKILL. */
const KILL_MS = 2_000;

/** The time for the last output of an ended process. A program that it has started may keep the pipes open. */
const OUTPUT_MS = 500;

/** The reason why this pi cannot run scripts, if it cannot: Bun runs pi as one program, which would start itself. */
export const cannotRunScripts =
	process.versions.bun === undefined ? undefined : "This pi contains no Node, and cannot run scripts";

/** The process of a script. */
interface Workflow {
	readonly path: string;
	readonly place: SurfaceOptions;
	readonly child: ChildProcess;
	readonly ended: Promise<void>;
	wasStopped: boolean;
}

/** The processes of this pi. They continue across `/reload`, which does not evaluate this module again. */
const live = new Set<Workflow>();

/** True if pi ends. Its workflows are then interrupted, and have not failed. */
let isClosing = false;

/** Receives the end of a process. The newest load of the extension sets it. */
let report: (end: WorkflowEnd) => unknown = () => {};

export function onWorkflowEnd(listener: typeof report): void {
	report = listener;
}

/** Starts a script that the user has allowed. `place` has the options of the session. Resolves when the process has ended. */
export function startWorkflow(script: AllowedScript, place: SurfaceOptions): Promise<void> {
	const { path, ...allowed } = script;
	const host = new URL("extension/workflows/host.mjs", packageFolder);
	const args = ["--import", host.href, path];
	// Options for Node are meant for pi: an inspector would stop the script before it begins.
	const env = { ...process.env, NODE_OPTIONS: "" };
	const child = spawn(process.execPath, args, { cwd: place.cwd, env, stdio: "pipe", windowsHide: true });
	const since = performance.now();
	const output = newestLines();
	const errors = newestLines();
	child.stdout.setEncoding("utf8").on("data", output.add);
	child.stderr.setEncoding("utf8").on("data", errors.add);
	// A process that has ended already says so by its exit code.
	child.stdin.on("error", () => undefined);
	const start = { script: pathToFileURL(path).href, ...allowed, place: { ...place, file: path } };
	child.stdin.write(`${JSON.stringify(start)}\n`);
	const { promise: ended, resolve } = Promise.withResolvers<void>();
	const workflow: Workflow = { path, place, child, ended, wasStopped: false };
	live.add(workflow);
	const end = async (exitCode: number | null, problem = "") => {
		if (!live.delete(workflow)) return;
		// The panel and other pis stop a workflow through the store.
		const stored = exitCode === 0 || workflow.wasStopped ? [] : await recordsOf(workflow);
		const wasStopped = workflow.wasStopped || stored.some(({ state }) => state === "stopped");
		const isFailure = exitCode !== 0 && !wasStopped;
		// A script that has failed is not started again with the next pi, but only by the user.
		if (isFailure && !isClosing) await stopStored(workflow, stored);
		const shown = isFailure ? `${output.text()}\n${errors.text()}${problem}` : output.text();
		const durationMs = performance.now() - since;
		const described = { file: path, exitCode: exitCode ?? undefined, wasStopped, durationMs, output: shown };
		await runGuarded("reporting the end of a workflow", () => report(defined<WorkflowEnd>(described)));
		resolve();
	};
	child.once("error", (error) => void end(null, error.message));
	child.once("close", (code) => void end(code));
	child.once("exit", () => {
		const closePipes = () => {
			child.stdout.destroy();
			child.stderr.destroy();
		};
		guardedTimeout("closing the output of a workflow", closePipes, OUTPUT_MS);
	});
	return ended;
}

/**
 * Keeps the newest lines of an output. It begins only at the start of a line: a part of a line could be a part of a secret,
 * which no one would recognize.
 */
export function newestLines(limit = MAX_OUTPUT): { add(text: string): void; text(): string } {
	let kept = "";
	let isInsideLine = false;
	const dropLine = () => {
		const end = kept.indexOf("\n");
		isInsideLine = end === -1;
		kept = isInsideLine ? "" : kept.slice(end + 1);
	};
	return {
		add(text) {
			kept += text;
			if (isInsideLine) dropLine();
			if (kept.length <= limit) return;
			kept = kept.slice(-limit);
			dropLine();
		},
		text: () => kept,
	};
}

/** Returns the stored workflows of a process. */
async function recordsOf({ child, place }: Workflow): Promise<WorkflowRecord[]> {
	const all = await loadAddon()
		.native?.workflows(place, true)
		.catch(() => undefined);
	return (all ?? []).filter(({ hostPid }) => hostPid === child.pid);
}

/** Returns the scripts that have not ended. */
export const liveScripts = (): HostScript[] =>
	[...live].flatMap(({ path, child: { pid } }) => (pid === undefined ? [] : [{ path, pid }]));

/** Ends all scripts, or only those with these process ids. Resolves when they have ended. */
export async function stopWorkflows(pids?: readonly number[]): Promise<void> {
	const isMeant = ({ child: { pid } }: Workflow) => !pids || (pid !== undefined && pids.includes(pid));
	const stopped = [...live].filter(isMeant).map(async (workflow) => {
		await stop(
			workflow,
			(await recordsOf(workflow)).filter(({ state }) => state === "running"),
		);
	});
	await Promise.all(stopped);
}

/** Stores first that the workflow was stopped: an interrupted one would continue at the next start of pi. */
async function stop(workflow: Workflow, running: readonly WorkflowRecord[]): Promise<void> {
	workflow.wasStopped = true;
	await stopStored(workflow, running);
	if (running.length === 0) workflow.child.kill();
	const timer = guardedTimeout("ending a workflow", () => kill(workflow), STOP_MS);
	await workflow.ended;
	clearTimeout(timer);
}

async function stopStored({ place }: Workflow, records: readonly WorkflowRecord[]): Promise<void> {
	const { native } = loadAddon();
	await Promise.allSettled(records.map(({ id, project }) => native?.stopWorkflow({ ...place, cwd: project }, id)));
}

/** Ends a process, also one that ignores the request. */
function kill({ child, ended }: Workflow): void {
	child.kill();
	const timer = guardedTimeout("killing a workflow", () => child.kill("SIGKILL"), KILL_MS);
	void ended.then(() => clearTimeout(timer));
}

/** Ends all workflows, because pi ends. Returns a sentence for the user about those that the next pi continues. */
export async function closeWorkflows(): Promise<string | undefined> {
	report = () => {};
	isClosing = true;
	const all = [...live];
	const records = await Promise.all(all.map(recordsOf));
	for (const workflow of all) kill(workflow);
	await Promise.all(all.map(({ ended }) => ended));
	const interrupted = all.filter((_, at) => records[at]?.some(({ state }) => state === "running"));
	const names = interrupted.map(({ path }) => oneLine(basename(path)));
	if (names.length === 0) return undefined;
	const [what, them] = names.length === 1 ? ["1 workflow", "it"] : [`${names.length} workflows`, "them"];
	return `${what} ended with pi: ${names.join(", ")}. The next pi of this project continues ${them}`;
}
