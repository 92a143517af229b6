/**
 * The result of a call for each possible course of a run: `result()` resolves for all of them. More faults are in
 * `faults.spec.ts` and, through both protocols, in `protocols.spec.ts`.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import type { RunOptions } from "../../native.js";
import { answers, hangs, Scene, shape, single, textOf } from "./scene.ts";

describe("a run that succeeds", () => {
	it("returns the answer, its cost, the model and the session file", async (t) => {
		const scene = new Scene(t, answers);
		const handle = scene.start();
		const result = await handle.result();
		const { sessionFile = "", ...run } = single(result);
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.equal(textOf(result), "Done.");
		assert.deepEqual([run.output, run.model, run.stopReason, run.attempts], ["Done.", "fake/m1", "stop", 1]);
		assert.deepEqual(run.usage, { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, cost: 0.3, turns: 1 });
		assert.deepEqual(result.usage, {
			input: 10,
			output: 5,
			cacheRead: 2,
			cacheWrite: 1,
			totalTokens: 18,
			cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 },
		});
		assert.deepEqual(run.displayItems, [{ type: "text", text: "Done." }]);
		assert.ok(run.durationMs >= 0 && !("error" in run) && !("streaming" in result.details));
		assert.equal(sessionFile, join(scene.agentDir, "subagents", "runs", handle.runId, "session.jsonl"));
		assert.ok(existsSync(sessionFile));
		assert.equal(result.details.runId, handle.runId);
		assert.match(handle.runId, /^[0-9a-f]{8}$/);
	});

	it("passes any task unchanged to the child", async (t) => {
		const scene = new Scene(t, answers);
		const task = `--help @file "quoted" $(id) \\n\u0000 日本語 😀\r\n${"x".repeat(1 << 20)}\n`;
		assert.deepEqual(shape(await scene.run({ task })), [undefined, 0, "completed", false]);
		assert.equal(scene.read("task"), task);
	});

	it("sums usage over all messages and shows tool calls in order", async (t) => {
		const script = `begin; called read '{"path":"a.ts"}'; tool_start read; tool_end read; said 'One.' stop; said 'Two.'; settled`;
		const result = await new Scene(t, script).run();
		assert.deepEqual([single(result).usage.turns, single(result).usage.input], [3, 20]);
		assert.deepEqual(single(result).displayItems, [
			{ type: "toolCall", name: "read", args: { path: "a.ts" } },
			{ type: "text", text: "One." },
			{ type: "text", text: "Two." },
		]);
	});

	it("reports that the model reached its output limit", async (t) => {
		const result = await new Scene(t, "begin; said 'Half an' length; settled").run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.match(textOf(result), /^Half an\n\n.*limit/);
	});

	it("returns the same result each time", async (t) => {
		const handle = new Scene(t, answers).start();
		const [first, second] = await Promise.all([handle.result(), handle.result()]);
		assert.deepEqual(first, second);
		assert.deepEqual(await handle.result(), first);
	});

	it("can neither be steered nor aborted any more", async (t) => {
		const handle = new Scene(t, answers).start();
		assert.equal(handle.steer("look elsewhere"), false);
		const result = await handle.result();
		handle.abort("too late");
		assert.equal(handle.steer("now"), false);
		assert.deepEqual(await handle.result(), result);
	});
});

describe("a refused call", () => {
	const broken = '{\n  "subagents": {\n    "maxDepth": }\n}';
	const local = "---\nname: local\nreadonly: true\n---\nLook.";
	type Row = {
		change?: Partial<RunOptions>;
		files?: Record<string, string>;
		code: string;
		says: RegExp;
		mode?: string;
	};
	const rows: Record<string, Row> = {
		"unknown agent": {
			change: { agent: "explorr" },
			code: "UNKNOWN_AGENT",
			says: /^Unknown agent `explorr`\. Available agents: explorer, researcher, reviewer, implementer, tester\b.*explorer/s,
		},
		"unknown agent with user and project agents": {
			change: { agent: "?" },
			files: {
				"agent/agents/zoe.md": "---\nname: zoe\n---\nZ.",
				"agent/agents/adam.md": "---\nname: adam\n---\nA.",
				"project/.pi/agents/local.md": local,
			},
			code: "UNKNOWN_AGENT",
			says: /^Unknown agent `\?`\. Available agents: explorer, researcher, reviewer, implementer, tester, worker, adam, zoe, local/,
		},
		"an agent name of a million characters": {
			change: { agent: "x".repeat(1e6) },
			code: "UNKNOWN_AGENT",
			says: /^.{1,1000}$/s,
		},
		"blank task": { change: { task: " \n\t" }, code: "INVALID_INPUT", says: /`task`/ },
		"empty task": { change: { task: "" }, code: "INVALID_INPUT", says: /`task`/ },
		"blank agent": { change: { agent: " " }, code: "INVALID_INPUT", says: /`agent`/ },
		"unknown setting": {
			change: { config: { timeout: 5 } },
			code: "INVALID_INPUT",
			says: /`timeout`.*not a known key/,
		},
		"setting of a wrong type": {
			change: { config: { timeoutMs: "5" } },
			code: "INVALID_INPUT",
			says: /`timeoutMs`.*whole number/,
		},
		"setting out of bounds": {
			change: { config: { maxDepth: 99 } },
			code: "INVALID_INPUT",
			says: /`maxDepth`.*from 0 to 16/,
		},
		"broken user file": {
			files: { "agent/subagents.json": broken },
			code: "SUBAGENTS_DISABLED",
			says: /agent\/subagents\.json:3:\d+/,
		},
		"broken project file": {
			files: { "project/.pi/subagents.json": broken },
			code: "SUBAGENTS_DISABLED",
			says: /project\/\.pi\/subagents\.json:3:\d+/,
		},
		"switched off": {
			change: { config: { enabled: false } },
			code: "SUBAGENTS_DISABLED",
			says: /`subagents\.enabled` is false/,
		},
		"switched off by the project": {
			files: { "project/.pi/subagents.json": '{"subagents":{"enabled":false}}' },
			code: "SUBAGENTS_DISABLED",
			says: /enabled/,
		},
		"project agent denied": {
			change: { agent: "local", config: { projectAgentPolicy: "deny" } },
			files: { "project/.pi/agents/local.md": local },
			code: "SUBAGENT_DISABLED",
			says: /projectAgentPolicy/,
		},
		"project agent without a user": {
			change: { agent: "local" },
			files: { "project/.pi/agents/local.md": local },
			code: "SUBAGENT_DISABLED",
			says: /nonInteractivePolicy/,
		},
		"too deep": {
			change: { env: { PI_SUBAGENT_DEPTH: "1" } },
			code: "SUBAGENT_DEPTH_EXCEEDED",
			says: /depth 1/,
			mode: "management",
		},
		"depth that is no number": {
			change: { env: { PI_SUBAGENT_DEPTH: "deep" } },
			code: "SUBAGENT_DEPTH_EXCEEDED",
			says: /deep/,
			mode: "management",
		},
	};
	for (const [label, { change = {}, files = {}, code, says, mode = "single" }] of Object.entries(rows)) {
		it(`starts nothing and says why: ${label}`, async (t) => {
			const scene = new Scene(t, answers, change);
			for (const [name, text] of Object.entries(files)) scene.write(name, text);
			const result = await scene.run();
			const { error } = result.details;
			assert.deepEqual([error?.code, result.isError, result.details.mode], [code, true, mode]);
			assert.match(error?.message ?? "", says);
			assert.equal(textOf(result), error?.message);
			assert.deepEqual(result.details.results, []);
			assert.ok(!scene.wasStarted && !existsSync(join(scene.agentDir, "subagents")));
		});
	}
});

describe("a child that cannot be started", () => {
	type Row = { prepare?: (scene: Scene) => Partial<RunOptions>; says: RegExp };
	const rows: Record<string, Row> = {
		"no directory": { prepare: () => ({ cwd: "" }), says: /^cwd: / },
		"a directory with a NUL": { prepare: () => ({ cwd: "/tmp\0" }), says: /^cwd: / },
		"no command": { prepare: () => ({ piCommand: [] }), says: /^executable: .*`piCommand`/ },
		"nothing in PATH": {
			prepare: () => ({ piCommand: undefined as never, env: { PATH: "/nowhere" } }),
			says: /^executable: .*PATH/,
		},
		"an argument with a NUL": { prepare: () => ({ piCommand: ["/bin/sh", "a\0b"] }), says: /^exec: .*NUL/ },
		"a variable with a NUL": { prepare: () => ({ env: { A: "a\0b" } }), says: /^exec: .*NUL/ },
		"a file in the way of the runs": {
			prepare: (scene) => {
				scene.write("agent/subagents/runs", "");
				return {};
			},
			says: /^session directory: .*\/agent\/subagents\/runs`.*os error/,
		},
		"an agent without any of its tools": {
			prepare: () => ({ agent: "researcher", tools: [{ name: "read" }] }),
			says: /`researcher` needs one of .*web_search/,
		},
	};
	for (const [label, { prepare, says }] of Object.entries(rows)) {
		it(`names the stage and the place: ${label}`, async (t) => {
			const scene = new Scene(t, answers);
			const { env, ...change } = prepare?.(scene) ?? {};
			const result = await scene.run({ ...change, env: { ...scene.options.env, ...env } });
			assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
			assert.match(single(result).error ?? "", says);
			assert.deepEqual([single(result).attempts, single(result).usage.turns], [0, 0]);
			assert.ok(!scene.wasStarted);
			assert.ok(
				textOf(result).startsWith("explorer failed with") || textOf(result).startsWith("researcher failed with"),
			);
		});
	}
});

describe("a child that fails", () => {
	type Row = {
		script: string;
		config?: Record<string, unknown>;
		is: [code: string, exitCode: number, outcome: string];
		says: RegExp;
		keeps?: boolean;
	};
	const failed = (exitCode: number): Row["is"] => ["SUBAGENT_FAILED", exitCode, "failed"];
	const grace = { graceMs: 100 };
	const rows: Record<string, Row> = {
		"exit code": {
			script: "begin; delta 'so far'; echo 'no such model' >&2; exit 3",
			is: failed(3),
			says: /no such model/,
			keeps: true,
		},
		"SIGKILL from another process": {
			script: "begin; delta 'so far'; kill -KILL $$",
			is: failed(137),
			says: /SIGKILL/,
			keeps: true,
		},
		"blank text": { script: "begin; said '  '; settled", is: failed(1), says: /no answer/ },
		silence: {
			script: hangs,
			config: { idleTimeoutMs: 1500, ...grace },
			is: ["SUBAGENT_TIMEOUT", 124, "idle_timeout"],
			says: /1500 ms.*`idleTimeoutMs`/,
			keeps: true,
		},
		"a tool that runs for too long": {
			script: "begin; delta 'so far'; tool_start bash; hang",
			config: { idleTimeoutMs: 1500, toolTimeoutMs: 500, ...grace },
			is: ["SUBAGENT_TIMEOUT", 124, "idle_timeout"],
			says: /500 ms.*tool.*`toolTimeoutMs`/,
			keeps: true,
		},
		"hard limit": {
			script: hangs,
			config: { timeoutMs: 1500, ...grace },
			is: ["SUBAGENT_TIMEOUT", 124, "hard_timeout"],
			says: /1500 ms.*`timeoutMs`/,
			keeps: true,
		},
	};
	for (const [label, { script, config = {}, is, says, keeps = false }] of Object.entries(rows)) {
		it(`is reported with its cause: ${label}`, async (t: TestContext) => {
			const scene = new Scene(t, script, { config });
			const result = await scene.run();
			const run = single(result);
			assert.deepEqual(shape(result), [...is, true], textOf(result));
			assert.match(run.error ?? "", says);
			assert.equal(result.details.error?.message, run.error);
			assert.deepEqual(
				[run.timeoutReason, run.signal],
				[
					is[2] === "hard_timeout" ? "runtime" : is[2] === "idle_timeout" ? "idle" : undefined,
					is[1] > 128 && is[1] < 255 ? /SIG[A-Z]+/.exec(run.error ?? "")?.[0] : undefined,
				],
			);
			// In this order: the code, the error, the partial output, the session.
			const order = [
				`exit code ${is[1]}`,
				`error: ${run.error}`,
				...(keeps ? ["partial output:\n```text\nso far\n```"] : []),
				`session: ${run.sessionFile}`,
			];
			const places = order.map((part) => textOf(result).indexOf(part));
			assert.ok(
				places.every((place, index) => place > (places[index - 1] ?? -1)),
				textOf(result),
			);
			assert.ok(existsSync(run.sessionFile ?? ""), "the session survives a failure");
			assert.deepEqual(scene.remainingFiles(), run.fullOutputFile ? ["output.md", "session.jsonl"] : ["session.jsonl"]);
		});
	}
});

describe("a slow child", () => {
	it("is not silent while a tool runs", async (t) => {
		const script = "begin; tool_start bash; sleep 1.5; tool_end bash; said 'Done.'; settled";
		const result = await new Scene(t, script, { config: { idleTimeoutMs: 1000 } }).run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("is not silent while it streams", async (t) => {
		const script = "begin; for i in 1 2 3 4 5; do delta x; sleep 0.3; done; said 'Done.'; settled";
		const result = await new Scene(t, script, { config: { idleTimeoutMs: 1000 } }).run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("has succeeded when its work is done, even if it does not exit", async (t) => {
		const script = "trap '' TERM; begin; said 'Done.'; settled; while :; do sleep 1; done";
		const result = await new Scene(t, script, { config: { graceMs: 100 } }).run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("does not fail for words about timeouts and errors in its answer", async (t) => {
		const result = await new Scene(t, "begin; said 'error: timeout, aborted, exit code 1, SIGKILL'; settled").run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
	});
});
