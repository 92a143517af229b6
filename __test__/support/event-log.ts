/** The JSON lines that pi prints, as they come: kept, and awaited by predicate. */

/** One line. The test narrows the fields that it looks at. */
export interface PiEvent {
	type: string;
	[field: string]: unknown;
}

/** The result of a tool execution. */
export interface ToolEnd extends PiEvent {
	toolCallId: string;
	toolName: string;
	isError: boolean;
	result: { content: { type: string; text?: string }[]; details?: unknown; usage?: unknown };
}

/** An update of a running tool. */
export interface ToolUpdate extends PiEvent {
	toolCallId: string;
	toolName: string;
	partialResult: { content: { type: string; text?: string }[]; details?: unknown };
}

interface AssistantMessage {
	role: string;
	content: { type: string; text?: string }[];
	errorMessage?: string;
}

interface Waiter {
	matches: (event: PiEvent) => boolean;
	resolve: (event: PiEvent) => void;
	reject: (error: Error) => void;
}

/** The default time limit of `waitFor`: a cold start of pi on a busy machine and of its child. */
const defaultWaitMs = 30_000;

/** Splits at LF only, as the protocol wants, and decodes whole lines. */
export class EventLog {
	readonly events: PiEvent[] = [];
	/** Lines that are not JSON. */
	readonly noise: string[] = [];
	readonly #onEvent: (event: PiEvent) => void;
	#rest: Buffer[] = [];
	#waiters = new Set<Waiter>();
	#ended: string | undefined;

	constructor(onEvent: (event: PiEvent) => void = () => {}) {
		this.#onEvent = onEvent;
	}

	push(chunk: Buffer): void {
		let from = 0;
		for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
			this.#line(Buffer.concat([...this.#rest, chunk.subarray(from, at)]).toString("utf8"));
			this.#rest = [];
			from = at + 1;
		}
		if (from < chunk.length) this.#rest.push(chunk.subarray(from));
	}

	/** Ends the log; `why` is for the error of the remaining waiters. */
	end(why: string): void {
		if (this.#rest.length > 0) this.#line(Buffer.concat(this.#rest).toString("utf8"));
		this.#rest = [];
		this.#ended = why;
		for (const waiter of this.#waiters)
			waiter.reject(new Error(`the expected event is missing: ${why}${this.#summary()}`));
	}

	/** The first event from position `from` on that fits, past or to come. Rejects at the end of pi and of the limit. */
	async waitFor(matches: (event: PiEvent) => boolean, limitMs = defaultWaitMs, from = 0): Promise<PiEvent> {
		const found = this.events.slice(from).find(matches);
		if (found) return found;
		if (this.#ended) throw new Error(`the expected event is missing: ${this.#ended}${this.#summary()}`);
		return await new Promise((resolve, reject) => {
			const settle = () => {
				clearTimeout(timer);
				this.#waiters.delete(waiter);
			};
			const waiter: Waiter = {
				matches,
				resolve: (event) => {
					settle();
					resolve(event);
				},
				reject: (error) => {
					settle();
					reject(error);
				},
			};
			const late = () =>
				waiter.reject(new Error(`the expected event did not arrive within ${limitMs} ms${this.#summary()}`));
			const timer = setTimeout(late, limitMs);
			this.#waiters.add(waiter);
		});
	}

	/** Ends of tool executions, of one tool or all. */
	toolEnds(name?: string): ToolEnd[] {
		return this.events.filter(
			(event): event is ToolEnd => event.type === "tool_execution_end" && (!name || event.toolName === name),
		);
	}

	/** Updates of tool executions, of one tool or all. */
	toolUpdates(name?: string): ToolUpdate[] {
		return this.events.filter(
			(event): event is ToolUpdate => event.type === "tool_execution_update" && (!name || event.toolName === name),
		);
	}

	/** Text of the last assistant message. */
	get answer(): string {
		return (this.#lastMessage?.content ?? []).map(({ text }) => text ?? "").join("");
	}

	/** Returns the reason for the failure of the last assistant message, if it failed. */
	get errorMessage(): string | undefined {
		return this.#lastMessage?.errorMessage;
	}

	get #lastMessage(): AssistantMessage | undefined {
		const messages = this.events.filter(({ type }) => type === "message_end").map(({ message }) => message);
		return (messages as AssistantMessage[]).findLast(({ role }) => role === "assistant");
	}

	#line(line: string): void {
		const text = line.endsWith("\r") ? line.slice(0, -1) : line;
		if (text === "") return;
		const event = parse(text);
		if (!event) {
			this.noise.push(text);
			return;
		}
		this.events.push(event);
		for (const waiter of [...this.#waiters]) if (waiter.matches(event)) waiter.resolve(event);
		this.#onEvent(event);
	}

	#summary(): string {
		const last = this.events.slice(-12).map((event) => `  ${JSON.stringify(event).slice(0, 200)}`);
		return `; last of ${this.events.length} events:\n${last.join("\n")}`;
	}
}

function parse(line: string): PiEvent | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null && "type" in value ? (value as PiEvent) : undefined;
	} catch {
		return undefined;
	}
}
