/**
 * The spending limits of a run and its session. Usage is scripted to the cent, so every sum here is exact. The fake pi
 * begins its turns without asking, like a child on a remote machine; `pi-budgets.spec.ts` has children that can be
 * held.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import { startParallel, type ToolResult } from "../../native.js";
import { host } from "./host.ts";
import { inTime, type Scene, shape, single, textOf } from "./scene.ts";
import { gate, playing, protocols, recordsOf, untilRecorded, updateWith } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const overBudget = ["SUBAGENT_FAILED", 1, "budget", true];

/** A turn that costs this and calls a tool, which takes as long, or until the test opens a gate. */
const turn = (usage: object, ends: { takesMs?: number; until?: string } = {}) => {
	return { call: "read", args: { path: "x" }, ...ends, usage };
};

const forEver = { takesMs: 60_000 };

const untilWarned = { until: "{env.HERE}/warned" };

/** Lets the child of a scene end the tool that runs `untilWarned`, as soon as it was. */
const openOnceWarned = async (scene: Scene) => {
	await untilRecorded(scene, "steering");
	scene.open("warned");
};

/** The reporter sums dollars as floats. */
function assertDollars(actual: number | undefined, expected: number, what = "dollars"): void {
	assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-9, `${what}: ${actual} instead of ${expected}`);
}

interface Row {
	budget: Record<string, number>;
	usage: object;
	/** The turn after which the child is told to finish, and the figures in that message. */
	warned: [turn: number, says: string];
	/** The turn after which the run is ended, and with which error. */
	ended: [turn: number, error: string];
	/** It is ended when it asks for another turn, and not while its last tool runs. */
	asks?: boolean;
}

const rows: Record<string, Row> = {
	turns: {
		budget: { maxTurns: 5 },
		usage: {},
		warned: [4, "the turns of this run (4 of 5)"],
		ended: [5, "`budget.maxTurns` reached: 5 of 5"],
	},
	tokens: {
		budget: { maxTokens: 100 },
		usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 },
		warned: [4, "the tokens of this run (80 of 100)"],
		ended: [5, "`budget.maxTokens` reached: 100 of 100"],
	},
	"tokens that do not cover another turn": {
		budget: { maxTokens: 80 },
		usage: { output: 21 },
		warned: [2, "the tokens of this run (42 of 80)"],
		ended: [3, "`budget.maxTokens` reached: 63 of 80, and the next turn takes about 21"],
		asks: true,
	},
	cost: {
		budget: { maxCost: 1 },
		usage: { cost: 0.1 },
		warned: [8, "the money for this run ($0.8000 of $1.0000)"],
		ended: [10, "`budget.maxCost` reached: $1.0000 of $1.0000"],
	},
	"cost of a fraction of a cent": {
		budget: { maxCost: 0.000_005 },
		usage: { cost: 0.000_001 },
		warned: [4, "the money for this run ($0.000004 of $0.000005)"],
		ended: [5, "`budget.maxCost` reached: $0.000005 of $0.000005"],
	},
	"the nearest of several": {
		budget: { maxCost: 100, maxTurns: 5, maxTokens: 1_000_000 },
		usage: { cost: 0.1 },
		warned: [4, "the turns of this run (4 of 5)"],
		ended: [5, "`budget.maxTurns` reached: 5 of 5"],
	},
};

/** A child that takes no more turns than this: its last one never ends. */
const spends = (usage: object, turns: number) => [
	{ stream: "so far" },
	{ repeat: [turn(usage)], times: turns - 1 },
	turn(usage, forEver),
];

/** The same of a row. It is warned while a tool runs. */
const spendsAsIn = ({ usage, warned: [told], ended: [over], asks = false }: Row) => [
	{ stream: "so far" },
	{ repeat: [turn(usage)], times: told - 1 },
	turn(usage, untilWarned),
	{ repeat: [turn(usage)], times: over - told - 1 },
	...(asks ? [turn(usage), { think: "On I go." }, "hang"] : [turn(usage, forEver)]),
];

