/** Another attempt: only where it may help and repeats nothing that has an effect, and never unseen. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, it, type TestContext } from "node:test";

import type { RunOptions, Streaming, ToolResult } from "../../native.js";
import { allows } from "../support/warden.ts";
import type { Scenario } from "./fault.ts";
import { inTime, type Scene, shape, single, textOf } from "./scene.ts";
import { playing, protocols, recordsOf, untilRecorded } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const failed = ["SUBAGENT_FAILED", 1, "failed", true];
const aborted = ["SUBAGENT_FAILED", 130, "aborted", true];

/** The usage of one message. */
const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, cost: 0.25 };

/** pi itself tries twice more and gives up: three messages. */
const givesUp = [
	{ retry: "500: try again", times: 2, of: 2, usage },
	{ fail: "500: try again", usage },
];

/** Plays one thing in the first process and another in those after it. */
const first = (scenario: unknown[], then: unknown[]) => [{ once: "{env.HERE}/first", do: scenario, else: then }];

function sceneOf(
	t: TestContext,
	scenario: Scenario,
	config: Record<string, unknown> = {},
	change: Partial<RunOptions> = {},
) {
	const retry = { backoffMs: 1, ...(config.retry as object) };
	const scene = playing(t, scenario, { ...change, config: { ...config, retry } });
	return scene;
}

interface Row {
	scenario: unknown[];
	config?: Record<string, unknown>;
	change?: Partial<RunOptions>;
	attempts: number;
	skip?: string | false;
}

const call = (name: string) => ({ call: name, usage });

const rows: Record<string, Row> = {
	"when pi has tried and given up": { scenario: givesUp, attempts: 2 },
	"as often as the configuration allows": { scenario: givesUp, config: { retry: { maxAttempts: 4 } }, attempts: 4 },
	"not when that is once": { scenario: givesUp, config: { retry: { maxAttempts: 1 } }, attempts: 1 },
	"not when it is switched off": { scenario: givesUp, config: { retry: { enabled: false } }, attempts: 1 },
	"not for an error that pi has not tried again": { scenario: [{ fail: "401: no key" }], attempts: 1 },
	"not for an error after a successful retry": {
		scenario: [{ retry: "500: try again" }, call("read"), { fail: "401: no key" }],
		attempts: 1,
	},
	"not for an answer": {
		scenario: [{ retry: "500: try again" }, { say: "Done." }],
		attempts: 1,
	},
	"not for a missing answer": { scenario: [call("read")], attempts: 1 },
	"not for an exit code": { scenario: [...givesUp, "settle", { exit: 4 }], attempts: 1 },
	"not for a death by signal": { scenario: [...givesUp, { die: "SIGKILL" }], attempts: 1 },
	"after tools that only read": { scenario: [call("read"), call("grep"), call("web_search"), ...givesUp], attempts: 2 },
	"not after a shell without a sandbox": { scenario: [call("bash"), ...givesUp], attempts: 1 },
	"after a shell in a read-only sandbox": {
		scenario: [call("bash"), ...givesUp],
		config: { sandbox: "required" },
		attempts: 2,
		skip: !allows("landlock") && "no Landlock here",
	},
	"not after a tool that writes": { scenario: [call("write"), ...givesUp], attempts: 1 },
	"not after a tool that writes, in a sandbox": {
		scenario: [call("edit"), ...givesUp],
		config: { sandbox: "required" },
		attempts: 1,
		skip: !allows("landlock") && "no Landlock here",
	},
	"not after an unknown tool": { scenario: [call("deploy"), ...givesUp], attempts: 1 },
	"not after a tool that failed, either": {
		scenario: [{ call: "write", isError: true, usage }, ...givesUp],
		attempts: 1,
	},
};

describe("another attempt is made", () => {
	for (const [label, { scenario, config, change, attempts, skip }] of Object.entries(rows)) {
		it(label, { skip: skip || false }, async (t) => {
			const scene = sceneOf(t, scenario, config, change);
			// A sandboxed child cannot write its log.
			if (config?.sandbox) Object.assign(scene.options.env ?? {}, { FAKE_PI_LOG: "" });
			const result = await scene.run();
			const run = single(result);
			if (config?.sandbox) assert.deepEqual([run.sandbox?.enforced, run.usage.turns], [true, attempts * 4]);
			assert.equal(run.attempts, attempts, textOf(result));
			assert.equal(/^attempts: \d+$/m.test(textOf(result)), attempts > 1);
			if (!config?.sandbox) assert.equal(recordsOf(scene, "task").length, attempts);
			for (let attempt = 1; attempt <= attempts; attempt++) {
				const name = attempt === 1 ? "session.jsonl" : `session-${attempt}.jsonl`;
				assert.ok(existsSync(`${dirname(run.sessionFile ?? "")}/${name}`), name);
			}
		});
	}
});

