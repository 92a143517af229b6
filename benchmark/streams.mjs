/**
 * Generates event streams in pi's formats. `cumulative` is the format before 0.84, in which each update repeats the
 * message so far twice; `delta` is the format since 0.84. Both contain the same runs of 20 turns. Each turn has an
 * answer in deltas of 50 to 300 bytes, sometimes with thinking before it, and a tool call with its progress. The
 * answers are long, so that updates have the same share of the stream as with the shorter deltas of real models. A run
 * has a few MB. A long stream consists of many runs, so that no line is longer than in practice.
 */

import { closeSync, openSync, writeSync } from "node:fs";

import { Random } from "./random.mjs";

/** @typedef {{ role: string, content: Record<string, unknown>[], usage: object, stopReason: string }} Message */

const turnsPerRun = 20;
const bufferedBytes = 1 << 20;

/**
 * Writes a stream of at least `bytes`.
 *
 * @param {string} path
 * @param {"cumulative" | "delta"} form
 * @param {number} bytes
 */
export function writeStream(path, form, bytes) {
	const file = openSync(path, "w");
	let buffered = [];
	let pending = 0;
	let written = 0;
	const flush = () => {
		for (let rest = Buffer.from(buffered.join("")); rest.length > 0; ) rest = rest.subarray(writeSync(file, rest));
		buffered = [];
		pending = 0;
	};
	/** @param {object} event */
	const emit = (event) => {
		const line = `${JSON.stringify(event)}\n`;
		buffered.push(line);
		pending += line.length;
		written += line.length;
		if (pending >= bufferedBytes) flush();
	};
	try {
		const story = new Story(form, emit);
		story.begin();
		while (written < bytes) story.run();
		flush();
	} finally {
		closeSync(file);
	}
}

/** One simulated pi. */
class Story {
	#random = new Random(7);
	#form;
	#emit;
	#calls = 0;
	#clock = 1_795_296_253_000;

	/**
	 * @param {"cumulative" | "delta"} form
	 * @param {(event: object) => void} emit
	 */
	constructor(form, emit) {
		this.#form = form;
		this.#emit = emit;
	}

	begin() {
		const id = "01a1fffe-d3f7-75df-8dc4-cc5b835ba852";
		const timestamp = "2026-11-21T21:24:12.920Z";
		this.#emit({ type: "session", version: 3, id, timestamp, cwd: "/home/user/project" });
	}