describe("the budget of a run", () => {
	for (const [label, row] of Object.entries(rows)) {
		const { budget, warned, ended } = row;

		it(`warns the child at 80 % and ends it at 100 %: ${label}`, async (t) => {
			const scene = playing(t, spendsAsIn(row), { config: { budget } });
			const [result] = await Promise.all([scene.run(), openOnceWarned(scene)]);
			const run = single(result);
			assert.deepEqual(shape(result), overBudget, textOf(result));
			assert.deepEqual([run.error, run.output, result.details.error?.message], [ended[1], "so far", ended[1]]);
			assert.match(textOf(result), /\n\npartial output:\n```text\nso far\n```\n\n/);
			const words = recordsOf(scene, "steering") as string[];
			assert.equal(words.length, 1, "the child is warned once");
			assert.ok(words[0]?.includes(warned[1]), words[0]);
			// An abort ends the tool, and the request after it ends before it has begun.
			assert.equal(run.usage.turns, ended[0] + 1);
			assert.equal(run.stopReason, "aborted");
		});

		it(`ends a child that takes no messages at 100 %: ${label}`, async (t) => {
			const scene = playing(t, spendsAsIn(row), { config: { budget, protocol: "json" } });
			scene.open("warned");
			const result = await scene.run();
			assert.deepEqual(shape(result), overBudget);
			assert.deepEqual([single(result).error, single(result).usage.turns], [ended[1], ended[0]]);
		});

		it(`is not exceeded by a child that finishes after the warning: ${label}`, async (t) => {
			const steered = { steered: [{ say: "Wrapped up: {steer}", usage: {} }] };
			const scene = playing(t, [steered, ...spendsAsIn(row)], { config: { budget } });
			const [result] = await Promise.all([scene.run(), openOnceWarned(scene)]);
			assert.deepEqual(shape(result), completed);
			assert.match(textOf(result), /^Wrapped up: Nearly used up: /);
			assert.ok(textOf(result).includes(warned[1]), textOf(result));
			assert.equal(single(result).usage.turns, warned[0] + 1);
		});
	}

	for (const protocol of protocols) {
		for (const [label, last] of Object.entries({
			"80 %": { cost: 0.5 },
			"100 %": { cost: 0.7 },
			"more than that": { cost: 7 },
		})) {
			it(`does not fail an answer that reaches ${label}: ${protocol}`, async (t) => {
				const scenario = [turn({ cost: 0.3 }), { say: "Done.", usage: last }, "settle", { sleep: 300 }];
				const scene = playing(t, scenario, { config: { budget: { maxCost: 1 }, protocol } });
				const result = await scene.run();
				assert.deepEqual([shape(result), textOf(result)], [completed, "Done."]);
				assertDollars(single(result).usage.cost, 0.3 + last.cost);
				assert.deepEqual(recordsOf(scene, "steering"), [], "the child gets no warning");
			});
		}
	}

	it("does not fail an answer that is cut by the model's own limit", async (t) => {
		const scenario = [{ say: "Half of it", stop: "length", usage: { cost: 5 } }];
		const result = await playing(t, scenario, { config: { budget: { maxCost: 1 } } }).run();
		assert.deepEqual(shape(result), completed);
	});

	it("covers all attempts together", async (t) => {
		const usage = { cost: 0.2 };
		const scenario = [
			{
				once: "{env.HERE}/first",
				do: [
					{ retry: "500: no", times: 3, usage },
					{ fail: "500: no", usage },
				],
				else: [turn({ cost: 0.1 }, untilWarned), turn({ cost: 0.1 }, forEver)],
			},
		];
		const scene = playing(t, scenario, { config: { budget: { maxCost: 1 }, retry: { backoffMs: 1 } } });
		const [result] = await Promise.all([scene.run(), openOnceWarned(scene)]);
		const run = single(result);
		assert.deepEqual(shape(result), overBudget);
		assert.deepEqual([run.error, run.attempts], ["`budget.maxCost` reached: $1.0000 of $1.0000", 2]);
		assertDollars(run.usage.cost, 1);
		assert.equal(recordsOf(scene, "steering").length, 1);
	});

	it("ends attempts that only fail", async (t) => {
		const usage = { cost: 0.3 };
		const scenario = [{ retry: "500: no", times: 9, of: 9, delayMs: 50, usage }, { say: "Done." }];
		const result = await playing(t, scenario, { config: { budget: { maxCost: 1 } } }).run();
		assert.deepEqual(shape(result), overBudget);
		// On a busy machine another attempt is under way before the child hears of it; all nine would cost 2.7.
		assert.match(single(result).error ?? "", /^`budget\.maxCost` reached: \$(1\.[258]|2\.[14])000 of \$1\.0000$/);
	});
});

