/** `--mode rpc`: reads commands from standard input. Each prompt plays the scenario. */

import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";

import { answerTo } from "./commands.mjs";
import { flushed, linesOf, writeAll } from "./pipe.mjs";
import { ignored, Queue, Refused } from "./queue.mjs";
import { lifetimeMs, log, Stage } from "./stage.mjs";
import { playScenario } from "./steps.mjs";
import { newest, Wire } from "./wire.mjs";

/**
 * @typedef {object} Command
 * @property {string} type
 * @property {string} [id]
 * @property {string} [message]
 * @property {"steer" | "followUp"} [streamingBehavior]
 */

export class Session {
	/** @param {unknown[]} steps @param {string | undefined} sessionFile */
	constructor(steps, sessionFile) {
		this.id = randomUUID();
		this.steps = steps;
		this.sessionFile = sessionFile;
		this.wire = new Wire(process.env.FAKE_PI_VERSION ?? newest);
		this.queue = new Queue();
		/** The stage of the last prompt. @type {Stage | undefined} */
		this.stage = undefined;
		/** Settles when the last prompt has been played. @type {Promise<void>} */
		this.played = Promise.resolve();
		/** @type {any[]} */
		this.messages = [];
	}

	#isPlaying = false;

	/** Returns true while a prompt is being played. Steps after its settling do not count. */
	get isBusy() {
		return this.#isPlaying && !this.stage?.isSettled;
	}

	/** Returns true while the scenario continues after pi would be idle. */
	get isLingering() {
		return this.#isPlaying && this.stage?.isSettled === true;
	}

	/**
	 * Begins to play. The prompt is answered when its first event is due, like in pi.
	 *
	 * @param {Command} command
	 */
	prompt(command) {
		log({ task: command.message });
		const { queue, sessionFile, wire } = this;
		const onOpen = () => this.respond(command, this.disposition("started"));
		const stage = new Stage({ mode: "rpc", task: command.message ?? "", sessionFile, wire, queue, onOpen });
		this.stage = stage;
		this.#isPlaying = true;
		this.played = this.#play(stage, command);
	}

	/** @param {Stage} stage @param {Command} command */
	async #play(stage, command) {
		/** The answer for a prompt without an event, which means that an extension has handled it. */
		let outcome = this.disposition("handled");
		try {
			await turn();
			await playScenario(stage, this.steps);
		} catch (error) {
			if (error instanceof Refused) outcome = { success: false, error: error.message };
			else if (stage.abort.signal.aborted) await stage.wasAborted();
			else throw error;
		} finally {
			this.#isPlaying = this.stage !== stage && this.#isPlaying;
			this.messages.push(...stage.messages);
		}
		if (!stage.isOpen) await this.respond(command, outcome);
	}

	/** Puts a message into a queue. @param {"steering" | "followUp"} kind @param {Command} command */
	async enqueue(kind, { message = "" }) {
		log({ [kind]: message });
		this.queue[kind].push(message);
		await this.#emit(this.queue.update());
	}

	/** Aborts the present prompt. Does not return if aborts are ignored. */
	async abort() {
		if (ignored.has("abort")) {
			log({ ignored: "abort" });
			await new Promise((resolve) => setTimeout(resolve, lifetimeMs));
		}
		if (!this.isBusy) return;
		this.stage?.abort.abort();
		await this.played;
	}

	/** Begins a new session. */
	forget() {
		this.id = randomUUID();
		this.messages = [];
		this.queue = new Queue();
	}

	/**
	 * Returns the answer for a prompt or a queued message. Older versions do not give its disposition.
	 *
	 * @param {string} disposition
	 * @returns {{ success: boolean, data?: object, error?: string }}
	 */
	disposition(disposition) {
		return this.wire.isTimed ? { success: true, data: { disposition } } : { success: true };
	}

	/** @param {Command} command @param {object} outcome */
	async respond({ id, type }, outcome) {
		await this.#emit({ ...(id === undefined ? {} : { id }), type: "response", command: type, ...outcome });
	}

	/** @param {object} event */
	async #emit(event) {
		if (this.stage) await this.stage.emit(event);
		else await writeAll(1, `${JSON.stringify(event)}\n`);
	}
}

/**
 * Serves commands until standard input ends, which also ends a prompt that is being played.
 *
 * @param {unknown[]} steps
 * @param {string | undefined} sessionFile
 */
export async function serve(steps, sessionFile) {
	const session = new Session(steps, sessionFile);
	for await (const line of linesOf()) {
		if (line.trim() !== "") void handle(session, line);
	}
	log({ ended: "stdin" });
	if (session.isLingering) await session.played;
	if (ignored.has("eof")) await new Promise((resolve) => setTimeout(resolve, lifetimeMs));
	// Answer commands that need no time before exiting.
	await turn();
	await flushed();
}

/** @param {Session} session @param {string} line */
async function handle(session, line) {
	/** @type {any} */
	let command;
	try {
		command = JSON.parse(line);
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		return await session.respond({ type: "parse" }, { success: false, error: `Failed to parse command: ${why}` });
	}
	if (command.type === "extension_ui_response") {
		session.stage?.questions.get(command.id)?.(command);
		return;
	}
	const answer = await answerTo(session, command);
	if (answer) await session.respond(command, answer);
}