	/** Emits one task from its start to its end. */
	run() {
		const emit = this.#emit;
		const user = { role: "user", content: [textBlock(this.#random.sentence())], timestamp: this.#clock };
		emit({ type: "agent_start" });
		emit({ type: "turn_start" });
		if (this.#form === "delta") {
			// pi 0.84 and later show the system prompt and its tools.
			const prompt = { preamble: this.#prose(1500), tools: this.#prose(2500), rules: this.#prose(1000) };
			const system = { role: "system", content: "", sections: prompt, timestamp: this.#clock };
			emit({ type: "message_start", message: system });
			emit({ type: "message_end", message: system });
		}
		emit({ type: "message_start", message: user });
		emit({ type: "message_end", message: user });
		/** @type {object[]} */
		const messages = [user];
		for (let turn = 1; turn <= turnsPerRun; turn++) {
			if (turn > 1) emit({ type: "turn_start" });
			this.#turn(turn === turnsPerRun, messages);
		}
		if (this.#form === "cumulative") {
			emit({ type: "agent_end", messages });
		} else {
			emit({ type: "agent_end", messages, willRetry: false });
			emit({ type: "agent_settled", aborted: false });
		}
	}

	/**
	 * @param {boolean} isLast
	 * @param {object[]} messages
	 */
	#turn(isLast, messages) {
		const random = this.#random;
		this.#clock += 1234;
		const message = this.#emptyMessage();
		this.#emit({ type: "message_start", message });
		if (random.chance(0.25)) this.#stream(message, "thinking", random.between(500, 2500));
		this.#stream(message, "text", random.between(2000, 10_000));
		const call = isLast ? undefined : this.#callTool(message);
		message.stopReason = isLast ? "stop" : "toolUse";
		message.usage = this.#usage();
		this.#emit({ type: "message_end", message });
		messages.push(message);
		const toolResults = call ? [this.#runTool(call)] : [];
		messages.push(...toolResults);
		this.#emit({ type: "turn_end", message, toolResults });
	}

	/**
	 * Streams one block of text or thinking.
	 *
	 * @param {Message} message
	 * @param {"text" | "thinking"} kind
	 * @param {number} length
	 */
	#stream(message, kind, length) {
		const contentIndex = message.content.length;
		const block = kind === "text" ? textBlock("") : { type: kind, thinking: "", thinkingSignature: "reasoning" };
		message.content.push(block);
		this.#update(message, { type: `${kind}_start`, contentIndex });
		const text = this.#prose(length);
		for (let at = 0; at < text.length; ) {
			const delta = text.slice(at, at + this.#random.between(50, 300));
			at += delta.length;
			block[kind] += delta;
			this.#update(message, { type: `${kind}_delta`, contentIndex, delta });
		}
		this.#update(message, { type: `${kind}_end`, contentIndex, content: block[kind] });
	}

	/** @param {Message} message */
	#callTool(message) {
		const random = this.#random;
		const contentIndex = message.content.length;
		const name = random.pick(["read", "bash", "grep", "edit"]);
		const id = `call_${29_206 + ++this.#calls}`;
		const args = toolArguments(name, random);
		const call = { type: "toolCall", id, name, arguments: {} };
		message.content.push(call);
		this.#update(message, { type: "toolcall_start", contentIndex, id, toolName: name });
		const json = JSON.stringify(args);
		for (let at = 0; at < json.length; at += 120) {
			this.#update(message, { type: "toolcall_delta", contentIndex, delta: json.slice(at, at + 120) });
		}
		call.arguments = args;
		this.#update(message, { type: "toolcall_end", contentIndex, toolCall: call });
		return call;
	}

	/** @param {{ id: string, name: string, arguments: object }} call */
	#runTool(call) {
		const random = this.#random;
		const about = { toolCallId: call.id, toolName: call.name };
		this.#emit({ type: "tool_execution_start", ...about, args: call.arguments });
		let output = "";
		const updates = call.name === "bash" ? random.between(4, 16) : 0;
		for (let i = 0; i < updates; i++) {
			output += `${this.#listing(random.between(1, 6))}\n`;
			const partialResult = { content: [textBlock(output)], details: {} };
			this.#emit({ type: "tool_execution_update", ...about, args: call.arguments, partialResult });
		}
		if (updates === 0) output = this.#listing(random.between(10, 80));
		const result = { content: [textBlock(output)], details: {} };
		this.#emit({ type: "tool_execution_end", ...about, result, isError: false, durationMs: 31 });
		const message = { role: "toolResult", ...about, ...result, isError: false, timestamp: this.#clock };
		this.#emit({ type: "message_start", message });
		this.#emit({ type: "message_end", message });
		return message;
	}

	/**
	 * @param {Message} message
	 * @param {{ type: string } & Record<string, unknown>} event
	 */
	#update(message, event) {
		if (this.#form === "delta") {
			this.#emit({ type: "message_update", usage: message.usage, assistantMessageEvent: event });
		} else {
			const { id: _id, toolName: _name, ...older } = event;
			this.#emit({ type: "message_update", assistantMessageEvent: { ...older, partial: message }, message });
		}
	}

	#emptyMessage() {
		return {
			role: "assistant",
			content: /** @type {Record<string, unknown>[]} */ ([]),
			api: "openai-completions",
			provider: "fake",
			model: "fake-model",
			usage: this.#usage(),
			stopReason: this.#form === "delta" ? "pending" : "stop",
			timestamp: this.#clock,
			responseId: "chatcmpl-9",
		};
	}

	#usage() {
		const input = this.#random.between(1000, 90_000);
		const output = this.#random.between(100, 3000);
		const cost = { input: input * 0.000003, output: output * 0.000015, cacheRead: 0, cacheWrite: 0 };
		const total = cost.input + cost.output;
		const sum = { totalTokens: input + output, cost: { ...cost, total } };
		if (this.#form === "cumulative") return { input, output, cacheRead: 0, cacheWrite: 0, ...sum };
		const more = { totalTokens: sum.totalTokens, cost: { ...sum.cost, totalFromProvider: false } };
		return { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...more };
	}

	/**
	 * Returns an answer in the style of a model: sentences, lists, code, and sometimes characters outside ASCII.
	 *
	 * @param {number} length
	 */
	#prose(length) {
		const random = this.#random;
		let text = "";
		while (text.length < length) {
			if (random.chance(0.06)) text += `\n\n\`\`\`ts\n${this.#code()}\n\`\`\`\n\n`;
			else if (random.chance(0.12)) text += `\n- \`src/${random.word()}.rs\`: ${random.sentence()}`;
			else if (random.chance(0.04)) text += " “Größe” → naïve… 数据 ✓";
			else text += `${random.sentence()}${random.chance(0.2) ? "\n\n" : " "}`;
		}
		return text;
	}

	#code() {
		const random = this.#random;
		const lines = [];
		for (let i = random.between(2, 6); i > 0; i--) {
			lines.push(`\tconst ${random.word()} = ${random.word()}("${random.word()}", ${random.between(0, 99)});`);
		}
		return lines.join("\n");
	}

	/** @param {number} lines */
	#listing(lines) {
		const random = this.#random;
		const list = [];
		for (let i = 0; i < lines; i++) list.push(`src/${random.word()}.ts:${random.between(1, 900)}:\t${this.#code()}`);
		return list.join("\n");
	}
}

/** @param {string} text */
function textBlock(text) {
	return { type: "text", text };
}

/**
 * @param {string} name
 * @param {Random} random
 */
function toolArguments(name, random) {
	const path = `src/${random.word()}/${random.word()}.ts`;
	if (name === "read") return { path };
	if (name === "grep") return { pattern: random.word(), path: "src" };
	if (name === "bash") return { command: `git log --oneline -n ${random.between(1, 50)} -- ${path}` };
	return { path, oldText: random.sentence(), newText: `${random.sentence()}\n${random.sentence()}` };
}
