/** The words that a model's script is written in. */

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export interface TokenUsage {
	/** All tokens of the prompt, the cached ones among them. */
	input: number;
	output: number;
	cached: number;
}

/** The division of a text into deltas; by default one delta. */
export interface Pace {
	/** Characters in one delta. */
	size?: number;
	/** Pause after each delta. */
	everyMs?: number;
}

export type Step =
	| ({ type: "text"; text: string; thinking?: boolean } & Pace)
	| ({ type: "call"; name: string; args: Record<string, unknown> | string; id?: string } & Pace)
	| { type: "usage"; usage: Partial<TokenUsage> }
	| { type: "finish"; reason: FinishReason }
	| { type: "pause"; ms: number }
	| { type: "until"; promise: Promise<unknown> }
	| { type: "raw"; text: string }
	| { type: "drop" }
	| { type: "error"; status: number; body?: unknown; retryAfter?: number };

/** Text of the answer. */
export function say(text: string, pace: Pace = {}): Step {
	return { type: "text", text, ...pace };
}

/** Reasoning that comes before the answer. */
export function think(text: string, pace: Pace = {}): Step {
	return { type: "text", text, thinking: true, ...pace };
}

/** A tool call; arguments as a string go out as they are, so that a test can send broken JSON. */
export function call(name: string, args: Record<string, unknown> | string, pace: Pace & { id?: string } = {}): Step {
	return { type: "call", name, args, ...pace };
}

/** Sets the response's reported usage; by default `defaultUsage`. */
export function usage(tokens: Partial<TokenUsage>): Step {
	return { type: "usage", usage: tokens };
}

/** Sets the reason for the answer's end; by default `tool_calls` after a tool call, else `stop`. */
export function finish(reason: FinishReason): Step {
	return { type: "finish", reason };
}

/** A fixed time without a word. Use `until` where a test can say when to go on. */
export function pause(ms: number): Step {
	return { type: "pause", ms };
}

/** Nothing more until the promise settles, or the client or the server goes. */
export function until(promise: Promise<unknown>): Step {
	return { type: "until", promise };
}

/** Nothing more, ever; headers have been sent. */
export function hang(): Step {
	return { type: "until", promise: new Promise(() => {}) };
}

/** The connection breaks. */
export function drop(): Step {
	return { type: "drop" };
}

/** Sends an HTTP error instead of a stream; must be the first step. pi retries 429 and 5xx, and not 400 and 401. */
export function fail(status: number, options: { body?: unknown; retryAfter?: number } = {}): Step {
	return { type: "error", status, ...options };
}

/** Bytes as they are, for instance a broken event. */
export function raw(text: string): Step {
	return { type: "raw", text };
}

/** A gate that a test opens: `until(gate.opened)` in the script, `gate.open()` in the test. */
export function makeGate(): { opened: Promise<void>; open: () => void } {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { opened, open };
}
