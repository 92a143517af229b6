/** The events that the addon gets about arriving calls and their ends. Its reaction is tested in Rust. */

import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { MessageUpdateEvent } from "@earendil-works/pi-coding-agent";
import { type EarlyRecord, type LoadedExtension, PackageCopies } from "./package-copy.ts";

const copies = new PackageCopies();
const started: LoadedExtension[] = [];

after(() => copies.remove());
afterEach(async () => {
	for (const { host } of started.splice(0)) await host.emit("session_shutdown");
});

async function start(): Promise<LoadedExtension> {
	const loaded = await copies.load();
	started.push(loaded);
	await loaded.host.emit("session_start");
	return loaded;
}

/** An assistant message on its way, as pi hands it out: `partial` is one object that grows. */
class Message {
	private readonly content: { type: string; id?: string; name?: string }[] = [];
	private readonly host: LoadedExtension["host"];

	constructor({ host }: LoadedExtension) {
		this.host = host;
	}

	async piece(
		piece: Record<string, unknown> & Pick<MessageUpdateEvent["assistantMessageEvent"], "type">,
	): Promise<void> {
		const assistantMessageEvent = { partial: { content: this.content }, ...piece };
		const results = await this.host.emit("message_update", { type: "message_update", assistantMessageEvent });
		assert.deepEqual(results, [undefined], "the message is unchanged");
	}

	async text(delta: string): Promise<void> {
		const contentIndex = this.content.push({ type: "text" }) - 1;
		await this.piece({ type: "text_start", contentIndex });
		await this.piece({ type: "text_delta", contentIndex, delta });
		await this.piece({ type: "text_end", contentIndex });
	}

	/** Begins a call and returns its place. */
	async begin(id: string, name = "subagent"): Promise<number> {
		const contentIndex = this.content.push({ type: "toolCall", id, name }) - 1;
		await this.piece({ type: "toolcall_start", contentIndex });
		return contentIndex;
	}

	async delta(contentIndex: number, ...deltas: string[]): Promise<void> {
		for (const delta of deltas) await this.piece({ type: "toolcall_delta", contentIndex, delta });
	}

	async endCall(contentIndex: number, args: unknown = {}): Promise<void> {
		await this.piece({ type: "toolcall_end", contentIndex, toolCall: { arguments: args } });
	}

	/** Facts that some providers send only after the first piece. */
	learn(contentIndex: number, fields: { id?: string; name?: string }): void {
		Object.assign(this.content[contentIndex] ?? {}, fields);
	}

	async end(stopReason = "toolUse"): Promise<void> {
		await this.host.emit("message_end", { message: { role: "assistant", stopReason } });
	}
}

function summaryOf({ options, ends, json }: EarlyRecord): [tool: string, id: string, ends: number, json?: string] {
	return [options.tool, options.callId, ends, ...(json === undefined ? [] : [json])] as ReturnType<typeof summaryOf>;
}

