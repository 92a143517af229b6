/**
 * The formats of pi's events, by the version of pi. It knows nothing about scenarios. There are three formats: up to
 * 0.83 every update carries the whole message so far; since 0.84 it carries only the new part; since 1.0 messages and
 * tools also have their durations.
 */

import { randomUUID } from "node:crypto";

/** The default version. */
export const newest = "1.6.0";

/** The prices in dollars per token, to derive a cost from the tokens. */
const prices = { input: 3e-6, output: 15e-6, cacheRead: 0.3e-6, cacheWrite: 3.75e-6 };

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Builds events. Every method returns one record of the stream. */
export class Wire {
	/** @param {string} version the version of pi to imitate */
	constructor(version = newest) {
		const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
		/** @param {number} a @param {number} b */
		const from = (a, b, c = 0) => major - a || minor - b || patch - c;
		this.version = version;
		this.isCumulative = from(0, 84) < 0;
		this.hasSettled = from(0, 80, 4) >= 0;
		this.hasSystem = from(0, 84) >= 0;
		this.isTimed = from(1, 0) >= 0;
		/** The stop reason of a message whose request was aborted before it was sent. */
		this.abortedLater = this.isTimed ? "aborted" : "error";
		/** The error of the child's clock, in milliseconds. */
		this.clockShift = 0;
	}

	now() {
		return Date.now() + this.clockShift;
	}

	/** Returns an ISO date, even if the clock is outside the range of dates. */
	date() {
		const date = new Date(this.now());
		return Number.isNaN(date.valueOf()) ? String(date) : date.toISOString();
	}

	session(cwd = process.cwd(), id = randomUUID()) {
		return { type: "session", version: 3, id, timestamp: this.date(), cwd };
	}

	/** @param {any} message from {@link Wire.assistant} or a similar method */
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
	 * Returns the usage. Without tokens, it is pi's value before the model has reported any. `cost` in dollars replaces
	 * the cost derived from the tokens.
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
	 * Returns an assistant message.
	 *
	 * @param {any[]} content
	 * @param {{ stopReason: string, errorMessage?: string | undefined, tokens?: object | undefined, under?: boolean }}
	 * how
	 */
	assistant(content, { stopReason, errorMessage, tokens, under = false }) {
		const called = content.some(({ type, partialArgs }) => type === "toolCall" && partialArgs === undefined);
		// While the end of a message is unknown, newer versions write `pending` and older ones guess.
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
	 * @param {object} event `text_delta` and similar events
	 *
	 * @param {any} soFar the open message
	 */
	update(event, soFar) {
		if (!this.isCumulative) return { type: "message_update", usage: soFar.usage, assistantMessageEvent: event };
		const whole = { ...soFar, responseId: "chatcmpl-1" };
		return { type: "message_update", assistantMessageEvent: { ...event, partial: whole }, message: whole };
	}

	/** @param {{ id: string, name: string }} call @param {any[]} content @param {boolean} isError @param {object} [details] */
	toolResult({ id, name }, content, isError, details) {
		return {
			role: "toolResult",
			toolCallId: id,
			toolName: name,
			content,
			...(details && { details }),
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

	/** @param {{ id: string, name: string }} call @param {any[]} content @param {boolean} isError @param {object} [details] */
	toolEnd({ id, name }, content, isError, details) {
		const timed = this.isTimed ? { durationMs: 1 } : {};
		return {
			type: "tool_execution_end",
			toolCallId: id,
			toolName: name,
			result: { content, ...(details && { details }) },
			isError,
			...timed,
		};
	}

	/** @param {any[]} messages */
	agentEnd(messages, willRetry = false) {
		return { type: "agent_end", messages, ...(this.isCumulative ? {} : { willRetry }) };
	}

	/** Returns the event after the work has settled. Older versions have none. */
	settled(aborted = false) {
		return this.hasSettled ? { type: "agent_settled", ...(this.isTimed ? { aborted } : {}) } : undefined;
	}
}
