/**
 * A scripted language model on loopback: OpenAI's streaming chat completions, as far as pi uses them.
 *
 * A test gives the model's steps for each request; the server records the requests. It does not know pi: `requests.ts`
 * reads a request, `steps.ts` has the words of a script.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { type ChatMessage, ModelRequest, type ToolDefinition } from "./requests.ts";
import type { FinishReason, Step, TokenUsage } from "./steps.ts";

/** The model's steps for one request. */
export type Script = (request: ModelRequest) => Step[] | Promise<Step[]>;

/** One line of a script: the first rule that fits answers. */
export interface Rule {
	when: (request: ModelRequest) => boolean;
	/** The number of requests that it answers; by default all that match. */
	times?: number;
	answer: Step[] | Script;
}

/** The usage a response reports when its script has no `usage` step. */
export const defaultUsage: TokenUsage = { input: 100, output: 20, cached: 0 };

/** A request body beyond this is a bug in a test. */
const maxBodyBytes = 64 * 1024 * 1024;

/** The default time limit of `waitFor`. */
const defaultWaitMs = 20_000;

interface Waiter {
	matches: (request: ModelRequest) => boolean;
	resolve: (request: ModelRequest) => void;
}

/** The body of a request, before anything has been checked. */
interface RequestBody {
	model?: string;
	messages?: ChatMessage[];
	tools?: ToolDefinition[];
	reasoning_effort?: string;
}

/** The running server. End it with `close`, in any state of its connections. */
export class ModelServer {
	/** Every request so far, oldest first. */
	readonly requests: ModelRequest[] = [];
	/** Requests that no rule fitted, and scripts that threw; a test that ends well has none. */
	readonly problems: string[] = [];

	readonly #server;
	readonly #script: Script;
	readonly #ended = new AbortController();
	#waiters: Waiter[] = [];

