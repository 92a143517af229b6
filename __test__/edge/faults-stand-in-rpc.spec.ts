/** The stand-in for pi in RPC mode answers as pi does, in pi's order. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { fakePi, type Scenario } from "./fault.ts";
import { inTime, until } from "./scene.ts";
import { eventsOf, type Json } from "./stand-in.ts";

const [node = "", script = ""] = fakePi;
const recordings = fileURLToPath(new URL("../../tests/inputs/streams/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "psn-fake-rpc-"));
after(() => rmSync(folder, { recursive: true }));

/** The file for which a scenario waits until the test opens the gate. */
const gate = "{env.GATE}";

/** A stand-in that has been started, and the ways to talk to it. */
class Talk {
	static #started = 0;
	readonly ended: Promise<number | null>;
	readonly #gate = join(folder, `gate-${Talk.#started++}`);
	readonly #child;
	#stdout = "";
	#sent = 0;

	constructor(test: TestContext, scenario: Scenario, env: Record<string, string> = {}) {
		const named = typeof scenario === "string" ? scenario : JSON.stringify(scenario);
		const child = spawn(node, [script, "--mode", "rpc", "--no-session"], {
			env: { ...process.env, FAKE_PI_SCENARIO: named, GATE: this.#gate, ...env },
			stdio: ["pipe", "pipe", "ignore"],
		});
		this.#child = child;
		test.after(() => child.kill("SIGKILL"));
		child.stdin.on("error", () => undefined);
		child.stdout.on("data", (chunk) => {
			this.#stdout += chunk;
		});
		this.ended = new Promise((resolve) => child.once("close", resolve));
	}

	get events(): Json[] {
		return eventsOf(this.#stdout.slice(0, this.#stdout.lastIndexOf("\n") + 1));
	}

	get texts(): unknown[] {
		const ends = this.events.filter(({ type }) => type === "message_end") as { message: Json }[];
		const answers = ends.filter(({ message }) => message.role === "assistant");
		return answers.flatMap(({ message }) => (message.content as Json[]).map(({ text, name }) => text ?? name));
	}

	write(text: string): void {
		this.#child.stdin.write(text);
	}

	/** Lets the scenario continue after the step that waits for the gate. */
	openGate(): void {
		writeFileSync(this.#gate, "");
	}

	/** Sends a command and returns its id. */
	send(command: Json): string {
		const id = `test-${this.#sent++}`;
		this.write(`${JSON.stringify({ id, ...command })}\n`);
		return id;
	}

	/** Sends a command and waits for its answer. */
	async ask(command: Json): Promise<Json> {
		return await this.find({ type: "response", id: this.send(command) });
	}

	/** The event that has these values, now or soon; the `nth` of them. */
	async find(wanted: Json, nth = 1): Promise<Json> {
		const fits = (event: Json) => Object.entries(wanted).every(([key, value]) => event[key] === value);
		const found = () => this.events.filter(fits)[nth - 1];
		await until(() => found() !== undefined, `event ${nth} with ${JSON.stringify(wanted)}`);
		return found() ?? {};
	}

	async prompt(message = "Work."): Promise<void> {
		this.send({ type: "prompt", message });
		await this.settled();
	}

	async settled(nth = 1): Promise<Json> {
		return await this.find({ type: "agent_settled" }, nth);
	}

	/** It is writing a text. */
	async saying(): Promise<void> {
		await until(() => this.#stdout.includes('"text_delta"'), "a text update");
	}

	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	/** Ends its input, and waits for its end. */
	async close(): Promise<number | null> {
		this.#child.stdin.end();
		return await inTime(this.ended, "the end of pi");
	}
}

/** Returns the parts of an event that a client uses, without ids and error texts. */
function summaryOf(event: Json): string {
	const { type, assistantMessageEvent, message, command, success, data, aborted, willRetry, steering, followUp } =
		event;
	const inner = (assistantMessageEvent as Json | undefined)?.type;
	const { role, stopReason, content } = (message ?? {}) as Json;
	const text = role === "user" ? JSON.stringify(content) : undefined;
	const { disposition } = (data ?? {}) as Json;
	const queue = type === "queue_update" ? JSON.stringify([steering, followUp]) : undefined;
	const parts = [type, inner, role, stopReason, text, command, success, disposition, aborted, willRetry, queue];
	return parts.filter((part) => part !== undefined).join(" ");
}

/** Deltas and live tool output arrive in any number, and context edits are not played. */
const story = (events: Json[]) =>
	events.map(summaryOf).filter((name) => !/_delta|entry_appended|tool_execution_update|toolcall_/.test(name));

/** The stories of the recordings, replayed: the scenario, and the prompts for the child. */
const stories: Record<string, [scenario: unknown[], drive: (pi: Talk) => Promise<unknown>]> = {
	prompt: [
		[{ say: "Hello there", chunk: 4 }],
		async (pi) => {
			await pi.ask({ type: "get_state" });
			await pi.prompt("Say hello.");
			await pi.ask({ type: "get_last_assistant_text" });
			await pi.ask({ type: "get_messages" });
		},
	],
	tool: [
		[{ stream: "Reading." }, { call: "read", args: { path: "README.md" }, result: "#" }, { say: "It is a readme." }],
		(pi) => pi.prompt("What is it?"),
	],
	steer: [
		[{ call: "bash", until: gate }, { say: "As you wish." }],
		async (pi) => {
			pi.send({ type: "prompt", message: "Work." });
			await pi.find({ type: "tool_execution_start" });
			await pi.ask({ type: "steer", message: "Wrap up." });
			pi.openGate();
			await pi.settled();
		},
	],
	"steer-text": [
		[
			{ steered: [{ say: "Wrapped up." }] },
			{ stream: "A long answer," },
			{ await: gate },
			{ say: " word by word.", chunk: 4 },
		],
		async (pi) => {
			pi.send({ type: "prompt", message: "Work." });
			await pi.saying();
			await pi.ask({ type: "steer", message: "Wrap up." });
			pi.openGate();
			await pi.settled();
		},
	],
	"steer-idle": [
		[{ say: "You said 3 messages." }],
		async (pi) => {
			await pi.ask({ type: "steer", message: "Before anything." });
			await pi.prompt();
		},
	],
	"abort-text": [
		[{ stream: "So far so good", chunk: 4 }, "hang"],
		async (pi) => {
			pi.send({ type: "prompt", message: "Work." });
			await pi.saying();
			await pi.ask({ type: "abort" });
		},
	],
	"abort-tool": [
		[{ call: "bash", takesMs: 60_000 }, { say: "Never said." }],
		async (pi) => {
			pi.send({ type: "prompt", message: "Work." });
			await pi.find({ type: "tool_execution_start" });
			await pi.ask({ type: "abort" });
		},
	],
	"abort-retry": [
		[{ retry: "500: no", delayMs: 60_000 }, { say: "Never said." }],
		async (pi) => {
			pi.send({ type: "prompt", message: "Work." });
			await pi.find({ type: "auto_retry_start" });
			await pi.ask({ type: "abort" });
		},
	],
	"abort-idle": [
		[{ say: "Done." }],
		async (pi) => {
			await pi.ask({ type: "abort" });
			await pi.prompt();
			await pi.ask({ type: "abort" });
		},
	],
	handled: [[], (pi) => pi.ask({ type: "prompt", message: "/nothing at all" })],
	refused: [
		[{ stream: "So far" }, "hang"],
		async (pi) => {
			pi.send({ type: "prompt", message: "Work." });
			await pi.saying();
			await pi.ask({ type: "prompt", message: "And another thing." });
			await pi.ask({ type: "prompt", message: "Later.", streamingBehavior: "followUp" });
			await pi.ask({ type: "no_such_command" });
			pi.write("{broken\n");
			await pi.find({ command: "parse" });
			await pi.ask({ type: "abort" });
		},
	],
	"error-500": [[{ retry: "500: no", times: 2, of: 2 }, { fail: "500: no" }], (pi) => pi.prompt()],
	"error-429": [[{ retry: "429: try again in 1.5s", delayMs: 200 }, { say: "Recovered." }], (pi) => pi.prompt()],
	length: [[{ say: "Cut off in the midd", stop: "length" }], (pi) => pi.prompt()],
};

describe("a story in RPC mode", () => {
	for (const version of ["1.6.0", "0.87.1"]) {
		for (const [name, [scenario, drive]] of Object.entries(stories)) {
			it(`goes as with pi ${version}: ${name}`, async (t) => {
				const pi = new Talk(t, scenario, { FAKE_PI_VERSION: version });
				await drive(pi);
				assert.equal(await pi.close(), 0);
				const recorded = eventsOf(readFileSync(join(recordings, version, `rpc-${name}.jsonl`), "utf8"));
				assert.deepEqual(story(pi.events), story(recorded));
			});
		}
	}
});

describe("the stand-in in RPC mode", () => {
	it("writes nothing unasked, and takes one prompt after the other", async (t) => {
		const pi = new Talk(t, "repeats");
		await pi.prompt("one");
		pi.send({ type: "prompt", message: "two" });
		await pi.settled(2);
		assert.deepEqual(pi.texts, ["You said: one", "You said: two"]);
		assert.equal(pi.events[0]?.type, "response");
		assert.deepEqual((await pi.ask({ type: "get_last_assistant_text" })).data, { text: "You said: two" });
		assert.equal(((await pi.ask({ type: "get_state" })).data as Json).isStreaming, false);
		assert.equal(await pi.close(), 0);
	});

	it("continues its scenario after a steering message without steps", async (t) => {
		const pi = new Talk(t, [{ call: "bash", until: gate }, { say: "{steer} {task}" }]);
		pi.send({ type: "prompt", message: "Work." });
		await pi.find({ type: "tool_execution_start" });
		await pi.ask({ type: "steer", message: "Hurry." });
		pi.openGate();
		await pi.settled();
		assert.deepEqual(pi.texts, ["bash", "Hurry. Work."]);
	});

	it("always answers a steering message", async (t) => {
		const pi = new Talk(t, [{ stream: "word " }, { await: gate }, { say: "by word" }]);
		pi.send({ type: "prompt", message: "Work." });
		await pi.saying();
		await pi.ask({ type: "steer", message: "one" });
		await pi.ask({ type: "prompt", message: "two", streamingBehavior: "steer" });
		pi.openGate();
		await pi.settled();
		assert.deepEqual(pi.texts, ["word by word", "Told: one", "Told: two"], "the messages are answered one at a time");
		assert.equal(pi.events.filter(({ type }) => type === "agent_end").length, 1, "there is one run");
	});

	it("leaves its scenario for the steps of a steering message", async (t) => {
		const pi = new Talk(t, [
			{ steered: [{ say: "Wrapped up." }] },
			{ call: "bash" },
			{ call: "bash", until: gate },
			{ say: "Never said." },
		]);
		pi.send({ type: "prompt", message: "Work." });
		await pi.find({ type: "tool_execution_start" }, 2);
		await pi.ask({ type: "steer", message: "Finish." });
		pi.openGate();
		await pi.settled();
		assert.deepEqual(pi.texts, ["bash", "bash", "Wrapped up."]);
	});

	it("repeats its scenario for a follow-up, in the same run", async (t) => {
		const pi = new Talk(t, [{ stream: "You said: " }, { await: gate }, { say: "{task}" }]);
		pi.send({ type: "prompt", message: "one" });
		await pi.saying();
		await pi.ask({ type: "follow_up", message: "two" });
		pi.openGate();
		await pi.settled();
		assert.deepEqual(pi.texts, ["You said: one", "You said: two"]);
		assert.equal(pi.events.filter(({ type }) => type === "agent_end").length, 1);
	});

	it("keeps the text and the usage of an aborted turn", async (t) => {
		const pi = new Talk(t, [{ stream: "so far", usage: { input: 7, output: 3, cost: 0.25 } }, "hang"]);
		pi.send({ type: "prompt", message: "Work." });
		await pi.saying();
		await pi.ask({ type: "abort" });
		const { message } = pi.events.findLast(({ type }) => type === "message_end") as { message: Json };
		const { input, output, cost } = message.usage as Json;
		assert.deepEqual([message.stopReason, input, output, (cost as Json).total], ["aborted", 7, 3, 0.25]);
		assert.deepEqual(pi.texts, ["so far"]);
	});

	it("reports exactly the usage that it is given, turn by turn", async (t) => {
		const pi = new Talk(t, [
			{ call: "ls", usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.1 } },
			{ retry: "500: no", usage: { input: 5, cost: 0.3 } },
			{ say: "Done.", usage: { output: 6, cost: 0.2 } },
		]);
		await pi.prompt();
		const ends = pi.events.filter(({ type }) => type === "message_end") as { message: Json }[];
		const used = ends.flatMap(({ message: { usage } }) => (usage ? [usage as Json & { cost: Json }] : []));
		assert.deepEqual(
			used.map(({ totalTokens, cost }) => [totalTokens, cost.total]),
			[
				[10, 0.1],
				[5, 0.3],
				[6, 0.2],
			],
		);
	});

	for (const [method, question, answer, expected] of [
		["confirm", { title: "Go on?", message: "Really?" }, { confirmed: true }, "true"],
		["select", { title: "Which?", options: ["a", "b"] }, { value: "b" }, "b"],
		["input", { title: "Name?", placeholder: "you" }, { value: "" }, ""],
		["editor", { title: "Edit", prefill: "old" }, { value: "new\ntext" }, "new\ntext"],
		["input", { title: "Name?" }, { cancelled: true }, "cancelled"],
	] as [string, Json, Json, string][]) {
		it(`asks with ${method} before the work begins, and prints the answer: ${JSON.stringify(expected)}`, async (t) => {
			const pi = new Talk(t, [{ ask: method, ...question }, { say: "Heard: {answer}" }]);
			const prompt = pi.send({ type: "prompt", message: "Work." });
			const asked = await pi.find({ type: "extension_ui_request" });
			const { id, type: _, ...fields } = asked;
			assert.deepEqual(fields, { method, ...question });
			assert.deepEqual(pi.events, [asked], "only the question comes before the work begins");
			pi.write(`${JSON.stringify({ type: "extension_ui_response", id, ...answer })}\n`);
			await pi.find({ type: "response", id: prompt });
			await pi.settled();
			assert.deepEqual(pi.texts, [`Heard: ${expected}`]);
		});
	}

	it("asks during its work, and continues without an answer in time", async (t) => {
		const pi = new Talk(t, [
			{ stream: "So far. " },
			{ ask: "confirm", title: "?", timeoutMs: 50 },
			{ say: "{answer}" },
		]);
		await pi.prompt();
		assert.deepEqual(pi.texts, ["So far. unanswered"]);
	});

	it("refuses a prompt, and can be asked again", async (t) => {
		const pi = new Talk(t, "refuses");
		for (const message of ["one", "two"]) {
			const { success, error } = await pi.ask({ type: "prompt", message });
			assert.deepEqual([success, error], [false, "No API key found for fake."]);
		}
		assert.ok(!pi.events.some(({ type }) => type === "agent_start"));
	});

	it("settles by its last event before 0.80.4", async (t) => {
		for (const [version, settles] of [
			["0.80.3", false],
			["0.80.4", true],
		] as const) {
			const pi = new Talk(t, "answers", { FAKE_PI_VERSION: version });
			pi.send({ type: "prompt", message: "Work." });
			await pi.find({ type: "agent_end" });
			await pi.ask({ type: "get_state" });
			assert.equal(
				pi.events.some(({ type }) => type === "agent_settled"),
				settles,
			);
		}
	});
});

describe("a stand-in that misbehaves in RPC mode", () => {
	it("boots slowly: it reads no command before", async (t) => {
		const pi = new Talk(t, [{ boot: [{ raw: '{"type":"booting"}\n' }, { sleep: 300 }] }, { say: "Done." }]);
		pi.send({ type: "get_state" });
		await pi.find({ type: "booting" });
		assert.equal(pi.events.length, 1);
		await pi.prompt();
	});

	it("dies before its prompt", async (t) => {
		const pi = new Talk(t, [{ boot: [{ exit: 3 }] }]);
		assert.equal(await inTime(pi.ended, "the end of pi"), 3);
		assert.deepEqual(pi.events, []);
	});

	it("dies of its prompt", async (t) => {
		for (const [scenario, answers] of [
			[[{ exit: 3 }], 0],
			[["begin", { exit: 3 }], 1],
		] as const) {
			const pi = new Talk(t, [...scenario]);
			pi.send({ type: "prompt", message: "Work." });
			assert.equal(await inTime(pi.ended, "the end of pi"), 3);
			assert.equal(pi.events.filter(({ type }) => type === "response").length, answers);
		}
	});

	it("never reads its input", async (t) => {
		const pi = new Talk(t, ["deaf", { raw: '{"type":"up"}\n' }, "hang"]);
		pi.send({ type: "prompt", message: "Work." });
		await pi.find({ type: "up" });
		pi.kill("SIGTERM");
		assert.equal(await inTime(pi.ended, "the end of pi"), 143);
		assert.equal(pi.events.length, 1);
	});

	/** Waits until its log says so. */
	const logged = async (log: string, entry: string) =>
		await until(() => readFileSync(log, { encoding: "utf8", flag: "a+" }).includes(entry), entry);

	it("ignores an abort, the end of its input and a polite signal", async (t) => {
		const log = join(folder, "ignores");
		const scenario = [{ boot: [{ ignore: ["abort", "eof", "SIGTERM"] }] }, { stream: "so far" }, "hang"];
		const pi = new Talk(t, scenario, { FAKE_PI_LOG: log });
		pi.send({ type: "prompt", message: "Work." });
		await pi.saying();
		pi.send({ type: "abort" });
		await logged(log, '{"ignored":"abort"}');
		const ended = pi.close().catch(() => undefined);
		await logged(log, '{"ended":"stdin"}');
		pi.kill("SIGTERM");
		await logged(log, '{"ignored":"SIGTERM"}');
		assert.ok(!pi.events.some(({ command, type }) => command === "abort" || type === "agent_settled"));
		pi.kill("SIGKILL");
		await ended;
	});

	it("lingers after its work and after the end of its input", async (t) => {
		const log = join(folder, "lingers");
		const pi = new Talk(t, "lingers", { FAKE_PI_LOG: log });
		await pi.prompt();
		assert.equal(((await pi.ask({ type: "get_state" })).data as Json).isStreaming, false);
		const ended = pi.close();
		await logged(log, '{"ended":"stdin"}');
		pi.kill("SIGTERM");
		assert.equal(await ended, 143);
	});

	it("ends with its input in every state", async (t) => {
		const pi = new Talk(t, "stalls");
		pi.send({ type: "prompt", message: "Work." });
		await pi.saying();
		assert.equal(await pi.close(), 0);
		assert.ok(!pi.events.some(({ type }) => type === "agent_end"), "the stand-in ends without an `agent_end` event");
	});
});
