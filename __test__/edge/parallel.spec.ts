/** Several tasks side by side: each for itself, one result for all. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { describe, it } from "node:test";

import type { ConfirmRequest, TaskProgress, ToolResult } from "../../native.js";
import { slower } from "../support/machine.ts";
import { inTime, type Scene, textOf } from "./scene.ts";
import {
	type Around,
	gate,
	outcomesOf,
	playing,
	records,
	recordsOf,
	type Several,
	startSeveral,
	untilRecorded,
} from "./stand-in.ts";

/** An answer of 20 KB. */
const page = `a page ${"0123456789 ".repeat(1_860)}ends`;

/** A child whose behavior is given in its task. */
const obedient = [
	{ when: "page", do: [{ say: page }, "settle", { exit: 0 }] },
	{ when: "slow", do: [{ sleep: 400 }] },
	{ when: "fail", do: [{ fail: "401: no key" }, "settle", { exit: 0 }] },
	{ when: "crash", do: [{ stream: "so far" }, { exit: 7 }] },
	{ when: "hang", do: [{ stream: "so far" }, "hang"] },
	{ when: "long", do: [{ say: `first ${"0123456789 ".repeat(20_000)}last` }, "settle", { exit: 0 }] },
	{ when: "lines", do: [{ say: `first\n${"line\n".repeat(20_000)}last` }, "settle", { exit: 0 }] },
	{ say: "You said: {task}", usage: { input: 10, output: 5, cost: 0.25 } },
];

async function run(scene: Scene, several: Several, ...around: Around): Promise<ToolResult> {
	return await inTime(startSeveral("parallel", scene, several, ...around).result(), "the result");
}

/** Returns the headings of the results in a call's text. */
const headings = (result: ToolResult) => textOf(result).match(/^\[\d+\/\d+\] .*$/gm) ?? [];

