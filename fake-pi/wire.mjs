/**
 * The shapes of pi's events, by the version of pi that writes them. Knows nothing of scenarios.
 *
 * Three shapes are known: up to 0.83 every update carries the whole message so far, from 0.84 on only what is new, and
 * from 1.0 on messages and tools also say how long they took.
 */

import { randomUUID } from "node:crypto";

/** The version that is spoken unless a scenario says otherwise. */
export const newest = "1.6.0";

/** Dollars for a token, so that a cost follows from the tokens. */
const prices = { input: 3e-6, output: 15e-6, cacheRead: 0.3e-6, cacheWrite: 3.75e-6 };

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Builds events. Every method returns one record of the stream. */
export class Wire {
	/** @param {string} version of the pi to speak like */
	constructor(version = newest) {
		const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
		/** @param {number} a @param {number} b */
		const from = (a, b, c = 0) => major - a || minor - b || patch - c;
		this.version = version;
		this.isCumulative = from(0, 84) < 0;
		this.hasSettled = from(0, 80, 4) >= 0;
		this.hasSystem = from(0, 84) >= 0;
		this.isTimed = from(1, 0) >= 0;
		/** Why a message ended whose request was aborted before it was sent. */
		this.abortedLater = this.isTimed ? "aborted" : "error";
		/** Milliseconds by which the child's clock is wrong. */
		this.clockShift = 0;
	}

	now() {
		return Date.now() + this.clockShift;
	}

	/** An ISO date, also for a clock that is off by more than dates can hold. */
	date() {
		const date = new Date(this.now());
		return Number.isNaN(date.valueOf()) ? String(date) : date.toISOString();
	}

	session(cwd = process.cwd(), id = randomUUID()) {
		return { type: "session", version: 3, id, timestamp: this.date(), cwd };
	}

	/** @param {any} message as {@link Wire.assistant} or one of its sisters gives it */
	entry(message, id = randomUUID().slice(0, 8), parentId = null) {
		return { type: "message", id, parentId, timestamp: this.date(), message };
	}

	system() {
		const parameters = { type: "object", required: ["path"], properties: { path: { type: "string" } } };
		return {
			role: "system",
			content: "",
			sections: { preamble: "You are a stand-in.", tools: "", rules: "", docs: "", cwd: process.cwd() },
			timestamp: this.now(),
			toolsAdded: [{ name: "read", description: "Reads a file.", parameters }],
		};
	}

	/** @param {string} text */
	user(text) {
		return { role: "user", content: [{ type: "text", text }], timestamp: this.now() };
	}

	/**
	 * What was used; without tokens what pi writes before the model has told. A cost in dollars stands for what would
	 * follow from the tokens.
	 *
	 * @param {Partial<typeof nothing> & { cost?: number }} [tokens]
	 */
	usage(tokens) {
		const isKnown = tokens !== undefined;
		const { cost: exact, ...counts } = { ...nothing, ...tokens };
		/** @param {keyof typeof nothing} kind */
		const price = (kind) => (exact === undefined ? counts[kind] * prices[kind] : 0);
		const cost = {
			input: exact ?? price("input"),
			output: price("output"),
			cacheRead: price("cacheRead"),
			cacheWrite: price("cacheWrite"),
		};
		const total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
		const totalTokens = counts.input + counts.output + counts.cacheRead + counts.cacheWrite;
		return {
			...counts,
			...(isKnown && this.hasSystem ? { reasoning: 0 } : {}),
			totalTokens,
			cost: { ...cost, total, ...(isKnown && this.isTimed ? { totalFromProvider: false } : {}) },
		};
	}

	/**
	 * An assistant message.
	 *
	 * @param {any[]} content
	 * @param {{ stopReason: string, errorMessage?: string | undefined, tokens?: object | undefined, under?: boolean }} how
	 */
	assistant(content, { stopReason, errorMessage, tokens, under = false }) {
		const called = content.some(({ type, partialArgs }) => type === "toolCall" && partialArgs === undefined);
		// Before it is known how a message ends, newer ones say so and older ones guess.
		const guess = this.isCumulative ? (called ? "toolUse" : "stop") : "pending";
		const done = !under && errorMessage === undefined;
		const isNamed = done || (under && this.hasSystem && !this.isTimed);
		return {
			role: "assistant",
			content,
			api: "openai-completions",
			provider: "fake",
			model: "fake-model",
			usage: this.usage(tokens),
			stopReason: under ? guess : stopReason,
			timestamp: this.now(),
			...(isNamed ? { responseId: "chatcmpl-1" } : {}),
			...(done && this.hasSystem ? { rawStopReason: stopReason === "toolUse" ? "tool_calls" : stopReason } : {}),
			...(errorMessage === undefined ? {} : { errorMessage }),
			...(!under && this.isTimed ? { durationMs: 1, thinkingLevel: "off" } : {}),
		};
	}

	/**
	 * @param {object} event `text_delta` and its kind
	 * @param {any} soFar the message under way
	 */
	update(event, soFar) {
		if (!this.isCumulative) return { type: "message_update", usage: soFar.usage, assistantMessageEvent: event };
		const whole = { ...soFar, responseId: "chatcmpl-1" };
		return { type: "message_update", assistantMessageEvent: { ...event, partial: whole }, message: whole };
	}

	/** @param {{ id: string, name: string }} call @param {any[]} content @param {boolean} isError */
	toolResult({ id, name }, content, isError) {
		return {
			role: "toolResult",
			toolCallId: id,
			toolName: name,
			content,
			isError,
			...(this.isTimed ? { durationMs: 1 } : {}),
			timestamp: this.now(),
		};
	}

	/** @param {{ id: string, name: string, arguments: object }} call */
	toolStart({ id, name, arguments: args }) {
		return { type: "tool_execution_start", toolCallId: id, toolName: name, args };
	}

	/** @param {{ id: string, name: string, arguments: object }} call @param {any[]} content */
	toolUpdate({ id, name, arguments: args }, content) {
		return { type: "tool_execution_update", toolCallId: id, toolName: name, args, partialResult: { content } };
	}

	/** @param {{ id: string, name: string }} call @param {any[]} content @param {boolean} isError */
	toolEnd({ id, name }, content, isError) {
		const timed = this.isTimed ? { durationMs: 1 } : {};
		return { type: "tool_execution_end", toolCallId: id, toolName: name, result: { content }, isError, ...timed };
	}

	/** @param {any[]} messages */
	agentEnd(messages, willRetry = false) {
		return { type: "agent_end", messages, ...(this.isCumulative ? {} : { willRetry }) };
	}

	/** What follows when nothing more comes of itself; older ones say nothing then. */
	settled(aborted = false) {
		return this.hasSettled ? { type: "agent_settled", ...(this.isTimed ? { aborted } : {}) } : undefined;
	}
}
