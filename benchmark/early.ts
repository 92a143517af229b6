/**
 * How long after a parent's tool call is complete its child asks the model for the first time, in real pi: from the last
 * byte of the streamed call to the arrival of the child's request, at one and the same scripted model. One delegation of
 * each way in turn, all by the same agent file.
 * Usage: <Node for pi> early.ts <pi's example extension> <delegations> <warm|cold>
 * `warm` delegates twice in each way before, so that compiled code is there.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import {
	call,
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

/** What a delegated task is like: long enough for a call that takes its time. */
const filler =
	"find out where the session file is written, which of its entries are read again when a session is resumed, and what " +
	"becomes of an entry that cannot be parsed. Look at the tests as well, and name each file with the lines that matter. " +
	"Do not change anything. Report in a few sentences, the most important first, and say what you are not sure of.";

/** How long a slow call streams, at least. */
const slowMs = 1_800;

/** What a delegation with everything around it may take. */
const limitMs = 60_000;

/** Between two delegations, so that what one has left to do does not slow the next. */
const restMs = 500;

/** The same agent for everybody, from the user's directory. */
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
	/** How the parent's call arrives. */
	isSlow: boolean;
	/** Whether a child may be booted while a call still arrives; absent where nobody knows of it. */
	earlyBoot?: "on" | "off";
	/** How many children wait for the next call. */
	spares?: number;
}

const ways: Record<string, Way> = {
	example: { extension: example, isSlow: true },
	early: { extension: packageDir, isSlow: true, earlyBoot: "on" },
	notEarly: { extension: packageDir, isSlow: true, earlyBoot: "off" },
	exampleAtOnce: { extension: example, isSlow: false },
	atOnce: { extension: packageDir, isSlow: false, earlyBoot: "on" },
	spare: { extension: packageDir, isSlow: false, earlyBoot: "on", spares: 1 },
};

/** When a call was complete, and when its child asked, by the mark in its task. */
const completed = new Map<string, number>();
const asked = new Map<string, number>();

const opening = "Delegate ";

const script: Script = (request) => {
	const said = request.userText;
	if (!said.startsWith(opening)) {
		const mark = /\[(\S+)\]/.exec(said)?.[1] ?? "";
		if (!asked.has(mark)) asked.set(mark, performance.now());
		return [say("It is in `src/session.ts`.")];
	}
	if (request.toolAnswers.length > 0) return [say("Done.")];
	const [mark = "", pace = ""] = said.slice(opening.length).split(" ");
	const args = { agent: "finder", task: `[${mark}] ${filler}` };
	const steps = JSON.stringify(args).length / deltaLength;
	const slow: Pace = pace === "slow" ? { size: deltaLength, everyMs: slowMs / steps } : {};
	return [say("I delegate that."), call("subagent", args, slow), finish("tool_calls"), note(mark)];
};

/** Notes the time when the model has come to this step. */
function note(mark: string): Step {
	return {
		...until(Promise.resolve()),
		get promise() {
			completed.set(mark, performance.now());
			return Promise.resolve();
		},
	} as Step;
}

/** A pi that delegates in one way, for as many delegations as wanted. */
class Parent {
	readonly #way: Way;
	readonly #world: World;
	readonly #session: RpcSession;

	constructor(way: Way, baseUrl: string) {
		this.#way = way;
		this.#world = new World({ version: newestPi, baseUrl, extensions: [way.extension] });
		// Compiled code is kept where pi keeps it by itself.
		delete this.#world.env.NODE_COMPILE_CACHE;
		this.#world.writeAgentDir("agents/finder.md", agent);
		if (way.earlyBoot) {
			// One that waits is there for as long as all the other ways take their turns.
			const spare = { count: way.spares ?? 0, idleMs: 600_000 };
			this.#world.writeAgentDir("subagents.json", JSON.stringify({ subagents: { earlyBoot: way.earlyBoot, spare } }));
		}
		this.#session = startRpc(this.#world, { limitMs: 600_000 });
	}

	/** Milliseconds from the complete call to the child's request. */
	async delegate(): Promise<number> {
		const mark = randomUUID();
		const events = await this.#session.prompt(`${opening}${mark} ${this.#way.isSlow ? "slow" : "fast"}`, limitMs);
		const [from, to] = [completed.get(mark), asked.get(mark)];
		if (from === undefined || to === undefined) {
			const told = JSON.stringify(events.find(({ type }) => type === "tool_execution_end") ?? events.at(-1));
			throw new Error(`no child of ${this.#way.extension} has asked the model: ${told.slice(0, 2000)}`);
		}
		return to - from;
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
	// Twice, because compiled code is written when a pi ends; once at least, because the first call finds nobody waiting.
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
