/** `--mode rpc`: commands on standard input, each prompt plays the scenario. */

import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";

import { linesOf, writeAll } from "./pipe.mjs";
import { log, Stage } from "./stage.mjs";
import { playAll } from "./steps.mjs";
import { newest, Wire } from "./wire.mjs";

/** @typedef {{ id?: string, type: string, message?: string }} Command */

class Session {
	/** @param {unknown[]} steps @param {string | undefined} sessionFile */
	constructor(steps, sessionFile) {
		this.steps = steps;
		this.sessionFile = sessionFile;
		this.id = randomUUID();
		/** The prompt under way. @type {Stage | undefined} */
		this.stage = undefined;
		/** Its end. @type {Promise<void>} */
		this.idle = Promise.resolve();
		/** Prompts for later. @type {string[]} */
		this.queue = [];
		/** @type {any[]} */
		this.messages = [];
	}

	/** Begins to play and says what became of the prompt. @param {string} task */
	prompt(task) {
		log({ task });
		if (this.stage) {
			this.queue.push(task);
			return { disposition: "queued" };
		}
		const wire = new Wire(process.env.FAKE_PI_VERSION ?? newest);
		this.stage = new Stage({ mode: "rpc", task, sessionFile: this.sessionFile, wire });
		this.idle = this.#play(this.stage);
		return { disposition: "started" };
	}

	/** @param {Stage} stage */
	async #play(stage) {
		try {
			// The caller hears first that its prompt was accepted.
			await turn();
			await playAll(stage, this.steps);
			await stage.settle();
		} catch (error) {
			if (!stage.abort.signal.aborted) throw error;
			await stage.wasAborted();
		}
		this.messages.push(...stage.messages);
		this.stage = undefined;
		const next = this.queue.shift();
		if (next !== undefined) this.prompt(next);
	}

	async abort() {
		this.stage?.abort.abort();
		await this.idle;
	}
}

/**
 * What each command gives back as its data. All that are not here succeed and give nothing.
 *
 * @type {Record<string, (session: Session, command: Command) => unknown>}
 */
const commands = {
	prompt: (session, { message = "" }) => session.prompt(message),
	follow_up: (session, { message = "" }) => session.prompt(message),
	steer: (session, { message = "" }) => session.prompt(message),
	abort: (session) => session.abort(),
	new_session: async (session) => {
		await session.abort();
		session.id = randomUUID();
		session.messages = [];
		return { cancelled: false };
	},
	get_state: ({ id, stage, queue, messages, sessionFile }) => ({
		thinkingLevel: "off",
		isStreaming: stage !== undefined,
		isCompacting: false,
		sessionId: id,
		...(sessionFile ? { sessionFile } : {}),
		messageCount: messages.length,
		pendingMessageCount: queue.length,
	}),
	get_messages: ({ messages }) => ({ messages }),
	get_last_assistant_text: ({ messages }) => {
		const last = messages.findLast(({ role }) => role === "assistant");
		const parts = last?.content.filter((/** @type {any} */ part) => part.type === "text");
		return { text: parts?.map((/** @type {any} */ part) => part.text).join("\n") ?? null };
	},
};

/**
 * Serves commands until standard input ends.
 *
 * @param {unknown[]} steps
 * @param {string | undefined} sessionFile
 */
export async function serve(steps, sessionFile) {
	const session = new Session(steps, sessionFile);
	for await (const line of linesOf()) {
		if (line.trim() !== "") void handle(session, line);
	}
	await session.abort();
}

/** @param {Session} session @param {string} line */
async function handle(session, line) {
	/** @type {any} */
	let command;
	try {
		command = JSON.parse(line);
	} catch (error) {
		return await respond({ type: "parse" }, { success: false, error: `Failed to parse command: ${error}` });
	}
	if (command.type === "extension_ui_response") {
		session.stage?.questions.get(command.id)?.(command);
		return;
	}
	const run = Object.hasOwn(commands, command.type) ? commands[command.type] : undefined;
	const data = await run?.(session, command);
	await respond(command, { success: true, ...(data === undefined ? {} : { data }) });
}

/** @param {Command} command @param {object} outcome */
async function respond({ id, type }, outcome) {
	const answered = { ...(id === undefined ? {} : { id }), type: "response", command: type, ...outcome };
	await writeAll(1, `${JSON.stringify(answered)}\n`);
}
