/** Plays one scenario in real pi, with this package or with the extension that pi ships as an example. */

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import {
	call,
	endAll,
	ModelServer,
	newestPi,
	packageDir,
	piCommand,
	type Script,
	type Step,
	say,
	startRpc,
	survivors,
	type ToolEnd,
	World,
} from "../../__test__/support/pi.ts";

/** The package that delegates. */
export type Way = "this package" | "pi's example";

/** The settings of a scenario. */
export interface Scenario {
	/** Steps of `fake-pi`, or the name of one of its scenarios. If absent, the child is real pi. */
	child?: string | unknown[];
	/** The model of a real child. */
	model?: (answers: number) => Step[];
	/** The arguments of the parent's call. */
	args?: Record<string, unknown>;
	/** The same call for this package, if its names differ. */
	ours?: { tool: string; args: Record<string, unknown> };
	/** The action to take once the child has read the file `at-work`. */
	action?: "abort" | "kill pi";
	/** The time after which a call counts as one without an end. */
	patienceMs?: number;
}

/** The result of a scenario. */
export interface Played {
	/** True if the call has ended. */
	ended: boolean;
	/** True if pi has exited, although the scenario did not end it. */
	piEnded: boolean;
	isError: boolean;
	/** The text for the model. */
	text: string;
	/** The number of processes that survive the call, except pi itself. */
	survivors: number;
	/** The growth of pi's memory above its value before the call, at its peak, in MiB. */
	grownMiB: number;
	/** True if the child wrote the file that it must not write. */
	wrote: boolean;
	/** The number of files and directories that the call has left in the temporary directory. */
	litter: number;
}

/** Generated at each start, so that no file contains it. */
export const token = `ghp_${randomBytes(18).toString("hex")}`;

/** The name of the file that a child reads to show that it is working. */
export const atWork = "at-work";

/** The same agent for both packages: it only looks, and has a shell. */
const agent = `---
name: looker
description: Looks around.
tools: read, grep, find, ls, bash
readonly: true
---

You look around. You change nothing.
`;

const task = "Look around.";
const patienceMs = 20_000;

/** Limits short enough to wait for. All other settings have their default values. */
const limits = { idleTimeoutMs: 4_000, graceMs: 500 };

const fakePi = join(packageDir, "fake-pi/fake-pi.mjs");

export async function play(way: Way, scenario: Scenario): Promise<Played> {
	const { child, args = { agent: "looker", task }, ours } = scenario;
	const called = ours && way === "this package" ? ours : { tool: "subagent", args };
	const script: Script = ({ userText, toolAnswers }) => {
		if (userText === "Delegate") return toolAnswers.length > 0 ? [say("Done.")] : [call(called.tool, called.args)];
		return scenario.model?.(toolAnswers.length) ?? [say("Yes.")];
	};
	const server = await ModelServer.start(script);
	const world = new World({ baseUrl: server.baseUrl });
	try {
		world.writeAgentDir("agents/looker.md", agent);
		const extensions = way === "this package" ? packageExtensions(world, child) : exampleExtensions(world, child);
		return await delegate(world, extensions, scenario, called.tool);
	} finally {
		await endAll(world.mark);
		await world.close();
		await server.close();
	}
}

function packageExtensions(world: World, child: Scenario["child"]): string[] {
	const standIn = child && { piCommand: [process.execPath, fakePi], env: { FAKE_PI_SCENARIO: steps(world, child) } };
	world.writeAgentDir("subagents.json", JSON.stringify({ subagents: { ...limits, ...standIn } }));
	return [packageDir];
}

/**
 * Sets up pi's example. It starts the program that it runs in again; an extension next to it makes this program the
 * stand-in.
 */
function exampleExtensions(world: World, child: Scenario["child"]): string[] {
	const [, program] = piCommand(newestPi);
	const example = join(dirname(program), "../../examples/extensions/subagent/index.ts");
	if (!child) return [example];
	world.env.FAKE_PI_SCENARIO = steps(world, child);
	const statement = `process.argv[1] = ${JSON.stringify(fakePi)}`;
	return [example, world.writeAgentDir("stand-in.ts", `export default () => { ${statement}; };`)];
}

function steps(world: World, child: string | unknown[]): string {
	return typeof child === "string" ? child : world.writeAgentDir("scenario.json", JSON.stringify(child));
}

async function delegate(world: World, extensions: string[], scenario: Scenario, tool: string): Promise<Played> {
	const rpc = startRpc(world, { args: ["-ne", ...extensions.flatMap((path) => ["-e", path])], limitMs: 120_000 });
	await rpc.send({ type: "get_state" });
	const { pid } = rpc.pi;
	const before = memory(pid);
	let peak = before;
	const watch = setInterval(() => {
		peak = Math.max(peak, memory(pid));
	}, 20);
	try {
		const isEnd = ({ type, toolName }: { type: string; toolName?: unknown }) =>
			type === "tool_execution_end" && toolName === tool;
		void rpc.send({ type: "prompt", message: "Delegate" }).catch(() => undefined);
		const ending = rpc.log.waitFor(isEnd, scenario.patienceMs ?? patienceMs).catch(() => undefined);
		if (scenario.action) await rpc.log.waitFor(isAtWork, patienceMs);
		if (scenario.action === "abort") void rpc.send({ type: "abort" }).catch(() => undefined);
		if (scenario.action === "kill pi") process.kill(pid, "SIGKILL");
		const end = (await ending) as ToolEnd | undefined;
		await settled(world, pid, scenario.action === "kill pi" ? 5_000 : 1_000);
		return {
			ended: end !== undefined,
			piEnded: scenario.action !== "kill pi" && rpc.pi.child.exitCode !== null,
			isError: end?.isError ?? false,
			text: end?.result.content.map(({ text = "" }) => text).join("\n") ?? "",
			survivors: others(world, pid),
			grownMiB: Math.round((peak - before) / 1024),
			wrote: existsSync(join(world.cwd, "written")),
			litter: readdirSync(world.tmp).filter((name) => name.startsWith("pi-subagent")).length,
		};
	} finally {
		clearInterval(watch);
		await endAll(world.mark);
		await rpc.pi.finished.catch(() => undefined);
	}
}

/** Returns the number of the call's processes: all processes of the scenario except pi. */
const others = (world: World, pid: number) => survivors(world.mark).filter((one) => one.pid !== pid).length;

/** Returns true for an update that shows that the child is working. */
const isAtWork = (event: { type: string }) =>
	event.type === "tool_execution_update" && JSON.stringify(event).includes(atWork);

/** Waits until processes that exit on their own have done so. */
async function settled(world: World, pid: number, limitMs: number): Promise<void> {
	const deadline = performance.now() + limitMs;
	while (others(world, pid) > 0 && performance.now() < deadline) await delay(20);
}

/** Returns the memory of a process in KiB; 0 if it has exited. */
function memory(pid: number): number {
	try {
		return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
	} catch {
		return 0;
	}
}