describe("the effective budget", () => {
	const agent = (fields: string) => `---\nname: spender\nreadonly: true\ndescription: Spends.\n${fields}\n---\nSpend.`;
	const file = (budget: object) => JSON.stringify({ subagents: { budget, projectAgentPolicy: "allow" } });

	const files: Record<string, [files: Record<string, string>, error: string, turns?: number]> = {
		"the budget of the user": [{ "agent/subagents.json": file({ maxTurns: 3 }) }, "`budget.maxTurns` reached: 3 of 3"],
		"the budget of the project if it is smaller": [
			{ "agent/subagents.json": file({ maxTurns: 3 }), "project/.pi/subagents.json": file({ maxTurns: 2 }) },
			"`budget.maxTurns` reached: 2 of 2",
			2,
		],
		"not the budget of the project if it is larger": [
			{ "agent/subagents.json": file({ maxTurns: 3 }), "project/.pi/subagents.json": file({ maxTurns: 9 }) },
			"`budget.maxTurns` reached: 3 of 3",
		],
		"not the budget of the project if it sets no limit": [
			{ "agent/subagents.json": file({ maxTurns: 3 }), "project/.pi/subagents.json": file({ maxTurns: 0 }) },
			"`budget.maxTurns` reached: 3 of 3",
		],
		"the budget of the user's agent": [
			{ "agent/subagents.json": file({ maxTurns: 3 }), "agent/agents/spender.md": agent("maxTurns: 4") },
			"`budget.maxTurns` reached: 4 of 4",
			4,
		],
		"the cost limit of the user's agent": [
			{ "agent/agents/spender.md": agent("maxCost: 0.3") },
			"`budget.maxCost` reached: $0.3000 of $0.3000",
		],
		"the budget of the project's agent if it is smaller": [
			{ "agent/subagents.json": file({ maxTurns: 3 }), "project/.pi/agents/spender.md": agent("maxTurns: 2") },
			"`budget.maxTurns` reached: 2 of 2",
			2,
		],
		"not the budget of the project's agent if it is larger": [
			{
				"agent/subagents.json": file({ maxTurns: 3 }),
				"project/.pi/agents/spender.md": agent("maxTurns: 9\nmaxCost: 9"),
			},
			"`budget.maxTurns` reached: 3 of 3",
		],
	};
	for (const [label, [written, error, turns = 3]] of Object.entries(files)) {
		it(`is ${label}`, async (t) => {
			const scene = playing(t, spends({ cost: 0.1 }, turns));
			for (const [name, text] of Object.entries(written)) scene.write(name, text);
			const isNamed = Object.keys(written).some((name) => name.endsWith("spender.md"));
			const result = await scene.run({ ...scene.options, ...(isNamed ? { agent: "spender" } : {}) });
			assert.deepEqual([shape(result), single(result).error], [overBudget, error]);
		});
	}
});

