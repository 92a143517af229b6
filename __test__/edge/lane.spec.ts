/** The number of children at a time, their order, and the runs that do not wait. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import {
	type Answer,
	type Question,
	type RunHandle,
	type RunOptions,
	type Streaming,
	startParallel,
	type ToolResult,
} from "../../native.js";
import { slower } from "../support/machine.ts";
import { survivors } from "../support/survivors.ts";
import { host, startHost } from "./host.ts";
import { inTime, type Scene, shape, single, textOf, until } from "./scene.ts";
import { gate as gateStep, playing, records, recordsOf, untilRecorded } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const aborted = ["SUBAGENT_FAILED", 130, "aborted", true];

/** A child that waits for a word before it answers. */
const waits = [{ ask: "confirm", title: "Go on?" }, { say: "You said: {task}" }];

/** Holds children back, and lets them go on one by one. */
class Gate {
	readonly #waiting = new Map<string, (answer: Answer) => void>();
	readonly host = {
		ask: ({ runId }: Question) => new Promise<Answer>((resolve) => this.#waiting.set(runId, resolve)),
	};

	/** Returns the number of waiting children. */
	get count(): number {
		return this.#waiting.size;
	}

	async until(count: number): Promise<void> {
		await until(() => this.count === count, `${count} children`);
	}

	/** Lets one go on, or all. */
	open(all = false): void {
		for (const [runId, resolve] of this.#waiting) {
			this.#waiting.delete(runId);
			resolve({ confirmed: true });
			if (!all) return;
		}
	}
}

/** A run, and how it says that it stands. */
class Watched {
	readonly seen: Streaming[] = [];
	readonly handle: RunHandle;

	constructor(scene: Scene, gate: Gate, change: Partial<RunOptions> = {}) {
		const onUpdate = ({ details }: ToolResult) => details.streaming && this.seen.push(details.streaming);
		this.handle = scene.start(change, onUpdate, gate.host);
	}

	get last(): Streaming | undefined {
		return this.seen.at(-1);
	}

	/** Waits until it says that it is queued, at this place. */
	async queued(position: number): Promise<void> {
		await until(
			() => this.last?.state === "queued" && this.last.position === position,
			`position ${position} in the queue`,
		);
	}

