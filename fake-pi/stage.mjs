/** Where a scenario is played: what has been said so far, and the ways to say more. */

import { appendFileSync, existsSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { writeAll } from "./pipe.mjs";
import { Wire } from "./wire.mjs";

/** No process of a scenario lives longer, whatever the scenario says. */
export const lifetimeMs = Number(process.env.FAKE_PI_LIFETIME_MS) || 300_000;

/** Tokens of a message whose scenario names none. */
const defaultTokens = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1 };

/** Appends to the file in `FAKE_PI_LOG`, from which a test can tell what the program was given and what it did. */
export function log(/** @type {object} */ entry) {
	if (process.env.FAKE_PI_LOG) appendFileSync(process.env.FAKE_PI_LOG, `${JSON.stringify(entry)}\n`);
}

/** One prompt and its answer. */
export class Stage {
	/** @param {{ mode: string, task: string, sessionFile?: string | undefined, wire?: Wire }} given */
	constructor({ mode, task, sessionFile, wire = new Wire() }) {
		this.mode = mode;
		this.task = task;
		this.sessionFile = sessionFile;
		this.wire = wire;
		this.abort = new AbortController();
		/** Answers to questions, by the question's id. @type {Map<string, (answer: object) => void>} */
		this.questions = new Map();
		/** How events are written. @type {{ split?: number, pauseMs?: number }} */
		this.pieces = {};
		/** What stands before each event, in turn. @type {string[]} */
		this.noise = [];
		this.lineEnd = "\n";
		/** Kept so that it is not freed. @type {unknown[]} */
		this.ballast = [];
		this.isOpen = false;
		this.isSettled = false;
		this.attempt = 0;
		this.calls = 0;
		/** Of this run of the agent. @type {any[]} */
		this.messages = [];
		/** The parts of the message under way. @type {any[] | undefined} */
		this.content = undefined;
	}

	#isInTurn = false;
	#written = 0;
	/** @type {any} */
	#parent = null;

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

	/** Replaces `{task}`, `{pid}` and `{env.NAME}`. @param {string} text */
	text(text) {
		return text.replace(/\{(?:task|pid|env\.(\w+))\}/g, (whole, name) => {
			if (whole === "{task}") return this.task;
			return name === undefined ? String(process.pid) : (process.env[name] ?? "");
		});
	}

	/** The opening events, once. */
	async begin() {
		if (this.isOpen) return;
		this.isOpen = true;
		if (this.mode === "json") await this.emit(this.wire.session());
		await this.beginAttempt();
		if (this.wire.hasSystem) await this.#wholeMessage(this.wire.system());
		await this.#wholeMessage(this.wire.user(this.task));
	}

	/** What opens the work and each further attempt at it. */
	async beginAttempt() {
		this.messages = [];
		await this.emit({ type: "agent_start" });
		await this.#beginTurn();
	}

	async #beginTurn() {
		this.#isInTurn = true;
		await this.emit({ type: "turn_start" });
	}

	/** Opens a message, if none is open. */
	async beginMessage() {
		await this.#openTurn();
		if (this.content) return;
		this.content = [];
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

	/** @param {object} event of the message under way @param {object} [tokens] */
	async update(event, tokens = this.wire.isCumulative ? undefined : defaultTokens) {
		await this.emit(this.wire.update(event, this.#underWay(tokens)));
	}

	/**
	 * Adds to the text, or to the thinking, of the message under way, in deltas.
	 *
	 * @param {"text" | "thinking"} kind
	 * @param {string} text
	 * @param {{ chunk?: number, pauseMs?: number }} pace characters for each delta, and the pause after each
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
			if (pauseMs > 0) await this.sleep(pauseMs);
		}
	}

	/** Ends the texts of the message under way, all at its end, as pi does. @param {object | undefined} tokens */
	async #endParts(tokens) {
		for (const [contentIndex, part] of (this.content ?? []).entries()) {
			const content = part[part.type];
			if (content !== undefined) await this.update({ type: `${part.type}_end`, contentIndex, content }, tokens);
		}
	}

	/**
	 * Ends the message under way.
	 *
	 * @param {{ stopReason: string, errorMessage?: string, tokens?: object | undefined }} how
	 */
	async endMessage({ stopReason, errorMessage, tokens = errorMessage === undefined ? defaultTokens : undefined }) {
		await this.#openTurn();
		if (errorMessage === undefined) {
			await this.beginMessage();
			await this.#endParts(tokens);
		}
		const message = this.wire.assistant(this.content ?? [], { stopReason, errorMessage, tokens });
		// One that failed before its first word appears as a whole.
		if (!this.content) await this.emit({ type: "message_start", message });
		this.content = undefined;
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
	}

	/** A message that is whole when it appears. @param {any} message */
	async #wholeMessage(message) {
		await this.emit({ type: "message_start", message });
		await this.#messageEnd(message);
	}

	/** @param {any} message */
	async #messageEnd(message) {
		this.messages.push(message);
		this.#record(message);
		await this.emit({ type: "message_end", message });
	}

	/** Runs a tool for a call that has been made. @param {any} call @param {any[]} content @param {boolean} isError */
	async endTool(call, content, isError) {
		await this.emit(this.wire.toolEnd(call, content, isError));
		const result = this.wire.toolResult(call, content, isError);
		await this.#wholeMessage(result);
		return result;
	}

	/** The closing events, once. */
	async settle(aborted = false) {
		if (!this.isOpen || this.isSettled) return;
		this.isSettled = true;
		await this.emit(this.wire.agentEnd(this.messages));
		if (this.attempt > 0) {
			const finalError = this.messages.at(-1)?.errorMessage;
			await this.emit({ type: "auto_retry_end", success: false, attempt: this.attempt, finalError });
		}
		await this.emit(this.wire.settled(aborted));
	}

	/** What an abort makes of the work under way. */
	async wasAborted() {
		if (!this.isOpen || this.isSettled) return;
		await this.endTurn(await this.endMessage({ stopReason: "aborted", errorMessage: "Request was aborted" }));
		await this.settle(true);
	}

	/** Appends a message to the session file, as pi does. @param {any} message */
	#record(message) {
		if (!this.sessionFile) return;
		const isNew = !existsSync(this.sessionFile) || statSync(this.sessionFile).size === 0;
		const entry = this.wire.entry(message, undefined, this.#parent);
		this.#parent = entry.id;
		const lines = [...(isNew ? [this.wire.session()] : []), entry];
		appendFileSync(this.sessionFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	}
}