describe("a run of several attempts", () => {
	for (const protocol of protocols) {
		it(`sums up their usage, and returns the last answer: ${protocol}`, async (t) => {
			const scene = sceneOf(t, first([{ stream: "lost" }, ...givesUp], [call("read"), { say: "Done.", usage }]), {
				protocol,
				// Long enough to be shown.
				retry: { backoffMs: 300 },
			});
			const updates: Streaming[] = [];
			const result = await scene.run({}, ({ details }) => details.streaming && updates.push(details.streaming));
			const run = single(result);
			assert.deepEqual([shape(result), textOf(result), run.attempts], [completed, "Done.", 2]);
			const sum = { input: 50, output: 25, cacheRead: 10, cacheWrite: 5, cost: 1.25, turns: 5 };
			assert.deepEqual(run.usage, sum);
			assert.deepEqual([result.usage?.totalTokens, result.usage?.cost.total], [90, 1.25]);
			assert.equal(basename(run.sessionFile ?? ""), "session-2.jsonl");
			for (const [name, text] of [
				["session.jsonl", "500: try again"],
				["session-2.jsonl", "Done."],
			] as const) {
				const session = readFileSync(`${dirname(run.sessionFile ?? "")}/${name}`, "utf8");
				assert.ok(session.startsWith('{"') && session.includes(text), name);
			}
			const seen = updates
				.map(({ state, attempt }) => `${state} ${attempt}`)
				.filter((one, at, all) => one !== all[at - 1]);
			// A state that is over within two updates is not shown.
			assert.deepEqual(
				seen.filter((state) => !state.endsWith(" 1") && state !== "starting 2"),
				["retrying 2", "running 2"],
			);
			const turns = updates.map(({ turnCount }) => turnCount);
			assert.deepEqual(
				turns.toSorted((a, b) => a - b),
				turns,
				"the number of turns never decreases",
			);
		});
	}

	it("keeps their usage if the last attempt fails", async (t) => {
		const result = await sceneOf(t, givesUp, { retry: { maxAttempts: 3 } }).run();
		assert.deepEqual([shape(result), single(result).attempts], [failed, 3]);
		assert.deepEqual([single(result).usage.turns, single(result).usage.cost], [9, 2.25]);
		assert.match(
			textOf(result),
			/^explorer failed with exit code 1\n\nattempts: 3\n\nerror: .*`500: try again`\n\nsession: /,
		);
	});

	it("waits twice as long each time", async (t) => {
		const scene = sceneOf(t, givesUp, { retry: { maxAttempts: 3, backoffMs: 200 } });
		const started = performance.now();
		await scene.run();
		assert.ok(performance.now() - started >= 600, "the pauses take 200 and 400 ms");
	});

	/** A run in the pause before its second attempt. */
	async function pausing(scene: Scene) {
		const { promise, resolve } = Promise.withResolvers<ToolResult>();
		const handle = scene.start({}, (update) => update.details.streaming?.state === "retrying" && resolve(update));
		return { handle, update: await inTime(promise, "the pause") };
	}

	it("can be aborted in the pause between them without losing the previous attempt", async (t) => {
		const scene = sceneOf(t, [{ stream: "so far" }, ...givesUp], { retry: { backoffMs: 60_000 } });
		const { handle, update } = await pausing(scene);
		assert.deepEqual([update.details.streaming?.attempt, update.details.streaming?.usage.cost], [2, 0.75]);
		assert.equal(handle.steer("hello"), false);
		handle.abort("enough");
		const result = await inTime(handle.result(), "the result");
		const run = single(result);
		assert.deepEqual([shape(result), run.error], [aborted, "cancelled by user: enough"]);
		assert.deepEqual([run.attempts, run.usage.turns, run.usage.cost, result.usage?.cost.total], [1, 3, 0.75, 0.75]);
		assert.deepEqual([run.output, run.model], ["so far", "fake/fake-model"]);
		assert.ok(existsSync(run.sessionFile ?? ""));
		assert.equal(recordsOf(scene, "task").length, 1);
	});

	it("keeps their usage when it is aborted in the pause", async (t) => {
		const config = { retry: { backoffMs: 60_000 }, sessionBudget: { maxCost: 0.75 } };
		const scene = sceneOf(t, givesUp, { ...config, sessionBudget: { maxCost: 5 } }, { sessionId: "pause" });
		const { handle } = await pausing(scene);
		handle.abort();
		await inTime(handle.result(), "the result");
		const { host } = await import("./host.ts");
		Object.assign(scene.options.config ?? {}, config);
		const { stdout } = await host(scene, "several.mjs", ["x", "1"]);
		assert.match(JSON.parse(stdout)[0].details.error.message, /\$0\.7500 of \$0\.7500/);
	});

	it("reports the previous usage when it is aborted during the next boot", async (t) => {
		const scene = sceneOf(t, [{ boot: [{ once: "{env.HERE}/first", else: ["hang"] }] }, ...givesUp]);
		const handle = scene.start();
		await untilRecorded(scene, "argv", 2);
		handle.abort();
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(shape(result), aborted);
		assert.deepEqual([single(result).usage.turns, single(result).usage.cost], [3, 0.75]);
		assert.ok(existsSync(single(result).sessionFile ?? ""));
	});

	it("reports the previous usage if the next child cannot start", async (t) => {
		const scene = sceneOf(t, givesUp);
		const pi = scene.write("once", `#!/bin/sh\nrm "$0"\nexec ${scene.options.piCommand?.join(" ")} "$@"\n`);
		chmodSync(pi, 0o755);
		const result = await scene.run({ piCommand: [pi] });
		const run = single(result);
		assert.deepEqual([shape(result), run.attempts], [failed, 1]);
		assert.match(run.error ?? "", /^executable: .*once/);
		assert.deepEqual([run.usage.turns, run.usage.cost, result.usage?.cost.total], [3, 0.75, 0.75]);
		assert.ok(existsSync(run.sessionFile ?? ""), "the session of the first attempt exists");
	});

	it("keeps the first session if the next one cannot be created", async (t) => {
		const scene = sceneOf(t, givesUp, { retry: { backoffMs: 300 } });
		const handle = scene.start();
		await untilRecorded(scene, "task");
		const run = scene.path(`agent/subagents/runs/${handle.runId}`);
		scene.write(`agent/subagents/runs/${handle.runId}/session-2.jsonl/in the way`, "");
		const result = await inTime(handle.result(), "the result");
		assert.match(single(result).error ?? "", /^session directory: .*session-2\.jsonl/);
		assert.ok(existsSync(`${run}/session.jsonl`));
		rmSync(run, { recursive: true });
	});
});

