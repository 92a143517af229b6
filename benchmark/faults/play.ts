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

/** Who delegates. */
export type Way = "this package" | "pi's example";

/** What a scenario is made of. */
export interface Scenario {
	/** Steps of `fake-pi`, or the name of one of its scenarios; absent: the child is real pi. */
	child?: string | unknown[];
	/** What the model of a real child does. */
	model?: (answers: number) => Step[];
	/** What the parent's model calls. */
	args?: Record<string, unknown>;
	/** The same where the two have other names for it. */
	ours?: { tool: string; args: Record<string, unknown> };
	/** What is done once the child has read the file `at-work`. */
	meanwhile?: "abort" | "kill pi";
	/** How long a call may take before it counts as one that never ends. */
	patienceMs?: number;
}

/** What came of it. */
export interface Played {
	/** Whether the call came to an end at all. */
	ended: boolean;
	/** Whether pi has ended with it, unasked. */
	piEnded: boolean;
	isError: boolean;
	/** What the model reads. */
	text: string;
	/** Processes that run on when the call has ended, without pi itself. */
	left: number;
	/** The most memory that pi has had, in MiB, beyond what it had before the call. */
	grownMiB: number;
	/** Whether the file was written that a child was not to write. */
	wrote: boolean;
	/** What of ours or theirs lies in the temporary directory afterwards. */
	litter: number;
}

/** Made anew in each start, so that no such token stands in a file. */
export const token = `ghp_${randomBytes(18).toString("hex")}`;

/** The name of a file by which a child says that it is at work. */
export const atWork = "at-work";

/** The same agent for both: it looks, with a shell. */
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

/** Limits short enough to wait for. Nothing else of the configuration differs from the defaults. */
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
		const extensions = way === "this package" ? oursIn(world, child) : theirsIn(world, child);
		return await delegate(world, extensions, scenario, called.tool);
	} finally {
		await endAll(world.mark);
		await world.close();
		await server.close();
	}
}

function oursIn(world: World, child: Scenario["child"]): string[] {
	const standIn = child && { piCommand: [process.execPath, fakePi], env: { FAKE_PI_SCENARIO: steps(world, child) } };
	world.writeAgentDir("subagents.json", JSON.stringify({ subagents: { ...limits, ...standIn } }));
	return [packageDir];
}

/** The example starts the program that it runs in once more; an extension beside it says that this is the stand-in. */
function theirsIn(world: World, child: Scenario["child"]): string[] {
	const [, program] = piCommand(newestPi);
	const example = join(dirname(program), "../../examples/extensions/subagent/index.ts");
	if (!child) return [example];
	world.env.FAKE_PI_SCENARIO = steps(world, child);
	const says = `process.argv[1] = ${JSON.stringify(fakePi)}`;
	return [example, world.writeAgentDir("stand-in.ts", `export default () => { ${says}; };`)];
}

function steps(world: World, child: string | unknown[]): string {
	return typeof child === "string" ? child : world.writeAgentDir("scenario.json", JSON.stringify(child));
}

async function delegate(world: World, extensions: string[], scenario: Scenario, tool: string): Promise<Played> {
	const rpc = startRpc(world, { args: ["-ne", ...extensions.flatMap((path) => ["-e", path])], limitMs: 120_000 });
	await rpc.send({ type: "get_state" });
	const [before, pid] = [memory(rpc.pi.pid), rpc.pi.pid];
	let most = before;
	const watch = setInterval(() => {
		most = Math.max(most, memory(pid));
	}, 20);
	try {
		const isEnd = ({ type, toolName }: { type: string; toolName?: unknown }) =>
			type === "tool_execution_end" && toolName === tool;
		void rpc.send({ type: "prompt", message: "Delegate" }).catch(() => undefined);
		const ending = rpc.log.waitFor(isEnd, scenario.patienceMs ?? patienceMs).catch(() => undefined);
		if (scenario.meanwhile) await rpc.log.waitFor(isAtWork, patienceMs);
		if (scenario.meanwhile === "abort") void rpc.send({ type: "abort" }).catch(() => undefined);
		if (scenario.meanwhile === "kill pi") process.kill(pid, "SIGKILL");
		const end = (await ending) as ToolEnd | undefined;
		await settled(world, pid, scenario.meanwhile === "kill pi" ? 5_000 : 1_000);
		return {
			ended: end !== undefined,
			piEnded: scenario.meanwhile !== "kill pi" && rpc.pi.child.exitCode !== null,
			isError: end?.isError ?? false,
			text: end?.result.content.map(({ text = "" }) => text).join("\n") ?? "",
			left: others(world, pid),
			grownMiB: Math.round((most - before) / 1024),
			wrote: existsSync(join(world.cwd, "written")),
			litter: readdirSync(world.tmp).filter((name) => name.startsWith("pi-subagent")).length,
		};
	} finally {
		clearInterval(watch);
		await endAll(world.mark);
		await rpc.pi.finished.catch(() => undefined);
	}
}

/** Processes of the call: all of the world but pi. */
const others = (world: World, pid: number) => survivors(world.mark).filter((one) => one.pid !== pid).length;

/** An update of the call from which on the child is at work. */
const isAtWork = (event: { type: string }) =>
	event.type === "tool_execution_update" && JSON.stringify(event).includes(atWork);

/** Gives what ends by itself a moment to do so. */
async function settled(world: World, pid: number, limitMs: number): Promise<void> {
	const deadline = performance.now() + limitMs;
	while (others(world, pid) > 0 && performance.now() < deadline) await delay(20);
}

/** The memory of a process in KiB; 0 of one that is gone. */
function memory(pid: number): number {
	try {
		return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
	} catch {
		return 0;
	}
}