describe("parallel tasks", () => {
	it("have their results in the order of the tasks", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["slow one", "two", "slow three", "four"]);
		const tasks = ["slow one", "two", "slow three", "four"];
		assert.equal(result.details.mode, "parallel");
		assert.match(result.details.runId ?? "", /^[0-9a-f]{8}$/);
		assert.deepEqual([result.isError ?? false, result.details.error], [false, undefined]);
		assert.deepEqual(
			result.details.results.map(({ task }) => task),
			tasks,
		);
		assert.deepEqual(
			result.details.results.map(({ output }) => output),
			tasks.map((task) => `You said: ${task}`),
		);
		assert.equal(
			textOf(result),
			tasks
				.map((task, at) => `[${at + 1}/4] explorer ✓ · \`${task}\`\n\n\`\`\`text\nYou said: ${task}\n\`\`\``)
				.join("\n\n"),
		);
		const sessions = result.details.results.map(({ sessionFile }) => sessionFile ?? "");
		assert.ok(new Set(sessions).size === 4 && sessions.every(existsSync));
		assert.deepEqual([result.usage?.input, result.usage?.cost.total], [40, 1]);
	});

	it("succeed if one task does, and name the failures", async (t) => {
		const scene = playing(t, obedient, { config: { idleTimeoutMs: 1_500 * slower, graceMs: 200 } });
		const result = await run(scene, ["crash", "hang", "three", "fail"]);
		assert.equal(result.isError ?? false, false);
		assert.deepEqual(outcomesOf(result), ["failed", "idle_timeout", "completed", "failed"]);
		assert.deepEqual(
			result.details.results.map(({ exitCode }) => exitCode),
			[7, 124, 0, 1],
		);
		assert.deepEqual(headings(result), [
			"[1/4] explorer ✗ SUBAGENT_FAILED · `crash`",
			"[2/4] explorer ✗ SUBAGENT_TIMEOUT · `hang`",
			"[3/4] explorer ✓ · `three`",
			"[4/4] explorer ✗ SUBAGENT_FAILED · `fail`",
		]);
		assert.deepEqual(result.details.error, { code: "SUBAGENT_FAILED", message: "the child gave no reason" });
		assert.match(
			textOf(result),
			/exit code 7\n\n.*partial output:\n```text\nso far\n```\n\n.*You said: three\n```\n\n.*401: no key/s,
		);
	});

	it("fail if all tasks fail", async (t) => {
		const result = await run(playing(t, obedient), ["crash", "fail"]);
		assert.deepEqual([result.isError, result.details.error?.code], [true, "SUBAGENT_FAILED"]);
		assert.deepEqual(outcomesOf(result), ["failed", "failed"]);
	});

	it("of different agents have their own prompts", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, [
			{ agent: "reviewer", task: "one" },
			{ agent: "tester", task: "two" },
		]);
		assert.deepEqual(headings(result), ["[1/2] reviewer ✓ · `one`", "[2/2] tester ✓ · `two`"]);
		assert.deepEqual(
			result.details.results.map(({ agent }) => agent),
			["reviewer", "tester"],
		);
	});

	it("may be a single task", async (t) => {
		const result = await run(playing(t, obedient), ["one"]);
		assert.deepEqual(
			[textOf(result), outcomesOf(result)],
			["[1/1] explorer ✓ · `one`\n\n```text\nYou said: one\n```", ["completed"]],
		);
	});

	it("all receive a message to the call", async (t) => {
		const scene = playing(t, [{ stream: "so far" }, gate(), { say: "." }]);
		const handle = startSeveral("parallel", scene, ["one", "two", "three"]);
		await untilRecorded(scene, "task", 3);
		assert.equal(handle.steer("hurry"), true);
		assert.deepEqual(await untilRecorded(scene, "steering", 3), ["hurry", "hurry", "hurry"]);
		scene.open();
		await inTime(handle.result(), "the result");
	});

	it("end with an abort, running or waiting", async (t) => {
		const scene = playing(t, obedient, { config: { parallelConcurrency: 2, maxConcurrent: 8, graceMs: 300 } });
		const handle = startSeveral("parallel", scene, ["quick", "hang", "hang", "hang", "hang"]);
		await untilRecorded(scene, "task", 3);
		handle.abort("enough");
		const result = await inTime(handle.result(), "the result");
		assert.deepEqual(outcomesOf(result), ["completed", "aborted", "aborted", "aborted", "aborted"]);
		assert.deepEqual(
			result.details.results.map(({ attempts }) => attempts),
			[1, 1, 1, 0, 0],
		);
		assert.deepEqual(
			result.details.results.slice(3).map(({ error }) => error),
			Array(2).fill("not started: cancelled by user: enough"),
		);
		assert.equal(recordsOf(scene, "task").length, 3);
		assert.equal(result.details.error?.message, "cancelled by user: enough");
	});

	it("do not start if the caller has aborted before", async (t) => {
		const scene = playing(t, obedient);
		const result = await run(scene, ["one", "two"], { aborted: true });
		assert.deepEqual([result.isError, outcomesOf(result), records(scene)], [true, ["aborted", "aborted"], []]);
	});
});

describe("a call that is refused", () => {
	const many = (count: number) => Array.from({ length: count }, (_, index) => `task ${index}`);
	const rows: Record<string, [several: Several, config: object, code: string, message: RegExp]> = {
		"an agent that does not exist": [
			["one", "two", { agent: "explorr", task: "three" }, "four"],
			{},
			"UNKNOWN_AGENT",
			/^task 3: Unknown agent `explorr`\. Available agents: explorer, .*explorer/,
		],
		"no tasks": [[], {}, "INVALID_INPUT", /^`tasks` has 0 entries; expected 1 to 8 \(`subagents\.maxParallelTasks`\)$/],
		"too many tasks": [many(9), {}, "INVALID_INPUT", /^`tasks` has 9 entries; expected 1 to 8 /],
		"more than the configuration allows": [
			many(3),
			{ maxParallelTasks: 2 },
			"INVALID_INPUT",
			/has 3 entries; expected 1 to 2/,
		],
		"a task that is blank": [["one", " \n"], {}, "INVALID_INPUT", /^task 2: `task` must not be blank/],
		"an agent that is blank": [["one", { agent: "" }], {}, "INVALID_INPUT", /^task 2: `agent` must not be blank/],
		"a directory that is missing": [["one", { cwd: "missing" }], {}, "INVALID_INPUT", /^task 2: .*\/project\/missing/],
		"delegation that is switched off": [["one"], { enabled: false }, "SUBAGENTS_DISABLED", /switched off/],
	};
	for (const [label, [several, config, code, message]] of Object.entries(rows)) {
		it(`names the mistake and starts nothing: ${label}`, async (t) => {
			const scene = playing(t, obedient, { config: { ...config } });
			const result = await run(scene, several);
			assert.deepEqual([result.isError, result.details.mode, result.details.results], [true, "parallel", []]);
			assert.equal(result.details.error?.code, code);
			assert.match(textOf(result), message);
			assert.equal(result.details.error?.message, textOf(result));
			assert.deepEqual([records(scene), existsSync(scene.path("agent/subagents/runs"))], [[], false]);
		});
	}
});

describe("a task's own directory", () => {
	const agent = "---\nname: local\nreadonly: true\ndescription: Looks around here.\n---\nLook.";
	const settings = (values: object) => JSON.stringify({ subagents: values });

	it("is relative to the conversation's, or absolute", async (t) => {
		const scene = playing(t, obedient);
		for (const name of ["project/inner", "other"]) mkdirSync(scene.path(name));
		await run(scene, [
			"here",
			{ cwd: "inner", task: "inside" },
			{ cwd: "../other", task: "beside" },
			{ cwd: scene.path("other"), task: "there" },
		]);
		assert.deepEqual(
			recordsOf(scene, "cwd").toSorted(),
			[scene.project, scene.path("project/inner"), scene.path("other"), scene.path("other")].toSorted(),
		);
	});

	it("brings its project's agents, which a person must allow", async (t) => {
		const scene = playing(t, obedient);
		const path = scene.write("other/.pi/agents/local.md", agent);
		const several = ["here", { agent: "local", cwd: "../other", task: "there" }];
		const asked: ConfirmRequest[] = [];
		const ask = (answer: boolean) => ({
			confirm: (request: ConfirmRequest) => {
				asked.push(request);
				return answer;
			},
		});
		const refused = await run(scene, several, { sessionId: "refused" }, undefined, ask(false));
		assert.deepEqual([refused.details.error?.code, records(scene)], ["SUBAGENT_DISABLED", []]);
		assert.match(textOf(refused), /^task 2: agent `local` .*the user did not allow it, .*; use another one, .*$/);
		const unattended = await run(scene, several);
		assert.match(
			textOf(unattended),
			/^task 2: agent `local` .*`subagents\.nonInteractivePolicy` is `deny`; use another one$/,
		);
		const allowed = await run(scene, several, {}, undefined, ask(true));
		assert.deepEqual(headings(allowed), ["[1/2] explorer ✓ · `here`", "[2/2] local ✓ · `there`"]);
		assert.deepEqual(
			asked.map((request) => request.path),
			[path, path],
		);
		const inProject = await run(scene, [{ agent: "local", task: "here" }]);
		assert.equal(inProject.details.error?.code, "UNKNOWN_AGENT");
	});

	it("is confirmed once for several tasks", async (t) => {
		const scene = playing(t, obedient, { agent: "local" });
		scene.write("project/.pi/agents/local.md", agent);
		let count = 0;
		const confirm = () => ++count > 0;
		await run(scene, ["one", "two", "three"], {}, undefined, { confirm });
		assert.deepEqual([count, recordsOf(scene, "task").length], [1, 3]);
	});

	it("applies its project's stricter settings, and keeps the conversation's", async (t) => {
		// It has no answer before it is ended. A run with an answer would be left alone.
		const scene = playing(t, [{ repeat: [{ call: "read", takesMs: 20 }], times: 1_000 }]);
		scene.write("agent/subagents.json", settings({ budget: { maxTurns: 6 } }));
		for (const [name, maxTurns] of Object.entries({ strict: 2, loose: 50 })) {
			scene.write(`${name}/.pi/subagents.json`, settings({ budget: { maxTurns } }));
		}
		const several = [{ cwd: "../strict" }, { cwd: "../loose" }, {}];
		const limits = async () =>
			(await run(scene, several)).details.results.map(({ error }) => error?.match(/\d+$/)?.[0]);
		assert.deepEqual(await limits(), ["2", "6", "6"]);
		scene.write("project/.pi/subagents.json", settings({ budget: { maxTurns: 3 } }));
		assert.deepEqual(await limits(), ["2", "3", "3"]);
	});

	it("that switches delegation off is refused", async (t) => {
		const scene = playing(t, obedient);
		scene.write("other/.pi/subagents.json", settings({ enabled: false }));
		const result = await run(scene, ["here", { cwd: "../other" }]);
		assert.match(textOf(result), /^task 2: delegation is switched off/);
		assert.deepEqual(records(scene), []);
	});
});

describe("the size of a result", () => {
	const one = 51_200;
	const all = 512 * 1024;

	it("is the same for each answer as for a single one", async (t) => {
		const scene = playing(t, obedient);
		const several = ["one", "long two", "page three", "page four", "page five", "page six", "page seven", "page eight"];
		const result = await run(scene, several);
		assert.deepEqual(outcomesOf(result), Array(8).fill("completed"));
		const text = textOf(result);
		assert.ok(text.includes("explorer ✓ · `one`\n\n```text\nYou said: one"));
		assert.match(text, /explorer ✓ · `long two`\n\n```text\nfirst 0123.*last\n```\n\n\[3/s);
		assert.equal(text.split(page).length - 1, 6, "each page of 20 KB is complete");
		const bytes = Buffer.byteLength(text);
		assert.ok(bytes > 6 * page.length + one - 1_000 && bytes <= 6 * page.length + one + 8_000, `${bytes} bytes`);
		assert.deepEqual([result.isError ?? false, result.details.error?.code], [false, "SUBAGENT_OUTPUT_TRUNCATED"]);
		assert.ok(existsSync(result.details.results[1]?.fullOutputFile ?? ""));
	});

	for (const [word, count, limit] of [
		["long", 8, all],
		["lines", 8, all],
		["crash long", 3, all],
		["long", 8, 60_000],
		["page", 2, 30_000],
	] as const) {
		it(`is never exceeded: ${count} × ${word} in ${limit} bytes`, async (t) => {
			const config = { output: { maxTotalBytes: limit } };
			const scene = playing(t, obedient, { config });
			const result = await run(scene, Array(count).fill(word));
			const text = textOf(result);
			const bytes = Buffer.byteLength(text);
			assert.ok(bytes <= Math.min(limit, count * (one + 1_000)), `${bytes} bytes`);
			if (limit < count * one && word !== "lines") assert.ok(bytes > limit * 0.8, `${bytes} bytes`);
			assert.ok(text.split("\n").length <= count * 2_010);
			assert.equal(headings(result).length, count);
		});
	}
});