describe("the hard limit", () => {
	it("allows no pause beyond it", async (t) => {
		const result = await sceneOf(t, givesUp, { timeoutMs: 30_000, retry: { backoffMs: 60_000 } }).run();
		assert.deepEqual([shape(result), single(result).attempts], [failed, 1]);
	});

	it("allows no attempt before the provider's pause has ended", async (t) => {
		const limited = [
			{ retry: "429: Rate limit reached. Please try again in 90s.", of: 1, usage },
			{ fail: "429: Rate limit reached. Please try again in 90s.", usage },
		];
		const config = { timeoutMs: 30_000, quota: { headlessMaxWaitMs: 60_000 } };
		const result = await sceneOf(t, limited, config).run();
		assert.deepEqual([shape(result), single(result).attempts], [failed, 1]);
	});

	it("allows an attempt after the provider's pause", async (t) => {
		const limited = [
			{ retry: "429: Rate limit reached. Please try again in 600ms.", of: 1, usage },
			{ fail: "429: Rate limit reached. Please try again in 600ms.", usage },
		];
		const started = performance.now();
		const result = await sceneOf(t, first(limited, [{ say: "Done." }])).run();
		assert.deepEqual([shape(result), single(result).attempts], [completed, 2]);
		assert.ok(performance.now() - started >= 600);
	});
});