	async result(): Promise<ToolResult> {
		return await inTime(this.handle.result(), "the result");
	}
}

/** The most children that there were at once. */
function peakOf(scene: Scene): number {
	let [now, peak] = [0, 0];
	for (const entry of records(scene)) {
		if ("argv" in entry) peak = Math.max(peak, ++now);
		if ("ended" in entry) now--;
	}
	return peak;
}

describe("the queue of a process", () => {
	it("limits the children, and starts the others in the order of their requests", async (t) => {
		const scene = playing(t, [{ say: "You said: {task}" }], { config: { maxConcurrent: 1, bootAhead: 0 } });
		const tasks = Array.from({ length: 12 }, (_, index) => `task ${index}`);
		const handles = [];
		for (const task of tasks) {
			let hasEntered = false;
			const handle = scene.start({ task }, ({ details: { streaming } }) => {
				hasEntered ||= streaming !== undefined && (streaming.state !== "queued" || streaming.position !== undefined);
			});
			handles.push(handle);
			// Among simultaneous calls, one that takes longer than 250 ms to prepare is overtaken.
			await until(() => hasEntered, `${task} in the queue`);
		}
		const results = await Promise.all(handles.map((handle) => inTime(handle.result(), "the result")));
		assert.deepEqual(
			results.map(textOf),
			tasks.map((task) => `You said: ${task}`),
		);
		assert.deepEqual(recordsOf(scene, "task"), tasks);
		assert.equal(peakOf(scene), 1);
	});

	it("starts several runs, up to the limit", async (t) => {
		const scene = playing(t, waits, { config: { maxConcurrent: 3, bootAhead: 0 } });
		const gate = new Gate();
		const runs = Array.from({ length: 7 }, () => new Watched(scene, gate));
		for (const count of [3, 3, 3, 3, 3, 2, 1]) {
			await gate.until(count);
			gate.open();
		}
		for (const run of runs) assert.deepEqual(shape(await run.result()), completed);
		assert.equal(peakOf(scene), 3);
	});

	it("shows the positions of waiting runs", async (t) => {
		const scene = playing(t, waits, { config: { maxConcurrent: 1, bootAhead: 0 } });
		const gate = new Gate();
		const first = new Watched(scene, gate);
		await gate.until(1);
		const second = new Watched(scene, gate);
		await second.queued(1);
		const third = new Watched(scene, gate);
		await third.queued(2);
		assert.equal(second.handle.steer("hello"), false, "a waiting run accepts no message");
		second.handle.abort();
		await third.queued(1);
		assert.deepEqual(shape(await second.result()), aborted);
		gate.open();
		assert.deepEqual(shape(await first.result()), completed);
		await gate.until(1);
		gate.open();
		assert.deepEqual(shape(await third.result()), completed);
		assert.ok(
			first.seen.every(({ position }) => position === undefined),
			"the first run has no queue position",
		);
		const states = third.seen.map(({ state }) => state).filter((state, at, all) => state !== all[at - 1]);
		assert.deepEqual(states, ["queued", "starting", "running"]);
	});

	it("does not count waiting towards timeouts and durations", async (t) => {
		const config = { maxConcurrent: 1, bootAhead: 0, timeoutMs: 5_000, idleTimeoutMs: 5_000 };
		const scene = playing(t, waits, { config });
		const gate = new Gate();
		const first = new Watched(scene, gate, {
			config: { ...scene.options.config, timeoutMs: 0, idleTimeoutMs: 0 },
		});
		await gate.until(1);
		const second = new Watched(scene, gate);
		await second.queued(1);
		// Longer than both limits.
		await delay(5_200);
		gate.open();
		await first.result();
		await gate.until(1);
		gate.open();
		const result = await second.result();
		assert.deepEqual(shape(result), completed);
		assert.ok(single(result).durationMs < 5_000, `${single(result).durationMs} ms`);
	});

	it("starts no child for runs aborted while they wait", async (t) => {
		const scene = playing(t, waits, { config: { maxConcurrent: 1, bootAhead: 0 } });
		const gate = new Gate();
		const first = new Watched(scene, gate);
		await gate.until(1);
		const others = Array.from({ length: 3 }, () => new Watched(scene, gate));
		await others[2]?.queued(3);
		for (const { handle } of others) handle.abort("enough");
		for (const other of others) {
			const result = await other.result();
			const run = single(result);
			assert.deepEqual([shape(result), run.attempts, run.sessionFile], [aborted, 0, undefined]);
			assert.equal(run.error, "not started: cancelled by user: enough");
		}
		assert.equal(readdirSync(scene.path("agent/subagents/runs")).length, 1);
		gate.open();
		assert.deepEqual(shape(await first.result()), completed);
		assert.equal(recordsOf(scene, "argv").length, 1);
	});

	it("loses a closed run", async (t) => {
		const scene = playing(t, waits, { config: { maxConcurrent: 1, bootAhead: 0 } });
		const gate = new Gate();
		const first = new Watched(scene, gate);
		await gate.until(1);
		const second = new Watched(scene, gate);
		const third = new Watched(scene, gate);
		await third.queued(2);
		await second.handle.close();
		await third.queued(1);
		third.handle.abort();
		gate.open();
		await first.result();
	});

	it("gives a parallel call its share, and the rest of the call blocks no other run", async (t) => {
		const scene = playing(t, waits, { config: { maxConcurrent: 3, parallelConcurrency: 2, bootAhead: 0 } });
		const gate = new Gate();
		const { agent, task: _, ...around } = scene.options;
		const tasks = Array.from({ length: 5 }, (_, index) => ({ agent, task: `part ${index}` }));
		let states: string[] = [];
		const handle = startParallel(
			{ ...around, tasks },
			({ details }) => {
				states = (details.tasks ?? []).map(({ state, position }) => (position ? `${state} ${position}` : state));
			},
			gate.host,
		);
		await gate.until(2);
		await until(
			() => states.slice(2).join() === "queued 1,queued 2,queued 3",
			"the queue positions of the other children, each in an update of its own",
		);
		const other = new Watched(scene, gate, { task: "another" });
		await gate.until(3);
		assert.ok(recordsOf(scene, "task").includes("another"));
		const result = handle.result();
		await until(() => {
			gate.open(true);
			return states.every((state) => state === "completed");
		}, "the end of all children");
		assert.deepEqual(shape(await other.result()), completed);
		assert.deepEqual(
			(await inTime(result, "the result")).details.results.map(({ outcome }) => outcome),
			Array(5).fill("completed"),
		);
		assert.equal(peakOf(scene), 3);
	});
});

describe("a provider that asks for a pause", () => {
	const limited = (time: string) => [
		{ retry: `429: Rate limit reached. Please try again in ${time}.`, delayMs: 50, of: 1 },
		...waits,
	];

	it("gets no new child until then, and another provider does", async (t) => {
		const pauseMs = 1_500 * slower;
		const scene = playing(t, [{ when: "limited", do: limited(`${pauseMs / 1_000}s`), else: waits }]);
		const gate = new Gate();
		const first = new Watched(scene, gate, { task: "limited", model: "crowded/one" });
		await gate.until(1);
		const since = performance.now();
		const delayed = new Watched(scene, gate, { task: "held", model: "crowded/two" });
		const [other, unknown] = [
			new Watched(scene, gate, { task: "other", model: "empty/one" }),
			new Watched(scene, gate, { task: "unknown" }),
		];
		await gate.until(3);
		assert.ok(!recordsOf(scene, "task").includes("held"));
		await until(() => delayed.last?.rateLimitedForMs !== undefined, "an update with the pause of the provider");
		const { state, position, rateLimitedForMs = 0 } = delayed.last ?? {};
		assert.ok(
			state === "queued" && position === 1 && rateLimitedForMs > 0 && rateLimitedForMs <= pauseMs,
			JSON.stringify(delayed.last),
		);
		await gate.until(4);
		assert.ok(performance.now() - since > pauseMs - 500, "the call waited for the pause");
		gate.open(true);
		for (const run of [first, delayed, other, unknown]) assert.deepEqual(shape(await run.result()), completed);
	});

	it("gets no child from runs that were already waiting", async (t) => {
		const scene = playing(t, [{ when: "limited", do: limited("1s"), else: waits }], {
			config: { maxConcurrent: 1, bootAhead: 0 },
		});
		const gate = new Gate();
		const first = new Watched(scene, gate, { task: "limited", model: "shy/one" });
		const [delayed, other] = [
			new Watched(scene, gate, { task: "held", model: "shy/one" }),
			new Watched(scene, gate, { task: "other", model: "open/one" }),
		];
		await gate.until(1);
		await other.queued(2);
		gate.open();
		await first.result();
		await gate.until(1);
		assert.deepEqual(recordsOf(scene, "task"), ["limited", "other"]);
		gate.open();
		await other.result();
		await gate.until(1);
		gate.open();
		assert.deepEqual(shape(await delayed.result()), completed);
	});

	it("delays a run that can be aborted", async (t) => {
		const scene = playing(t, [{ when: "limited", do: limited("60s"), else: waits }]);
		const gate = new Gate();
		const first = new Watched(scene, gate, { task: "limited", model: "slow/one" });
		await gate.until(1);
		const delayed = new Watched(scene, gate, { model: "slow/one" });
		await until(() => (delayed.last?.rateLimitedForMs ?? 0) > 50_000, "the pause of the provider");
		delayed.handle.abort();
		assert.deepEqual(shape(await delayed.result()), aborted);
		gate.open();
		await first.result();
	});
});

describe("the processes of one user", () => {
	const config = { maxConcurrentPerUser: 2, protocol: "rpc" };

	it("share a cap, and start in order", async (t) => {
		const scene = playing(t, [gateStep(), { say: "You said: {task}" }], { config });
		const hosts = [host(scene, "queue.mjs", ["4"]), host(scene, "queue.mjs", ["4"])];
		await untilRecorded(scene, "task", 2);
		scene.open();
		const ended = await Promise.all(hosts);
		const results = ended.flatMap(({ code, stdout, stderr }) => {
			assert.deepEqual([code, stderr], [0, ""]);
			const last = stdout.trim().split("\n").at(-1) ?? "";
			return JSON.parse(last).results as ToolResult[];
		});
		assert.equal(results.length, 8);
		for (const result of results) assert.deepEqual([shape(result), single(result).diagnostics?.length], [completed, 1]);
		assert.equal(peakOf(scene), 2);
	});

	it("free the slots of one that is killed", async (t) => {
		const scene = playing(t, [{ when: "task", do: [{ stream: "so far" }, "hang"], else: waits }], { config });
		const other = startHost(scene, "queue.mjs", ["2"]);
		await untilRecorded(scene, "task", 2);
		const gate = new Gate();
		const waiting = new Watched(scene, gate, { task: "here" });
		await waiting.queued(1);
		assert.equal(gate.count, 0);
		await other.end();
		await gate.until(1);
		gate.open();
		assert.deepEqual(shape(await waiting.result()), completed);
		await until(() => survivors(scene.mark).length === 0, "the end of the other host's children");
	});

	it("are the processes of one agent directory", async (t) => {
		const [one, two] = [
			playing(t, waits, { config: { ...config, maxConcurrentPerUser: 1 } }),
			playing(t, waits, { config: { ...config, maxConcurrentPerUser: 1 } }),
		];
		const gate = new Gate();
		const runs = [new Watched(one, gate), new Watched(two, gate)];
		await gate.until(2);
		gate.open(true);
		for (const run of runs) assert.deepEqual(shape(await run.result()), completed);
	});
});

const mayMount = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;

describe("an unwritable agent directory", {
	skip: !mayMount && "no namespace to mount in",
}, () => {
	it("disables the cap, with one warning", async (t) => {
		const config = { maxConcurrentPerUser: 1, protocol: "rpc" };
		const scene = playing(t, [{ say: "Done.", usage: { cost: 1 } }], { config, sessionId: "read-only" });
		mkdirSync(scene.path("sessions"));
		Object.assign(scene.options, { parentSessionFile: scene.path("sessions/parent.jsonl") });
		const mount = 'mount -t tmpfs -o ro none "$1" && shift && exec "$@"';
		const before = ["unshare", "-rm", "sh", "-c", mount, "sh", scene.agentDir];
		const { code, stdout, stderr } = await host(scene, "queue.mjs", ["4"], { before });
		assert.deepEqual([code, stderr], [0, ""]);
		const { results } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { results: ToolResult[] };
		for (const result of results) assert.deepEqual(shape(result), completed, textOf(result));
		const warnings = results
			.flatMap((result) => single(result).diagnostics ?? [])
			.filter((text) => text.includes("PerUser"));
		assert.equal(warnings.length, 1, warnings.join("\n"));
		assert.match(
			warnings[0] ?? "",
			/^`maxConcurrentPerUser` has no effect and the spending of sessions is not saved: .*read-only/i,
		);
	});
});