describe("updates of several tasks", () => {
	/** The updates of a call, as they came, and when. */
	async function updatesOf(scene: Scene, several: Several) {
		const updates: { at: number; tasks: TaskProgress[]; update: ToolResult }[] = [];
		const onUpdate = (update: ToolResult) => {
			updates.push({ at: performance.now(), tasks: update.details.tasks ?? [], update: structuredClone(update) });
		};
		const result = await run(scene, several, {}, onUpdate);
		return { updates, result };
	}

	it("contain all tasks every time, in order, without results", async (t) => {
		const scene = playing(t, obedient, { config: { parallelConcurrency: 2 } });
		const { updates, result } = await updatesOf(scene, [
			"slow one",
			"slow two",
			"three",
			{ agent: "tester", task: "crash" },
		]);
		assert.ok(updates.length > 3);
		for (const { tasks, update } of updates) {
			assert.deepEqual(
				tasks.map(({ agent }) => agent),
				["explorer", "explorer", "explorer", "tester"],
			);
			assert.deepEqual(
				[update.details.mode, update.details.results, update.details.runId],
				["parallel", [], result.details.runId],
			);
			assert.ok(!update.isError && !update.usage && update.details.streaming === undefined);
		}
		const last = updates.at(-1)?.tasks ?? [];
		assert.deepEqual(
			last.map(({ state }) => state),
			["completed", "completed", "completed", "failed"],
		);
		assert.deepEqual(
			last.map(({ error }) => error),
			[undefined, undefined, undefined, "the child gave no reason"],
		);
		assert.deepEqual(
			last.map(({ usage }) => usage.turns),
			[1, 1, 1, 0],
		);
		assert.ok(updates.some(({ tasks }) => tasks[2]?.state === "queued" && tasks[2].position === 1));
	});

	it("repeat the text of a task only after a change", async (t) => {
		const scene = playing(t, [{ stream: "Word ".repeat(40), chunk: 5, pauseMs: 30 }, { say: "." }]);
		const { updates } = await updatesOf(scene, ["one", "two", "three"]);
		const kept: { text: string; displayItems: unknown }[] = [];
		for (const { tasks } of updates) {
			for (const [index, { text, displayItems }] of tasks.entries()) {
				assert.equal(text === undefined, displayItems === undefined, "an update has both fields or neither");
				const before = kept[index];
				if (text === undefined) assert.ok(before, "the first update has all fields");
				else {
					assert.notDeepEqual({ text, displayItems }, before, "unchanged fields are omitted");
					kept[index] = { text, displayItems };
				}
			}
		}
		assert.deepEqual(
			kept.map(({ text }) => text),
			Array(3).fill(`${"Word ".repeat(40)}.`),
		);
	});

	it("are small, and at most ten a second", async (t) => {
		const scene = playing(t, [
			{ stream: "One word after the other.", chunk: 2, pauseMs: 20 },
			{ call: "read", args: { path: "x" } },
			{ say: "Done." },
		]);
		const started = performance.now();
		const { updates } = await updatesOf(
			scene,
			Array.from({ length: 6 }, (_, index) => `task ${index}`),
		);
		const seconds = (performance.now() - started) / 1_000;
		const bytes = updates.reduce((sum, { update }) => sum + JSON.stringify(update).length, 0);
		assert.ok(bytes < 2_500 * updates.length, `${bytes} bytes in ${updates.length} updates`);
		assert.ok(updates.length <= 10 * seconds + 2, `${updates.length} in ${seconds} s`);
	});
});
