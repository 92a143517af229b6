/**
 * The events of real pi for arriving calls, and those that reach the addon. A stub replaces the addon, so that all its
 * calls can be recorded in order.
 */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { bundle } from "../../scripts/lib/bundle.mjs";
import {
	call,
	drop,
	finish,
	hang,
	type ModelRequest,
	makeGate,
	packageDir,
	piVersions,
	type RpcSession,
	Stage,
	type Step,
	say,
	startRpc,
	until,
} from "../support/pi.ts";
import { piece } from "../support/pieces.ts";

/** Describes three tools, runs nothing, and writes down each call. */
const stub = `const { appendFileSync } = require("node:fs");
const log = (...entry) => appendFileSync(process.env.HOME + "/heard.jsonl", JSON.stringify(entry) + "\\n");
const text = { type: "string", minLength: 1 };
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
const list = { type: "array", minItems: 1, items: object({ agent: text, task: text }) };
const tool = (name, parameters) => ({ name, label: name, description: name, promptSnippet: name, promptGuidelines: [], parameters });
const start = (options) => {
	log("run", options.callId);
	const result = { content: [{ type: "text", text: "done" }], details: { mode: "single", results: [] } };
	return { runId: "1a2b3c4d", result: async () => result, abort() {}, close: async () => {} };
};
module.exports = {
	describeTools: async () => ({
		register: true,
		notices: [],
		tools: [
			tool("subagent", object({ agent: text, task: text })),
			tool("subagent_parallel", object({ tasks: list })),
			tool("subagent_chain", object({ steps: list })),
		],
	}),
	EarlyCalls: require(${JSON.stringify(join(import.meta.dirname, "early-double.ts"))}).earlyCallsDouble(
		require(${JSON.stringify(join(packageDir, "native.js"))}).EarlyCalls,
		{ booted: ({ callId, tool }) => log("boot", callId, tool), ended: (callId, json) => log("end", callId, json) },
	),
	prepareArguments: require(${JSON.stringify(join(packageDir, "native.js"))}).prepareArguments,
	startRun: start,
	startParallel: start,
	startChain: start,
};
`;

/** The calls of the stub; with the end of a call, all of its arguments that had arrived. */
type RecordedCall = [what: string, callId: string, text?: string];

const request = { agent: "explorer", task: "find it" };
const whole = JSON.stringify(request);
const [head, tail] = [whole.slice(0, 20), whole.slice(20)];
const listed = JSON.stringify({ tasks: [request] });

/** By the first word of the prompt: the text streamed by the model, and the calls of the addon. */
const cases: Record<string, { says: string; steps: Step[]; recorded: RecordedCall[] }> = {
	pieces: {
		says: "in pieces, after words",
		steps: [say("I delegate."), call("subagent", request, { id: "a", size: 5 })],
		recorded: [
			["boot", "a", "subagent"],
			["run", "a"],
			["end", "a", whole],
		],
	},
	once: {
		says: "all at once",
		steps: [piece(0, { id: "a", name: "subagent", args: whole }), finish("tool_calls")],
		recorded: [
			["boot", "a", "subagent"],
			["run", "a"],
			["end", "a", whole],
		],
	},
	mixed: {
		says: "in turns with others",
		steps: [
			piece(0, { id: "a", name: "subagent", args: head }),
			piece(1, { id: "x", name: "ls", args: "{" }),
			piece(2, { id: "b", name: "subagent_parallel", args: listed.slice(0, 9) }),
			piece(0, { args: tail }),
			piece(1, { args: "}" }),
			piece(2, { args: listed.slice(9) }),
			finish("tool_calls"),
		],
		recorded: [
			["boot", "a", "subagent"],
			["boot", "b", "subagent_parallel"],
			["run", "a"],
			["run", "b"],
			["end", "a", whole],
			["end", "b", listed],
		],
	},
	late: {
		says: "with an id that comes late",
		steps: [
			piece(0, { name: "subagent", args: head }),
			piece(0, { id: "a", args: tail.slice(0, 4) }),
			piece(0, { args: tail.slice(4) }),
			finish("tool_calls"),
		],
		recorded: [
			["boot", "a", "subagent"],
			["run", "a"],
			["end", "a", whole],
		],
	},
	invalid: {
		says: "with arguments that the schema refuses",
		steps: [call("subagent", { agent: "explorer" }, { id: "a" })],
		recorded: [
			["boot", "a", "subagent"],
			["end", "a", '{"agent":"explorer"}'],
		],
	},
	cut: {
		says: "in a message that was cut",
		steps: [call("subagent", request, { id: "a" }), finish("length")],
		recorded: [
			["boot", "a", "subagent"],
			["end", "a", whole],
		],
	},
};

for (const version of piVersions) {
	describe(`calls that arrive in pi ${version}`, () => {
		let folder: string;
		let stage: Stage;
		let rpc: RpcSession;
		const gate = makeGate();

		before(async () => {
			folder = mkdtempSync(join(tmpdir(), "psn-calls-"));
			cpSync(join(packageDir, "extensions"), join(folder, "extensions"), { recursive: true });
			writeFileSync(join(folder, "native.js"), stub);
			writeFileSync(join(folder, "package.json"), JSON.stringify({ pi: { extensions: [bundle] } }));
			const script = (steps: Step[]) => (asked: ModelRequest) =>
				asked.toolAnswers.length > 0 ? [say("Done.")] : steps;
			const children = Object.fromEntries(Object.entries(cases).map(([word, { steps }]) => [word, script(steps)]));
			const begun = piece(0, { id: "a", name: "subagent_chain", args: '{"steps":[' });
			stage = await Stage.open({
				version,
				load: "none",
				extensions: [folder],
				settings: { retry: { enabled: false } },
				children: {
					...children,
					endless: script([begun, hang()]),
					broken: script([begun, until(gate.opened), drop()]),
				},
			});
			rpc = startRpc(stage.world);
		});

		after(async () => {
			await stage.close();
			rmSync(folder, { recursive: true, force: true });
		});

		function recordedSince(from: number): RecordedCall[] {
			const file = join(stage.world.home, "heard.jsonl");
			const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
			return lines.slice(from).map((line) => JSON.parse(line) as RecordedCall);
		}

		for (const [word, { says, recorded }] of Object.entries(cases)) {
			test(`are announced ${says}`, async () => {
				const from = recordedSince(0).length;
				await rpc.prompt(`${word} a call`);
				assert.deepEqual(recordedSince(from), recorded);
			});
		}

		const stops: [says: string, word: string, stop: () => unknown][] = [
			["the connection breaks", "broken", () => gate.open()],
			["the user aborts", "endless", () => rpc.send({ type: "abort" })],
			["the session goes", "endless", () => rpc.send({ type: "new_session" })],
		];
		for (const [says, word, stop] of stops) {
			test(`end when ${says}`, async () => {
				const [from, events] = [recordedSince(0).length, rpc.log.events.length];
				await rpc.send({ type: "prompt", message: `${word} call` });
				await rpc.log.waitFor((event) => JSON.stringify(event).includes("toolcall_delta"), undefined, events);
				await stop();
				if (word === "broken") await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, events);
				assert.deepEqual(recordedSince(from), [
					["boot", "a", "subagent_chain"],
					["end", "a", '{"steps":['],
				]);
			});
		}

		test("cause no warning", () => {
			assert.equal(rpc.pi.stderr, "");
			assert.ok(!rpc.log.events.some(({ type }) => type === "extension_error"));
		});
	});
}