describe("the budget of a session", () => {
	/** A child that waits for a word and then spends the whole budget; the others are in the middle of a turn until then. */
	const others = [{ stream: "so far" }, gate("spent"), turn({ cost: 0.25 }, forEver)];
	const spender = [{ stream: "so far" }, { ask: "confirm", title: "Spend?" }, turn({ cost: 1 }, forEver)];
	const scenario = [{ when: "spend", do: spender, else: others }];
	const config = { sessionBudget: { maxCost: 1 }, maxConcurrent: 8, parallelConcurrency: 8 };
	const error = (spent: string) => `\`sessionBudget.maxCost\` reached: $${spent} of $1.0000`;

	/** Counts those whose model is in the middle of a turn, and lets the spender go on when all are. */
	class Meeting {
		readonly #all = Promise.withResolvers<void>();
		readonly #there = new Set<number>();
		readonly #count: number;

		constructor(count: number) {
			this.#count = count;
			if (count === 0) this.#all.resolve();
		}

		arrive(index: number): void {
			this.#there.add(index);
			if (this.#there.size === this.#count) this.#all.resolve();
		}

		readonly host = {
			ask: async () => {
				await inTime(this.#all.promise, "the other children");
				return { confirmed: true };
			},
		};
	}

	const tasksOf = (count: number) => ["spend it", ...Array(count - 1).fill("wait")];

	/** The turns under way end, each run counts its own, and every error has the sum. */
	function checkSum(results: ToolResult["details"]["results"], count: number): void {
		const total = 1 + 0.25 * (count - 1);
		assertDollars(
			results.reduce((sum, { usage }) => sum + usage.cost, 0),
			total,
			"sum",
		);
		for (const run of results) {
			assert.deepEqual([run.outcome, run.exitCode, run.output], ["budget", 1, "so far"]);
			assert.equal(run.error, error(total.toFixed(4)));
		}
	}

	/** Returns true if the spender has spent. */
	const hasSpent = ({ details }: ToolResult) => details.streaming?.turnCount === 1;

	for (const count of [1, 4, 8]) {
		it(`counts the turns under way of ${count} in one parallel call`, async (t) => {
			const scene = playing(t, scenario, { sessionId: `${count} at once`, config });
			const meeting = new Meeting(count - 1);
			const { agent, task: _, ...around } = scene.options;
			const tasks = tasksOf(count).map((task) => ({ agent, task }));
			const onUpdate = ({ details }: ToolResult) => {
				for (const [index, { text, turnCount }] of (details.tasks ?? []).entries()) {
					if (index > 0 && text?.includes("so far")) meeting.arrive(index);
					if (index === 0 && turnCount === 1) scene.open("spent");
				}
			};
			const handle = startParallel({ ...around, tasks }, onUpdate, meeting.host);
			const result = await inTime(handle.result(), "the result");
			assert.equal(result.isError, true);
			checkSum(result.details.results, count);
			assertDollars(result.usage?.cost.total, 1 + 0.25 * (count - 1));
		});

		it(`counts the turns under way of ${count} separate calls`, async (t) => {
			const scene = playing(t, scenario, { sessionId: `${count} calls`, config });
			const meeting = new Meeting(count - 1);
			const runs = tasksOf(count).map((task, index) =>
				scene.run(
					{ task, config: { ...scene.options.config } },
					(update) => {
						if (index > 0 && textOf(update).includes("so far")) meeting.arrive(index);
						if (index === 0 && hasSpent(update)) scene.open("spent");
					},
					meeting.host,
				),
			);
			const results = await Promise.all(runs);
			checkSum(results.map(single), count);
			const refused = await scene.run();
			const spent = (1 + 0.25 * (count - 1)).toFixed(4);
			assert.deepEqual(shape(refused), overBudget);
			assert.deepEqual([single(refused).error, single(refused).attempts], [`not started: ${error(spent)}`, 0]);
		});
	}

	it("lets an active answer end after other runs have used up the rest", async (t) => {
		const answers = [{ stream: "So far" }, gate("spent"), { say: ", so good.", usage: { cost: 0.25 } }];
		const scene = playing(t, [{ when: "spend", do: spender, else: answers }], { sessionId: "under way", config });
		const meeting = new Meeting(1);
		const [spent, answered] = await Promise.all([
			scene.run(
				{ task: "spend it" },
				(update) => {
					if (hasSpent(update)) scene.open("spent");
				},
				meeting.host,
			),
			scene.run({}, (update) => textOf(update).includes("So far") && meeting.arrive(1)),
		]);
		assert.deepEqual([shape(spent), shape(answered)], [overBudget, completed]);
		assert.deepEqual([single(spent).error, single(answered).output], [error("1.2500"), "So far, so good."]);
	});

	it("refuses a run whose first turn it does not cover", async (t) => {
		const scene = playing(t, [{ say: "Done.", usage: { cost: 0.6 } }], { sessionId: "too dear", config });
		assert.deepEqual(shape(await scene.run()), completed);
		const refused = single(await scene.run());
		const why =
			"not started: `sessionBudget.maxCost` reached: $0.6000 of $1.0000, and the next turn takes about $0.6000";
		assert.deepEqual([refused.error, refused.attempts], [why, 0]);
		assert.equal(recordsOf(scene, "pid").length, 1);
	});

	it("is not exceeded by runs between two turns", async (t) => {
		const scene = playing(t, [turn({ cost: 0.25 }, forEver)], { sessionId: "between", config });
		const results = await Promise.all(Array.from({ length: 4 }, () => scene.run()));
		for (const result of results) assert.deepEqual(shape(result), overBudget);
		assertDollars(
			results.reduce((sum, result) => sum + single(result).usage.cost, 0),
			1,
		);
	});

	it("does not change an answer that was complete when others spent the rest", async (t) => {
		const answer = [{ say: "Done.", usage: { cost: 0.25 } }, "settle", { sleep: 60_000 }];
		const scene = playing(t, [{ when: "spend", do: spender, else: answer }], { sessionId: "answered", config });
		const meeting = new Meeting(1);
		const [spent, answered] = await Promise.all([
			scene.run({ task: "spend it" }, undefined, meeting.host),
			scene.run({}, (update) => textOf(update) === "Done." && meeting.arrive(1)),
		]);
		assert.deepEqual([shape(spent), shape(answered)], [overBudget, completed]);
	});

	it("warns all runs when most of it is used, by any run", async (t) => {
		const waits = [{ steered: [{ say: "Wrapped up." }] }, { stream: "so far" }, turn({ cost: 0.1 }, untilWarned)];
		const spends = [
			{ ask: "confirm", title: "Spend?" },
			{ say: "Spent.", usage: { cost: 0.7 } },
		];
		const scene = playing(t, [{ when: "spend", do: spends, else: waits }], { sessionId: "told", config });
		const meeting = new Meeting(1);
		const [spent, warned] = await Promise.all([
			scene.run({ task: "spend it" }, undefined, meeting.host),
			scene.run({}, (update) => update.details.streaming?.turnCount === 1 && meeting.arrive(1)),
			openOnceWarned(scene),
		]);
		assert.deepEqual(
			[spent, warned].map(({ details }) => details.results[0]?.output),
			["Spent.", "Wrapped up."],
		);
		assert.match(
			String(recordsOf(scene, "steering")),
			/the money for all runs of this session \(\$0\.8000 of \$1\.0000\)/,
		);
	});

	it("refuses later runs with the figures, and starts no child for them", async (t) => {
		const scene = playing(t, [{ say: "Done.", usage: { cost: 1.5 } }], { sessionId: "after", config });
		assert.deepEqual(shape(await scene.run()), completed);
		const refused = await scene.run();
		assert.deepEqual(shape(refused), overBudget);
		const run = single(refused);
		assert.deepEqual([run.error, run.attempts, run.sessionFile], [`not started: ${error("1.5000")}`, 0, undefined]);
		const next = "next: do the rest yourself or in smaller parts; only the user can raise the budget";
		assert.equal(textOf(refused), `explorer failed with exit code 1\n\nerror: ${run.error}\n\n${next}`);
		assert.equal(recordsOf(scene, "pid").length, 1);
		assert.deepEqual(shape(await scene.run({ sessionId: "another" })), completed, "another session has its own budget");
	});

	it("belongs to the session's file without an id, and to the process without both", async (t) => {
		const once = { ...config, protocol: "rpc", maxConcurrent: 1, bootAhead: 0 };
		const scene = playing(t, [{ say: "Done.", usage: { cost: 1 } }], { config: once });
		const outcomes = async () => {
			const { stdout } = await host(scene, "several.mjs", ["x", "2"]);
			// Either may come to the only place first.
			return (JSON.parse(stdout) as ToolResult[]).map((result) => single(result).outcome).sort();
		};
		assert.deepEqual(await outcomes(), ["budget", "completed"]);
		assert.deepEqual(await outcomes(), ["budget", "completed"], "the budget ends with its process");
		Object.assign(scene.options, { parentSessionFile: scene.path("sessions/one.jsonl") });
		assert.deepEqual(await outcomes(), ["budget", "completed"]);
		assert.deepEqual(await outcomes(), ["budget", "budget"]);
	});

	it("counts the cost from before it was set", async (t) => {
		const scene = playing(t, [{ say: "Done.", usage: { cost: 1 } }], { sessionId: "before" });
		assert.deepEqual(shape(await scene.run()), completed);
		const later = await scene.run({ config: { protocol: "rpc", ...config } });
		assert.deepEqual(shape(later), overBudget);
	});
});

describe("the cost of a session", () => {
	const config = { sessionBudget: { maxCost: 1 }, protocol: "rpc" };

	/** One run in a host of its own. */
	async function inOtherHost(scene: Scene): Promise<ToolResult> {
		const { code, stdout, stderr } = await host(scene, "several.mjs", ["x", "1"]);
		assert.deepEqual([code, stderr], [0, ""]);
		return JSON.parse(stdout)[0];
	}

	function sceneOf(t: TestContext, sessionId: string): Scene {
		return playing(t, [{ say: "Done.", usage: { cost: 0.5 } }], { sessionId, config });
	}

	it("is remembered by other processes", async (t) => {
		const scene = sceneOf(t, "remembered");
		const outcomes = [];
		for (let round = 0; round < 3; round++) outcomes.push(shape(await inOtherHost(scene)));
		assert.deepEqual(outcomes, [completed, completed, overBudget]);
		assert.equal(single(await scene.run()).error, "not started: `sessionBudget.maxCost` reached: $1.0000 of $1.0000");
		Object.assign(scene.options, { sessionId: "not this one" });
		assert.deepEqual(shape(await inOtherHost(scene)), completed);
	});

	it("is remembered after attempts that failed, and runs that were aborted or ended", async (t) => {
		const scene = sceneOf(t, "failed");
		const usage = { cost: 0.125 };
		const failing = [
			{ retry: "500: no", usage },
			{ fail: "500: no", usage },
		];
		scene.write("scenario.json", JSON.stringify(failing));
		Object.assign(scene.options.env ?? {}, { FAKE_PI_SCENARIO: scene.path("scenario.json") });
		const failed = single(await inOtherHost(scene));
		assert.deepEqual([failed.outcome, failed.attempts, failed.usage.cost], ["failed", 2, 0.5]);
		scene.write("scenario.json", JSON.stringify([turn({ cost: 0.25 }, forEver)]));
		const [shown, onUpdate] = updateWith(({ details }) => details.streaming?.turnCount === 1);
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "an update with the first turn");
		handle.abort();
		assert.equal(single(await inTime(handle.result(), "the result")).outcome, "aborted");
		const stored = await inOtherHost(scene);
		assert.deepEqual(shape(stored), overBudget);
	});
});