describe("an arriving call", () => {
	it("is announced once with all values of a run, then piece by piece", async () => {
		const loaded = await start();
		const { host, addon } = loaded;
		const tools = host.getAllTools;
		let asked = 0;
		host.getAllTools = () => {
			asked += 1;
			return tools.call(host);
		};
		const message = new Message(loaded);
		await message.text("I delegate.");
		const call = await message.begin("call-7");
		await message.delta(call, '{"age', 'nt":"expl', 'orer","task":"find', ' it"}');
		assert.equal(asked, 1, "the values of a call are computed once");
		await message.endCall(call, { agent: "explorer", task: "find it" });
		await message.end();
		assert.deepEqual(addon.early.map(summaryOf), [["subagent", "call-7", 0]]);

		await loaded.call(undefined, { id: "call-7" });
		const { agent, task, aborted, ...run } = addon.runs[0]?.options ?? assert.fail("no run was started");
		const { tool, ...announced } = addon.early[0]?.options ?? assert.fail("no call was announced");
		assert.deepEqual([agent, task, aborted, tool], ["explorer", "find it", false, "subagent"]);
		assert.deepEqual(announced, run, "the announced options equal the options of the run");
	});

	it("is kept apart from other calls that arrive in between", async () => {
		const loaded = await start();
		const message = new Message(loaded);
		const [a, other, b] = [await message.begin("a", "subagent_parallel"), await message.begin("x", "bash"), 0];
		await message.delta(a, '{"tasks":');
		await message.delta(other, '{"command":');
		const c = await message.begin("c", "subagent_chain");
		await message.delta(c, '{"steps":');
		await message.delta(a, "[1]}");
		await message.delta(c, "[2]}");
		await message.delta(other, '"ls"}');
		await message.delta(b + 40, "of a call that never began");
		for (const index of [a, other, c]) await message.endCall(index);
		await loaded.host.emit("agent_end");
		assert.deepEqual(loaded.addon.early.map(summaryOf), [
			["subagent_parallel", "a", 1, '{"tasks":[1]}'],
			["subagent_chain", "c", 1, '{"steps":[2]}'],
		]);
	});

	it("is announced once its name and id have arrived, with the earlier pieces", async () => {
		const loaded = await start();
		const message = new Message(loaded);
		const call = await message.begin("", "");
		await message.delta(call, '{"agent"');
		message.learn(call, { name: "subagent" });
		await message.delta(call, ':"explorer"');
		assert.equal(loaded.addon.early.length, 0);
		message.learn(call, { id: "late" });
		await message.delta(call, "");
		await message.delta(call, "}");
		await loaded.host.emit("agent_end");
		assert.deepEqual(loaded.addon.early.map(summaryOf), [["subagent", "late", 1, '{"agent":"explorer"}']]);
	});

	it("is announced whole if a provider sends no pieces", async () => {
		const loaded = await start();
		const message = new Message(loaded);
		const call = await message.begin("whole");
		await message.endCall(call, { agent: "explorer", task: "find it" });
		await loaded.host.emit("agent_end");
		assert.deepEqual(loaded.addon.early.map(summaryOf), [
			["subagent", "whole", 1, '{"agent":"explorer","task":"find it"}'],
		]);
	});

	it("is not awaited forever without an id", async () => {
		const loaded = await start();
		const message = new Message(loaded);
		const call = await message.begin("");
		for (let index = 0; index < 100; index++) await message.delta(call, "x".repeat(1_000));
		message.learn(call, { id: "at last" });
		await message.delta(call, "x");
		assert.equal(loaded.addon.early.length, 0);
	});

	it("is not announced when its tool is not active or not ours", async () => {
		const loaded = await start();
		loaded.host.active = ["read", "subagent_chain", "toString"];
		const message = new Message(loaded);
		for (const name of ["subagent", "read", "toString", "subagent_"]) {
			const call = await message.begin(name, name);
			await message.delta(call, '{"agent":"explorer"}');
			await message.endCall(call, { agent: "explorer" });
		}
		assert.equal(loaded.addon.early.length, 0);
	});

	it("never fails into pi, for any addon or event", async () => {
		const loaded = await start();
		const { addon } = loaded;
		const message = new Message(loaded);
		const placed = loaded.host.getThinkingLevel;
		loaded.host.getThinkingLevel = () => {
			throw new Error("a bug");
		};
		const failing = await message.begin("a");
		await message.delta(failing, "{", "}");
		loaded.host.getThinkingLevel = placed;
		const circular: Record<string, unknown> = {};
		circular.self = circular;
		const odd = await message.begin("c");
		await message.endCall(odd, circular);
		await message.piece({ type: "toolcall_start" });
		await message.piece({ type: "toolcall_start", contentIndex: 90 });
		await message.piece({ type: "toolcall_delta", contentIndex: 90 });
		const good = await message.begin("d");
		await message.delta(good, "{}");
		assert.deepEqual(summaryOf(addon.early.at(-1) ?? assert.fail("no call was announced")), ["subagent", "d", 0]);
		await loaded.host.emit("agent_end");
		assert.equal(addon.early.at(-1)?.ends, 1);
	});
});

describe("a call that was announced", () => {
	async function announced(): Promise<[LoadedExtension, Message, EarlyRecord[]]> {
		const loaded = await start();
		const message = new Message(loaded);
		for (const id of ["a", "b"]) await message.endCall(await message.begin(id), { agent: "explorer" });
		return [loaded, message, loaded.addon.early];
	}
	const ends = (records: EarlyRecord[]) => records.map((record) => record.ends);

	it("ends when pi says so, executed or not", async () => {
		const [{ host }, message, records] = await announced();
		await message.end();
		assert.deepEqual(ends(records), [0, 0]);
		await host.emit("tool_execution_end", { toolCallId: "b" });
		await host.emit("tool_execution_end", { toolCallId: "b" });
		await host.emit("tool_execution_end", { toolCallId: "x" });
		assert.deepEqual(ends(records), [0, 1]);
		await host.emit("agent_end");
		assert.deepEqual(ends(records), [1, 1]);
	});

	for (const reason of ["error", "aborted", "length"]) {
		it(`ends when its message ends with ${reason}`, async () => {
			const [, message, records] = await announced();
			await message.end(reason);
			assert.deepEqual(ends(records), [1, 1]);
		});
	}

	it("survives the end of a message that is not the model's", async () => {
		const [{ host }, message, records] = await announced();
		await message.end();
		await host.emit("message_end", { message: { role: "toolResult" } });
		assert.deepEqual(ends(records), [0, 0]);
	});

	it("ends with the session, partly arrived or whole", async () => {
		const [{ host }, message, records] = await announced();
		await message.delta(await message.begin("c"), '{"agent":');
		await host.emit("session_shutdown", { reason: "reload" });
		assert.deepEqual(ends(records), [1, 1, 1]);
	});
});
