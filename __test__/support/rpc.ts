/** pi driven over its RPC protocol: commands in, responses and events out, dialogs answered. */

import { setTimeout as delay } from "node:timers/promises";
import { EventLog, type PiEvent } from "./event-log.ts";
import { type Finished, PiProcess, type Place, type StartOptions } from "./process.ts";

/** An extension's question or notice to the user. */
export interface UiRequest extends PiEvent {
	id: string;
	method: string;
	title?: string;
	message?: string;
}

/** The answer to a dialog. */
export type UiAnswer = { confirmed: boolean } | { value: string } | { cancelled: true };

export interface RpcOptions extends StartOptions {
	/** Answers `select`, `confirm`, `input` and `editor`, or leaves them open; without it they are cancelled. */
	answer?: (request: UiRequest) => UiAnswer | undefined;
}

export interface RpcResponse extends PiEvent {
	id: string;
	command: string;
	success: boolean;
	data?: unknown;
	error?: string;
}

const dialogs = ["select", "confirm", "input", "editor"];

/** A pi in RPC mode. */
export class RpcSession {
	readonly pi: PiProcess;
	readonly log: EventLog;
	/** Everything that extensions asked or told, oldest first. */
	readonly uiRequests: UiRequest[] = [];
	readonly #answer: NonNullable<RpcOptions["answer"]>;
	#sent = 0;

	constructor(place: Place, options: RpcOptions = {}) {
		this.#answer = options.answer ?? (() => ({ cancelled: true }));
		this.log = new EventLog((event) => this.#handle(event));
		this.pi = new PiProcess(place, ["--mode", "rpc"], options, "pipe");
		this.pi.child.stdout?.on("data", (chunk: Buffer) => this.log.push(chunk));
		// A write after pi has gone is an error of the pipe; the end of the log says it better.
		this.pi.child.stdin?.on("error", () => undefined);
		const ended = () => this.log.end(`pi has ended; stderr: ${this.pi.stderr.slice(-2000)}`);
		this.pi.finished.then(ended, ended);
	}

	/** Sends a command and resolves with its response, successful or not. */
	async send(command: { type: string; [field: string]: unknown }, limitMs?: number): Promise<RpcResponse> {
		const id = `test-${this.#sent++}`;
		this.#write({ ...command, id });
		const matches = (event: PiEvent) => event.type === "response" && event.id === id;
		return (await this.log.waitFor(matches, limitMs)) as RpcResponse;
	}

	/** Sends a prompt and resolves when pi has settled; returns the events since. */
	async prompt(message: string, limitMs?: number): Promise<PiEvent[]> {
		const from = this.log.events.length;
		const response = await this.send({ type: "prompt", message }, limitMs);
		if (!response.success) throw new Error(`prompt was refused: ${response.error}`);
		await this.log.waitFor(({ type }) => type === "agent_settled", limitMs, from);
		return this.log.events.slice(from);
	}

	/** Runs a command and returns the user's notices in the meantime. */
	async notices(message: string): Promise<string> {
		const from = this.uiRequests.length;
		const { success, error } = await this.send({ type: "prompt", message });
		if (!success) throw new Error(`${message} was refused: ${error}`);
		const notes = this.uiRequests.slice(from).filter(({ method }) => method === "notify");
		return notes.map((note) => note.message).join("\n");
	}

	/** Runs a command until this notice appears. */
	async untilNotice(message: string, what: RegExp, limitMs = 15_000): Promise<string> {
		for (const deadline = performance.now() + limitMs; ; await delay(100)) {
			const text = await this.notices(message);
			if (what.test(text)) return text;
			if (performance.now() >= deadline) throw new Error(`the answer to ${message} lacks ${what}:\n${text}`);
		}
	}

	/** Ends the session as a client does, by the end of its input. */
	async close(): Promise<Finished> {
		this.pi.child.stdin?.end();
		return await this.pi.finished;
	}

	#handle(event: PiEvent): void {
		if (event.type !== "extension_ui_request") return;
		const request = event as UiRequest;
		this.uiRequests.push(request);
		if (!dialogs.includes(request.method)) return;
		const answer = this.#answer(request);
		if (answer) this.#write({ type: "extension_ui_response", id: request.id, ...answer });
	}

	#write(record: Record<string, unknown>): void {
		this.pi.child.stdin?.write(`${JSON.stringify(record)}\n`);
	}
}

/** Starts pi in RPC mode. */
export function startRpc(place: Place, options: RpcOptions = {}): RpcSession {
	return new RpcSession(place, options);
}
