/** Plays a scenario: keeps the state so far, and emits events. */

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { writeAll } from "./pipe.mjs";
import { Queue, Steered } from "./queue.mjs";
import { SessionFile } from "./session-file.mjs";
import { Wire } from "./wire.mjs";

/** The maximum lifetime of each process of a scenario, in ms. */
export const lifetimeMs = Number(process.env.FAKE_PI_LIFETIME_MS) || 300_000;

/** The usage of a message whose scenario gives none. */
const defaultTokens = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1 };

/** Appends to the file in `FAKE_PI_LOG`, so that a test can check the program's input and actions. */
export function log(/** @type {object} */ entry) {
	if (process.env.FAKE_PI_LOG) appendFileSync(process.env.FAKE_PI_LOG, `${JSON.stringify(entry)}\n`);
}

/**
 * @typedef {object} Given
 * @property {string} mode
 * @property {string} task
 * @property {string | undefined} [sessionFile]
 * @property {Wire} [wire]
 * @property {Queue} [queue] of the session
 * @property {() => Promise<void>} [onOpen] happens before the first event
 */

/** One prompt and its answer. */
export class Stage {
	/** @param {Given} given */
	constructor({ mode, task, sessionFile, wire = new Wire(), queue = new Queue(), onOpen }) {
		this.mode = mode;
		this.task = task;
		this.#file = sessionFile === undefined ? undefined : new SessionFile(sessionFile);
		this.wire = wire;
		this.queue = queue;
		this.#onOpen = onOpen;
		this.abort = new AbortController();
		/** The handlers for answers, by the question's id. @type {Map<string, (answer: object) => void>} */
		this.questions = new Map();
		/** The sizes of and pauses between writes. @type {{ split?: number, pauseMs?: number }} */
		this.pieces = {};
		/** The texts before events, in turn. @type {string[]} */
		this.noise = [];
		this.lineEnd = "\n";
		/** Kept so that it is not freed. @type {unknown[]} */
		this.ballast = [];
		this.isOpen = false;
		this.isSettled = false;
		this.attempt = 0;
		this.calls = 0;
		/** The messages of this run of the agent. @type {any[]} */
		this.messages = [];
		/** The parts of the open message. @type {any[] | undefined} */
		this.content = undefined;
		/** The known usage of the open message so far. @type {object | undefined} */
		this.tokens = undefined;
		/** The call whose tool is running, and its message. @type {{ call: any, message: any } | undefined} */
		this.running = undefined;
		/** True between a failure and the next attempt. */
		this.isRetrying = false;
		/** The answer to the last question. */
		this.answer = "";
		/**
		 * The steps to play after a steering message, instead of the rest of the scenario. @type {unknown[] | undefined}
		 */
		this.steered = undefined;
		/** The last steering message. */
		this.steer = "";
	}

	#onOpen;
	#file;
	#isInTurn = false;
	/** True if the model has not answered a delivered message. */
	#owesAnswer = false;
	#written = 0;

	/** Writes one event as one line. @param {object | undefined} event */
	async emit(event) {
		if (event === undefined) return;
		const before = this.noise[this.#written++ % this.noise.length] ?? "";
		await writeAll(1, `${before}${JSON.stringify(event)}${this.lineEnd}`, this.pieces);
	}

	/** @param {number} ms */
	async sleep(ms) {
		await delay(Math.min(ms, lifetimeMs), undefined, { signal: this.abort.signal });
	}

	/** Replaces `{task}`, `{answer}`, `{steer}`, `{pid}` and `{env.NAME}`. @param {string} text */
	text(text) {
		const { task, answer, steer } = this;
		/** @type {Record<string, string>} */
		const values = { task, answer, steer, pid: String(process.pid) };
		return text.replace(
			/\{(?:(task|answer|steer|pid)|env\.(\w+))\}/g,
			(_, name, variable) => values[name] ?? process.env[variable] ?? "",
		);
	}

	/** Emits the opening events, once. */
	async begin() {
		if (this.isOpen) return;
		this.isOpen = true;
		await this.#onOpen?.();
		if (this.mode === "json") await this.emit(this.wire.session());
		await this.#beginAttempt();
		if (this.wire.hasSystem) await this.#wholeMessage(this.wire.system());
		await this.#wholeMessage(this.wire.user(this.task));
		await this.#deliver();
	}

	/** Emits the opening events of an attempt. */
	async #beginAttempt() {
		this.messages = [];
		await this.emit({ type: "agent_start" });
		await this.#beginTurn();
	}