	private constructor(script: Script) {
		this.#script = script;
		this.#server = createServer((incoming, response) => {
			this.#serve(incoming, response).catch((error: unknown) => {
				if (!this.#ended.signal.aborted && !response.destroyed) this.problems.push(String(error));
				response.destroy();
			});
		});
	}

	/** Starts a server on a free port of the loopback interface. */
	/** `address` is reachable for pi, if pi runs beyond the loopback interface. */
	static async start(script: Script | Rule[], address = "127.0.0.1"): Promise<ModelServer> {
		const server = new ModelServer(typeof script === "function" ? script : fromRules(script));
		server.#server.listen(0, address);
		await once(server.#server, "listening");
		return server;
	}

	/** Returns the `baseUrl` for a provider. */
	get baseUrl(): string {
		const { address, port } = this.#server.address() as AddressInfo;
		return `http://${address}:${port}/v1`;
	}

	/** The first request that fits, past or to come; rejects when none comes in time. */
	async waitFor(matches: (request: ModelRequest) => boolean, limitMs = defaultWaitMs): Promise<ModelRequest> {
		const found = this.requests.find(matches);
		if (found) return found;
		return await new Promise((resolve, reject) => {
			const waiter: Waiter = {
				matches,
				resolve: (request) => {
					clearTimeout(timer);
					resolve(request);
				},
			};
			const timer = setTimeout(() => {
				this.#waiters = this.#waiters.filter((other) => other !== waiter);
				const seen = this.requests.map((request) => `  ${request}`).join("\n");
				reject(
					new Error(`the expected request did not arrive within ${limitMs} ms; requests so far:\n${seen || "  none"}`),
				);
			}, limitMs);
			this.#waiters.push(waiter);
		});
	}

	/** Ends the server with all its connections; hanging responses end too. May be called again. */
	async close(): Promise<void> {
		this.#ended.abort();
		if (!this.#server.listening) return;
		const closed = once(this.#server, "close");
		this.#server.close();
		this.#server.closeAllConnections();
		await closed;
	}

	async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
		if (incoming.method !== "POST" || !incoming.url?.endsWith("/chat/completions")) {
			response.writeHead(404).end();
			return;
		}
		const body = JSON.parse(await readBody(incoming)) as RequestBody;
		const request = new ModelRequest({
			index: this.requests.length,
			model: body.model ?? "",
			messages: body.messages ?? [],
			tools: body.tools ?? [],
			reasoning: body.reasoning_effort,
			authorization: incoming.headers.authorization,
		});
		const disconnected = new AbortController();
		response.once("close", () => {
			request.finish(!response.writableFinished);
			disconnected.abort();
		});
		this.#record(request);
		const gone = AbortSignal.any([disconnected.signal, this.#ended.signal]);
		await new Responder(response, request.model, gone).play(await this.#steps(request));
	}

	async #steps(request: ModelRequest): Promise<Step[]> {
		try {
			return await this.#script(request);
		} catch (error) {
			const message = `no answer for ${request}: ${error instanceof Error ? error.message : String(error)}`;
			this.problems.push(message);
			// 400 is not retried, so that the mistake shows at once.
			return [{ type: "error", status: 400, body: { error: { message } } }];
		}
	}

	#record(request: ModelRequest): void {
		this.requests.push(request);
		const matching = this.#waiters.filter((waiter) => waiter.matches(request));
		this.#waiters = this.#waiters.filter((waiter) => !matching.includes(waiter));
		for (const waiter of matching) waiter.resolve(request);
	}
}

function fromRules(rules: Rule[]): Script {
	const remaining = new Map(rules.map((rule) => [rule, rule.times ?? Number.POSITIVE_INFINITY]));
	return (request) => {
		for (const rule of rules) {
			const times = remaining.get(rule) ?? 0;
			if (times <= 0 || !rule.when(request)) continue;
			remaining.set(rule, times - 1);
			return typeof rule.answer === "function" ? rule.answer(request) : rule.answer;
		}
		throw new Error("no rule fits");
	};
}

async function readBody(incoming: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of incoming as AsyncIterable<Buffer>) {
		size += chunk.length;
		if (size > maxBodyBytes) throw new Error("request body is too large");
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString("utf8");
}

/** Writes one response, step by step. */
class Responder {
	readonly #response: ServerResponse;
	readonly #model: string;
	readonly #gone: AbortSignal;
	#usage: TokenUsage = defaultUsage;
	#calls = 0;
	#finished = false;

	constructor(response: ServerResponse, model: string, gone: AbortSignal) {
		this.#response = response;
		this.#model = model;
		this.#gone = gone;
	}

	async play(steps: Step[]): Promise<void> {
		for (const step of steps) {
			if (this.#gone.aborted) return;
			const continues = await this.#step(step);
			if (!continues) return;
		}
		if (!this.#finished) await this.#finish(this.#calls > 0 ? "tool_calls" : "stop");
		await this.#raw("data: [DONE]\n\n");
		this.#response.end();
	}

	/** Plays one step and says whether the response goes on. */
	async #step(step: Step): Promise<boolean> {
		switch (step.type) {
			case "text":
				for (const part of parts(step.text, step.size)) {
					await this.#delta(step.thinking ? { reasoning_content: part } : { content: part });
					if (step.everyMs) await this.#pause(step.everyMs);
					if (this.#gone.aborted) return false;
				}
				return true;
			case "call":
				await this.#call(step);
				return true;
			case "usage":
				this.#usage = { ...defaultUsage, ...step.usage };
				return true;
			case "finish":
				await this.#finish(step.reason);
				return true;
			case "pause":
				await this.#pause(step.ms);
				return true;
			case "until":
				this.#open();
				await Promise.race([step.promise, untilAborted(this.#gone)]);
				return true;
			case "raw":
				await this.#raw(step.text);
				return true;
			case "drop":
				this.#open();
				this.#response.destroy();
				return false;
			case "error":
				this.#fail(step);
				return false;
		}
	}

	#fail(step: Extract<Step, { type: "error" }>): void {
		if (this.#response.headersSent) throw new Error("an HTTP error has to be the first step of a response");
		const headers: Record<string, string> = { "content-type": "application/json" };
		if (step.retryAfter !== undefined) headers["retry-after"] = String(step.retryAfter);
		const body = step.body ?? { error: { message: `scripted error ${step.status}`, type: "scripted" } };
		this.#response.writeHead(step.status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
	}

	async #call(step: Extract<Step, { type: "call" }>): Promise<void> {
		const index = this.#calls++;
		const id = step.id ?? `call_${Date.now().toString(36)}_${callNumber++}`;
		const begin = { index, id, type: "function", function: { name: step.name, arguments: "" } };
		await this.#delta({ tool_calls: [begin] });
		const written = typeof step.args === "string" ? step.args : JSON.stringify(step.args);
		for (const part of parts(written, step.size)) {
			await this.#delta({ tool_calls: [{ index, function: { arguments: part } }] });
			if (step.everyMs) await this.#pause(step.everyMs);
			if (this.#gone.aborted) return;
		}
	}

	async #finish(reason: FinishReason): Promise<void> {
		this.#finished = true;
		const { input, output, cached } = this.#usage;
		await this.#chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
		await this.#chunk({
			choices: [],
			usage: {
				prompt_tokens: input,
				completion_tokens: output,
				total_tokens: input + output,
				prompt_tokens_details: { cached_tokens: cached },
			},
		});
	}

	async #delta(delta: Record<string, unknown>): Promise<void> {
		await this.#chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
	}

	async #chunk(fields: Record<string, unknown>): Promise<void> {
		const head = { id: "scripted", object: "chat.completion.chunk", created: 0, model: this.#model };
		await this.#raw(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
	}

	async #raw(text: string): Promise<void> {
		this.#open();
		if (this.#response.write(text)) return;
		await once(this.#response, "drain", { signal: this.#gone }).catch(() => undefined);
	}

	#open(): void {
		if (this.#response.headersSent || this.#response.destroyed) return;
		this.#response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
		this.#response.flushHeaders();
	}

	async #pause(ms: number): Promise<void> {
		await delay(ms, undefined, { signal: this.#gone }).catch(() => undefined);
	}
}

let callNumber = 0;

async function untilAborted(gone: AbortSignal): Promise<void> {
	if (!gone.aborted) await once(gone, "abort");
}

/** A text in parts of `size` characters; whole characters, also outside the basic plane. */
function* parts(text: string, size: number | undefined): Generator<string> {
	if (!size || text.length <= size) {
		yield text;
		return;
	}
	let from = 0;
	while (from < text.length) {
		let to = Math.min(from + size, text.length);
		const last = text.charCodeAt(to - 1);
		if (to < text.length && last >= 0xd800 && last <= 0xdbff) to += 1;
		yield text.slice(from, to);
		from = to;
	}
}
