/** What is recorded of a run can be replayed with the same result, and gives nothing away. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { settings } from "../../fake-pi/recording.mjs";
import { replay } from "../../fake-pi/replay.mjs";
import type { HostCallbacks, RunOptions, ToolResult } from "../../index.js";
import type { Scenario } from "./fault.ts";
import { inTime, type Scene, shape, single, textOf, until } from "./scene.ts";
import { eventsOf, gate, type Json, type Protocol, playing, protocols, toldOf } from "./stand-in.ts";

const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

/** Of a run, what belongs to its place and its hour and not to what the child wrote and was told. */
const ofItsOwn = ["runId", "sessionFile", "durationMs", "redacted", "resources"];

/** So are notes on what the machine allows, and on what was redacted before it was recorded. */
const isOfItsOwn = (note: string) => /^`bash` was dropped:|^\d+ values? redacted:/.test(note);

/** What a replay has to give again: the whole result, but for what is of the run's own. */
function lasting({ content, isError, details }: ToolResult) {
	const [text, ...more] = content;
	const results = details.results.map(({ diagnostics = [], ...result }) => ({
		...Object.fromEntries(Object.entries(result).filter(([key]) => !ofItsOwn.includes(key))),
		diagnostics: diagnostics.filter((note) => !isOfItsOwn(note)),
	}));
	const { runId, ...rest } = details;
	const said = { ...text, text: text?.text.replace(/^session: .*$/m, "session: …") };
	return { isError, content: [said, ...more], details: { ...rest, results, hasRunId: runId !== undefined } };
}

interface Row {
	scenario: Scenario;
	change?: Partial<RunOptions>;
	/** What the caller does while the run works. */
	meanwhile?: (scene: Scene, run: ReturnType<Scene["start"]>) => Promise<void>;
	host?: HostCallbacks;
	protocols?: readonly Protocol[];
	outcome: string;
}

const rpc: readonly Protocol[] = ["rpc"];

const rows: Record<string, Row> = {
	"an answer after tools": {
		scenario: [
			{ think: "Which file?" },
			{ call: "read", args: { path: "README.md" }, result: `token=${secret}` },
			{ say: `It says ${secret} and little else.`, chunk: 3 },
		],
		outcome: "completed",
	},
	"a second attempt": {
		scenario: [
			{
				once: "{env.HERE}/first",
				do: [{ retry: "500: try again", times: 2, of: 2 }, { fail: "500: try again" }],
				else: [{ say: "Done." }],
			},
		],
		change: { config: { retry: { backoffMs: 1 } } },
		outcome: "completed",
	},
	"a provider's error": { scenario: [{ stream: "So far" }, { fail: "401: no key" }], outcome: "failed" },
	"an exit with words": {
		scenario: [{ raw: `cannot: ${secret}\n`, to: "stderr" }, { exit: 3 }],
		outcome: "failed",
	},
	"a crash in the middle of an answer": {
		scenario: [{ stream: "Half an ans" }, { die: "SIGSEGV" }],
		outcome: "failed",
	},
	"noise between events": { scenario: [{ noise: ["banner\n", "[1, 2]\n"] }, { say: "Done." }], outcome: "completed" },
	silence: {
		scenario: [{ stream: "So far" }, "hang"],
		change: { config: { idleTimeoutMs: 1_000 } },
		outcome: "idle_timeout",
	},
	"a budget": {
		scenario: [{ repeat: [{ call: "read", args: { path: "a" } }], times: 3 }, gate("never")],
		change: { config: { budget: { maxTurns: 3 } } },
		outcome: "budget",
	},
	"an abort": {
		scenario: [{ call: "read" }, { stream: "So far" }, gate("never")],
		meanwhile: async (_, run) => run.abort("enough of that"),
		outcome: "aborted",
	},
	"a message in between": {
		scenario: [{ steered: [{ say: "Told to {steer}." }] }, { call: "read" }, gate(), { say: "Not told." }],
		meanwhile: async (scene, run) => {
			assert.equal(run.steer("turn left"), true);
			await until(() => toldOf(scene, "steering").length > 0, "the message");
			scene.open();
		},
		protocols: rpc,
		outcome: "completed",
	},
	"a question and its answer": {
		scenario: [{ ask: "input", title: "Which branch?" }, { say: "On {answer}." }],
		host: { ask: async () => ({ value: "main" }) },
		protocols: rpc,
		outcome: "completed",
	},
	"a question that nobody answers": {
		scenario: [{ ask: "confirm", title: "Go on?" }, { say: "Told {answer}." }],
		protocols: rpc,
		outcome: "completed",
	},
};