	/**
	 * Starts another attempt after a failure and a pause.
	 *
	 * @param {{ errorMessage: string, maxAttempts: number, delayMs: number }} how
	 */
	async retry({ errorMessage, maxAttempts, delayMs }) {
		await this.emit(this.wire.agentEnd(this.messages, true));
		const attempt = ++this.attempt;
		await this.emit({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage });
		this.isRetrying = true;
		await this.sleep(delayMs);
		this.isRetrying = false;
		await this.#beginAttempt();
		await this.#deliver();
	}

	/** Delivers the next steering message, if there is one, in the open turn. */
	async #deliver() {
		const text = this.queue.steering.shift();
		if (text === undefined) return;
		await this.#deliverText(text);
		if (this.steered) throw new Steered(this.steered);
	}

	/** @param {string} text a message for the working model */
	async #deliverText(text) {
		await this.emit(this.queue.update());
		await this.#wholeMessage(this.wire.user(text));
		this.steer = text;
		this.#owesAnswer = true;
	}

	/** Delivers the next follow-up message, if there is one. It becomes the task. */
	async followUp() {
		const text = this.isOpen && !this.isSettled ? this.queue.followUp.shift() : undefined;
		if (text === undefined) return false;
		await this.#beginTurn();
		await this.#deliverText(text);
		this.task = text;
		return true;
	}

	async #beginTurn() {
		this.#isInTurn = true;
		await this.emit({ type: "turn_start" });
	}

	/** Opens a message unless one is open. */
	async beginMessage() {
		await this.#openTurn();
		if (this.content) return;
		this.content = [];
		this.#owesAnswer = false;
		await this.emit({ type: "message_start", message: this.#underWay() });
	}

	async #openTurn() {
		await this.begin();
		if (!this.#isInTurn) await this.#beginTurn();
	}

	/** @param {object} [tokens] */
	#underWay(tokens) {
		return this.wire.assistant(structuredClone(this.content ?? []), { stopReason: "", under: true, tokens });
	}

	/**
	 * @param {object} event of the open message
	 *
	 * @param {object} [tokens]
	 */
	async update(event, tokens = this.wire.isCumulative ? undefined : defaultTokens) {
		await this.emit(this.wire.update(event, this.#underWay(tokens)));
	}

	/**
	 * Adds to the text or thinking of the open message, in deltas.
	 *
	 * @param {"text" | "thinking"} kind
	 * @param {string} text
	 * @param {{ chunk?: number, pauseMs?: number }} pace characters per delta, and the pause after each
	 */
	async addText(kind, text, { chunk = Number.POSITIVE_INFINITY, pauseMs = 0 } = {}) {
		await this.beginMessage();
		const content = this.content ?? [];
		if (content.at(-1)?.type !== kind) {
			content.push({
				type: kind,
				[kind]: "",
				...(kind === "thinking" ? { thinkingSignature: "reasoning_content" } : {}),
			});
			await this.update({ type: `${kind}_start`, contentIndex: content.length - 1 });
		}
		const part = content.at(-1);
		const characters = chunk < text.length ? [...text] : [text];
		const size = chunk < text.length ? Math.max(1, chunk) : 1;
		for (let from = 0; from < characters.length; from += size) {
			const delta = characters.slice(from, from + size).join("");
			part[kind] += delta;
			await this.update({ type: `${kind}_delta`, contentIndex: content.length - 1, delta });
			this.abort.signal.throwIfAborted();
			if (pauseMs > 0) await this.sleep(pauseMs);
		}
	}

	/** Ends the texts of the open message. They all end together, like in pi. @param {object | undefined} tokens */
	async #endParts(tokens) {
		for (const [contentIndex, part] of (this.content ?? []).entries()) {
			const content = part[part.type];
			if (content !== undefined) await this.update({ type: `${part.type}_end`, contentIndex, content }, tokens);
		}
	}

	/**
	 * Ends the open message.
	 *
	 * @param {{ stopReason: string, errorMessage?: string, tokens?: object | undefined }} how
	 */
	async endMessage({ stopReason, errorMessage, tokens = errorMessage === undefined ? defaultTokens : undefined }) {
		await this.#openTurn();
		if (errorMessage === undefined) await this.beginMessage();
		if (errorMessage === undefined || stopReason === "aborted") await this.#endParts(tokens);
		const message = this.wire.assistant(this.content ?? [], { stopReason, errorMessage, tokens });
		// A message that failed before its first text appears complete.
		if (!this.content) await this.emit({ type: "message_start", message });
		this.content = undefined;
		this.tokens = undefined;
		this.#owesAnswer = false;
		await this.#messageEnd(message);
		if (stopReason !== "error" && this.attempt > 0) {
			await this.emit({ type: "auto_retry_end", success: true, attempt: this.attempt });
			this.attempt = 0;
		}
		return message;
	}

	/** @param {any} message @param {any[]} toolResults */
	async endTurn(message, toolResults = []) {
		this.#isInTurn = false;
		await this.emit({ type: "turn_end", message, toolResults });
		// A model that failed gets no further request.
		if (message.errorMessage !== undefined || this.queue.steering.length === 0) return;
		await this.#beginTurn();
		await this.#deliver();
	}

	/** Emits a message that is complete at its start. @param {any} message */
	async #wholeMessage(message) {
		await this.emit({ type: "message_start", message });
		await this.#messageEnd(message);
	}

	/** @param {any} message */
	async #messageEnd(message) {
		this.messages.push(message);
		this.#file?.append(this.wire, message);
		await this.emit({ type: "message_end", message });
	}

	/**
	 * Emits the result of a tool call.
	 *
	 * @param {any} call
	 * @param {any[]} content
	 * @param {boolean} isError
	 * @param {object} [details]
	 */
	async endTool(call, content, isError, details) {
		this.running = undefined;
		await this.emit(this.wire.toolEnd(call, content, isError, details));
		const result = this.wire.toolResult(call, content, isError, details);
		await this.#wholeMessage(result);
		return result;
	}

	/** Emits the closing events, once. */
	async settle(aborted = false) {
		if (!this.isOpen || this.isSettled) return;
		while (this.#owesAnswer && !aborted) {
			await this.addText("text", `Told: ${this.steer}`);
			await this.endTurn(await this.endMessage({ stopReason: "stop" }));
		}
		this.isSettled = true;
		await this.emit(this.wire.agentEnd(this.messages));
		await this.#giveUp(this.messages.at(-1)?.errorMessage);
		await this.emit(this.wire.settled(aborted));
	}

	/** @param {string | undefined} finalError */
	async #giveUp(finalError) {
		const { attempt } = this;
		if (attempt > 0) await this.emit({ type: "auto_retry_end", success: false, attempt, finalError });
	}

	/** Ends the present work after an abort. */
	async wasAborted() {
		if (!this.isOpen || this.isSettled) return;
		if (this.isRetrying) {
			this.isSettled = true;
			await this.#giveUp("Retry cancelled");
			await this.emit(this.wire.settled(true));
			return;
		}
		const { running, tokens } = this;
		if (running) {
			const result = await this.endTool(running.call, [{ type: "text", text: "Command aborted" }], true);
			this.#isInTurn = false;
			await this.emit({ type: "turn_end", message: running.message, toolResults: [result] });
		}
		// After a tool, pi still begins the next request, which fails.
		const stopReason = running ? this.wire.abortedLater : "aborted";
		const errorMessage = running ? "This operation was aborted" : "Request was aborted";
		await this.endTurn(await this.endMessage({ stopReason, errorMessage, tokens }));
		await this.settle(true);
	}
}
