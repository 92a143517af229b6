/**
 * Measures the time from a parent's complete tool call to its child's first request, in real pi: from the last byte of
 * the streamed call to the arrival of the child's request, at the same scripted model. The ways take turns, with one
 * delegation each, and use the same agent file.
 *
 * Usage: <Node for pi> early.ts <pi's example extension> <delegations> <warm|cold>
 *
 * `warm` delegates twice in each way first, so that compiled code is cached.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import {
	call,
	eventually,
	finish,
	ModelServer,
	model,
	newestPi,
	type Pace,
	packageDir,
	provider,
	type RpcSession,
	type Script,
	type Step,
	say,
	startRpc,
	until,
	World,
} from "../__test__/support/pi.ts";

const [example = "", delegations = "1", before = "warm"] = process.argv.slice(2);

/** Small deltas, as models write arguments. */
const deltaLength = 6;

/** The text of a task, long enough for a call that takes a while. */
const filler =
	"find out where the session file is written, which of its entries are read again when a session is resumed, and what " +
	"becomes of an entry that cannot be parsed. Look at the tests as well, and name each file with the lines that matter. " +
	"Do not change anything. Report in a few sentences, the most important first, and name uncertain points.";

/** The minimum time that a slow call streams, in ms. */
const slowMs = 1_800;

/** The time limit for a complete delegation. */
const limitMs = 60_000;

/** The pause between two delegations, so that remaining work of the first does not slow down the second. */
const restMs = 500;

/** The same agent for all ways, from the user's directory. */
const agent = `---
name: finder
description: Finds code.
tools: read, grep, find, ls
model: ${provider}/${model}
readonly: true
---

You find code and say where it is. You change nothing.
`;

interface Way {
	extension: string;
	/** True if the parent's call streams slowly. */
	isSlow: boolean;
	/** The setting for booting a child while its call still arrives. Absent for pi's example, which does not have it. */
	earlyBoot?: "on" | "off";
	/** The number of spare children that wait for the next call. */
	spares?: number;
	/** True if the parent starts a background run. */
	isBackground?: boolean;
	/** True if the parent continues an ended run. */
	isMessage?: boolean;
}

const ways: Record<string, Way> = {
	example: { extension: example, isSlow: true },
	early: { extension: packageDir, isSlow: true, earlyBoot: "on" },
	notEarly: { extension: packageDir, isSlow: true, earlyBoot: "off" },
	exampleAtOnce: { extension: example, isSlow: false },
	atOnce: { extension: packageDir, isSlow: false, earlyBoot: "on" },
	spare: { extension: packageDir, isSlow: false, earlyBoot: "on", spares: 1 },
	background: { extension: packageDir, isSlow: true, earlyBoot: "on", isBackground: true },
	message: { extension: packageDir, isSlow: true, earlyBoot: "on", isMessage: true },
	messageNotEarly: { extension: packageDir, isSlow: true, earlyBoot: "off", isMessage: true },
};

/** The times at which a call was complete and at which its child sent a request, by the mark in its task. */
const completed = new Map<string, number>();
const asked = new Map<string, number>();

const opening = "Delegate ";

const script: Script = (request) => {
	const text = request.userText;
	if (!text.startsWith(opening)) {
		const mark = /\[(\S+)\]/.exec(text)?.[1] ?? "";
		if (!asked.has(mark)) asked.set(mark, performance.now());
		return [say("It is in `src/session.ts`.")];
	}
	if (request.toolAnswers.length > 0) return [say("Done.")];
	const [mark = "", pace = "", tool = "", run = ""] = text.slice(opening.length).split(" ");
	const words = `[${mark}] ${filler}`;
	const agent = tool === "sessions_spawn" ? { agentId: "finder" } : { agent: "finder" };
	const isMessage = tool === "sessions_send";
	// The tool waits until the run has ended again.
	const args = isMessage ? { sessionKey: run, message: words, timeoutSeconds: 60 } : { ...agent, task: words };
	const steps = JSON.stringify(args).length / deltaLength;
	const slow: Pace = pace === "slow" ? { size: deltaLength, everyMs: slowMs / steps } : {};
	return [say("I delegate that."), call(tool, args, slow), finish("tool_calls"), note(mark)];
};