async function record(t: TestContext, row: Row, protocol: Protocol): Promise<[Scene, string, ToolResult]> {
	const { scenario, change = {}, meanwhile, host } = row;
	const scene = playing(t, scenario, { ...change, config: { ...change.config, protocol } });
	const path = scene.path("run.jsonl");
	let isUnderWay = (): void => undefined;
	const underWay = new Promise<void>((resolve) => {
		isUnderWay = resolve;
	});
	const hear = ({ details }: ToolResult) => {
		if (JSON.stringify(details.streaming?.displayItems ?? []).includes("read")) isUnderWay();
	};
	const run = scene.start({ record: path }, hear, host);
	if (meanwhile) {
		await inTime(underWay, "the call of a tool");
		await meanwhile(scene, run);
	}
	return [scene, path, await inTime(run.result(), "the result")];
}

describe("a recording", () => {
	for (const [what, row] of Object.entries(rows)) {
		for (const protocol of row.protocols ?? protocols) {
			it(`of ${what} gives the same result again, over ${protocol}`, async (t) => {
				const [scene, path, recorded] = await record(t, row, protocol);
				assert.equal(single(recorded).outcome, row.outcome, textOf(recorded));
				const text = scene.read("run.jsonl");
				assert.ok(!text.includes(secret), text);
				assert.equal(statSync(path).mode & 0o777, 0o600);
				const replayed = await inTime(replay(path), "the replay");
				assert.deepEqual(lasting(replayed), lasting(recorded));
			});
		}
	}

	it("of a structured result has it again", async (t) => {
		const structured = { files: ["a.rs"] };
		const result = { content: [{ type: "text", text: "Submitted." }], details: { submitted: structured } };
		const ids = { toolCallId: "c1", toolName: "submit_result" };
		const scenario = [
			{ stream: "Found it." },
			{ event: { type: "tool_execution_start", ...ids, args: structured } },
			{ event: { type: "tool_execution_end", ...ids, result, isError: false } },
			{ say: "Submitted." },
		];
		const change = { outputSchema: { type: "object" } };
		const [, path, recorded] = await record(t, { scenario, change, outcome: "completed" }, "rpc");
		assert.deepEqual(single(recorded).structured, structured, textOf(recorded));
		assert.deepEqual(lasting(await inTime(replay(path), "the replay")), lasting(recorded));
	});

	it("says what was run, where, and when each thing happened", async (t) => {
		const [scene] = await record(t, { scenario: [{ say: "Done." }], outcome: "completed" }, "rpc");
		const [header, child, ...entries] = eventsOf(scene.read("run.jsonl"));
		const { agent, config, ...rest } = header as { agent: Json; config: Json } & Json;
		assert.deepEqual([agent.name, agent.readonly], ["explorer", true]);
		assert.equal(config.protocol, "rpc");
		assert.deepEqual(Object.keys(config).sort(), settings.toSorted(), "what is written is what a replay takes");
		assert.equal(rest.kind, "subagent-recording");
		assert.equal(rest.version, 1);
		assert.equal(rest.task, "look around");
		assert.deepEqual(child, { child: 1 });
		assert.deepEqual(entries[0], { at: entries[0]?.at, in: "prompt" });
		const times = entries.map(({ at }) => Number(at));
		assert.deepEqual(
			times,
			times.toSorted((a, b) => a - b),
		);
		const { end, code } = entries.at(-1) ?? {};
		assert.deepEqual([end, code], ["settled", 0]);
	});

	it("is made of every run where the user names a directory, and stops none", async (t) => {
		const scene = playing(t, [{ say: "Done." }]);
		const folder = scene.path("deep/recordings");
		for (const _ of [1, 2]) assert.equal((await scene.run({ config: { recordings: folder } })).isError, undefined);
		const made = readdirSync(folder);
		assert.equal(made.length, 2, made.join(" "));
		assert.equal(statSync(folder).mode & 0o777, 0o700);

		scene.write("file", "");
		const result = await scene.run({ config: { recordings: scene.path("file/below") } });
		assert.equal(result.isError, undefined, textOf(result));
		const why = `\`recordings\`: cannot create \`${scene.path("file/below")}\`: Not a directory`;
		assert.ok(
			single(result).diagnostics?.some((note) => note.startsWith(why)),
			single(result).diagnostics?.join("\n"),
		);
		const refused = await scene.run({ config: { recordings: "here" } });
		assert.match(textOf(refused), /recordings.*expected a path that begins with `\/` or `~\/`/);
	});

	it("is refused before anything runs where it cannot be written", async (t) => {
		const scene = playing(t, [{ say: "Done." }]);
		const existing = scene.write("precious", "precious");
		for (const [path, why] of [
			[existing, "it exists; expected the path of a file that does not"],
			[scene.path("no/such/run.jsonl"), "its directory does not exist"],
			[scene.root, "it exists"],
		] as const) {
			const result = await scene.run({ record: path });
			assert.equal(result.isError, true);
			assert.ok(textOf(result).includes(`\`record\`: cannot write \`${path}\`: ${why}`), textOf(result));
		}
		assert.equal(scene.read("precious"), "precious");
		assert.deepEqual(toldOf(scene, "argv"), [], "no child was started");
	});
});