/** Returns a step that records the time at which the model reaches it. */
function note(mark: string): Step {
	return {
		...until(Promise.resolve()),
		get promise() {
			completed.set(mark, performance.now());
			return Promise.resolve();
		},
	} as Step;
}

/** A pi that delegates in one way, any number of times. */
class Parent {
	readonly #way: Way;
	readonly #world: World;
	readonly #session: RpcSession;
	/** The ended run that gets the messages. */
	#run: string | undefined;

	constructor(way: Way, baseUrl: string) {
		this.#way = way;
		this.#world = new World({ version: newestPi, baseUrl, extensions: [way.extension] });
		// Keep compiled code in pi's default place.
		delete this.#world.env.NODE_COMPILE_CACHE;
		this.#world.writeAgentDir("agents/finder.md", agent);
		if (way.earlyBoot) {
			// A spare child has to outlast the turns of all other ways.
			const spare = { count: way.spares ?? 0, idleMs: 600_000 };
			// The parent must be idle at its next prompt.
			const announce = { triggerTurn: false };
			const subagents = { earlyBoot: way.earlyBoot, spare, announce };
			this.#world.writeAgentDir("subagents.json", JSON.stringify({ subagents }));
		}
		this.#session = startRpc(this.#world, { limitMs: 600_000 });
	}

	/** Returns the milliseconds from the complete call to the child's request. */
	async delegate(): Promise<number> {
		const mark = randomUUID();
		const { isSlow, isBackground, isMessage } = this.#way;
		if (isMessage) this.#run ??= await this.#first();
		const tool = isMessage ? "sessions_send" : isBackground ? "sessions_spawn" : "subagent";
		const words = [mark, isSlow ? "slow" : "fast", tool, this.#run ?? ""];
		const events = await this.#session.prompt(`${opening}${words.join(" ")}`, limitMs);
		// A background run may send its request after the call.
		if (isBackground) await eventually(() => asked.has(mark), "the request of the background run", limitMs);
		const from = completed.get(mark);
		const to = asked.get(mark);
		if (from === undefined || to === undefined) {
			const lastEvent = JSON.stringify(events.find(({ type }) => type === "tool_execution_end") ?? events.at(-1));
			throw new Error(`no child of ${this.#way.extension} has sent a request: ${lastEvent.slice(0, 2000)}`);
		}
		return to - from;
	}

	/** Runs a task, and returns the id of its run. */
	async #first(): Promise<string> {
		const events = await this.#session.prompt(`${opening}${randomUUID()} fast subagent`, limitMs);
		const [, run] = /\[run ([0-9a-f]{8})\]/.exec(JSON.stringify(events)) ?? [];
		if (!run) throw new Error("the first run has no id");
		return run;
	}

	async close(): Promise<void> {
		await this.#session.close();
		await this.#world.close();
	}
}

const server = await ModelServer.start(script);
const parents = new Map(Object.entries(ways).map(([name, way]) => [name, new Parent(way, server.baseUrl)]));
try {
	const found: Record<string, number[]> = {};
	// Twice, because compiled code is written when a pi ends. At least once, because no spare child exists at the first
	// call.
	const unmeasured = before === "warm" ? 2 : 1;
	for (let i = 0; i < unmeasured; i++) for (const parent of parents.values()) await parent.delegate();
	for (let i = 0; i < Number(delegations); i++) {
		for (const [name, parent] of parents) {
			await delay(restMs);
			found[name] ??= [];
			found[name].push(await parent.delegate());
		}
	}
	process.stdout.write(`${JSON.stringify({ ways: found })}\n`);
} finally {
	await Promise.all([...parents.values()].map((parent) => parent.close()));
	await server.close();
}