describe("a replay", () => {
	const header = {
		kind: "subagent-recording",
		version: 1,
		agent: { name: "explorer", tools: ["read"] },
		task: "look",
		config: {},
	};
	const lines = (...entries: unknown[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

	it("refuses an invalid recording with the place of the error", async (t) => {
		const scene = playing(t, []);
		for (const [text, why] of [
			["", /not a recording/],
			["{}\n", /not a recording: its first line has no "kind": "subagent-recording"/],
			["[1]\n", /line 1: expected a JSON object/],
			[lines({ ...header, version: 2 }), /has version 2; this package replays version 1/],
			[lines({ ...header, agent: { name: "../../etc" } }), /line 1: `\.\.\/\.\.\/etc` is not a valid agent name/],
			[lines(header, { at: 1, out: {} }), /line 2: expected "child"/],
			[lines(header, { child: 1 }, { out: {} }), /line 3: expected/],
			[lines(header, { child: 1 }, { at: 1, caller: "steer", message: {} }), /line 3: expected/],
			[lines(header, { child: 1 }, { at: 1, end: "exited", signal: "; reboot" }), /line 3: expected/],
			[`${lines(header, { child: 1 })}torn\n`, /line 3: expected a JSON object/],
		] as const) {
			const path = scene.write("bad.jsonl", text);
			await assert.rejects(replay(path), (error: Error) => why.test(error.message) && error.message.startsWith(path));
		}
		await assert.rejects(replay(scene.path("none")), /ENOENT/);
	});

	it("runs nothing that a recording names", async (t) => {
		const scene = playing(t, []);
		const [mark, touched] = [scene.path("mark"), `touch ${scene.path("mark")}`];
		const command = ["sh", "-c", touched];
		const hostile = {
			...header,
			agent: { ...header.agent, check: touched, setup: touched, launcher: "l", tools: ["read\ncheck: x", "read"] },
			config: { piCommand: command, launchers: { l: { command } }, launcher: "l", allowWrite: "all", env: { A: "b" } },
			env: { NODE_OPTIONS: `--require ${scene.path("x.js")}` },
		};
		const end = { at: 3, end: "exited", code: 0 };
		const said = { type: "message_end", message: { role: "assistant", content: [{ type: "text", text: "Hi." }] } };
		const path = scene.write("hostile.jsonl", lines(hostile, { child: 1 }, { at: 1, out: said }, end));
		const result = await inTime(replay(path), "the replay");
		assert.deepEqual(shape(result).slice(1, 3), [0, "completed"], textOf(result));
		assert.equal(existsSync(mark), false);
	});

	it("says so when it needs an attempt that was not recorded", async (t) => {
		const scene = playing(t, []);
		const path = scene.write("short.jsonl", lines(header));
		const result = await inTime(replay(path), "the replay");
		assert.match(textOf(result), /this attempt is not in the recording/);
	});

	it("leaves out what its host does not ask for, and ends when it is told to", async (t) => {
		const scene = playing(t, []);
		const said = (text: string) => ({
			type: "message_end",
			message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
		});
		const settled = [{ type: "agent_end", messages: [] }, { type: "agent_settled" }];
		const out = (...records: unknown[]) => records.map((record) => ({ at: 1, out: record }));
		const rpc = { ...header, config: { protocol: "rpc" } };
		const asked = { at: 2, in: "announce" };
		const first = [{ at: 0, in: "prompt" }, ...out({ type: "agent_start" }, said("The answer."), ...settled)];
		const entries = [...first, asked, ...out(said("Announced."), ...settled), { at: 3, end: "settled", code: 0 }];
		const path = scene.write("announced.jsonl", lines(rpc, { child: 1 }, ...entries));
		assert.equal(single(await inTime(replay(path), "the replay")).output, "The answer.");

		const endless = scene.write("endless.jsonl", lines(rpc, { child: 1 }, { at: 0, in: "prompt" }));
		const stop = new AbortController();
		const running = replay(endless, { signal: stop.signal, onUpdate: () => stop.abort() });
		assert.equal(single(await inTime(running, "the replay")).outcome, "aborted");
	});

	it("is a command, too", async (t) => {
		const [, path] = await record(t, { scenario: [{ say: "Said again." }], outcome: "completed" }, "rpc");
		const program = fileURLToPath(new URL("../../fake-pi/replay.mjs", import.meta.url));
		const run = promisify(execFile);
		const { stdout } = await run(process.execPath, [program, path]);
		assert.match(stdout, /Said again\./);
		const { stdout: json } = await run(process.execPath, [program, path, "--json", "--speed", "50"]);
		assert.equal(JSON.parse(json).details.results[0].outcome, "completed");
		await assert.rejects(run(process.execPath, [program]), /usage: replay\.mjs RECORDING/);
		await assert.rejects(
			run(process.execPath, [program, path, "--speed", "0"]),
			/speed: expected a number above 0, not 0/,
		);
	});
});
