/** Plays one child of a replay: sends its output at the right time. */

import { setTimeout as delay } from "node:timers/promises";

/**
 * @typedef {import("./recording.mjs").Entry} Entry
 * @typedef {import("./replay-child.mjs").Order} Order
 * @typedef {{ steer(message: string): void, abort(reason?: string): void }} Caller
 */

/** The type of a command line on standard input, and its name in a recording. */
const names = { steer: "steer", abort: "abort", extension_ui_response: "answer" };

export class Playback {
	/** @param {Entry[]} entries @param {{ speed: number, protocol: unknown, caller: Caller }} how */
	constructor(entries, { speed, protocol, caller }) {
		this.entries = entries;
		this.speed = speed;
		this.isRpc = protocol === "rpc";
		this.caller = caller;
		this.isStopped = false;
		this.hasEnded = false;
		this.isGone = false;
	}

	/** Records to write together with the next one. @type {unknown[]} */
	#together = [];
	/** The number of times each command has arrived. @type {Map<string, number>} */
	#received = new Map();
	/** The number of times each command must have arrived. @type {Map<string, number>} */
	#wanted = new Map();
	#news = Promise.withResolvers();

	/**
	 * Plays to a child until it has exited.
	 *
	 * @param {import("node:net").Socket} socket
	 * @param {AsyncIterable<string>} reports the child's messages
	 */
	async play(socket, reports) {
		void this.#listen(reports);
		const order = (/** @type {Order} */ what) => void socket.write(`${JSON.stringify(what)}\n`);
		const began = performance.now();
		for (const entry of this.entries) {
			if (entry.more) {
				this.#together.push(entry.out);
				continue;
			}
			const wait = entry.at / this.speed - (performance.now() - began);
			if (wait > 0 && !this.isStopped) await delay(wait);
			await this.#do(entry, order);
			if (this.isGone) return;
		}
		// A child without a recorded end stays until it is ended.
		await this.#until(() => this.isGone);
	}

	/** @param {Entry} entry @param {(what: Order) => void} order */
	async #do(entry, order) {
		if (entry.out !== undefined) {
			const lines = [...this.#together.splice(0), entry.out];
			order({ out: lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n") });
		} else if (entry.in !== undefined) {
			const { in: name } = entry;
			const wanted = (this.#wanted.get(name) ?? 0) + 1;
			this.#wanted.set(name, wanted);
			const isReceived = () => (this.#received.get(name) ?? 0) >= wanted || this.isStopped;
			await this.#until(() => isReceived() || this.hasEnded);
			// The replay's host sends no further command, such as a request for an announcement or another turn after a
			// check.
			if (!isReceived()) await this.#leave({ at: 0, end: "settled", code: 0 }, order);
		} else if (entry.caller === "steer") {
			this.caller.steer(entry.message ?? "");
		} else if (entry.stop) {
			const end = this.entries.at(-1);
			if (end?.end === "aborted" || end?.end === "dropped") this.caller.abort(end.why);
			await this.#until(() => this.isStopped);
		} else if (entry.end !== undefined) {
			await this.#leave(entry, order);
		}
	}

	/** @param {Entry} entry @param {(what: Order) => void} order */
	async #leave({ end, code, signal, stderr = "" }, order) {
		if (stderr !== "") order({ err: stderr });
		// Wait until the host has closed the input, which it does once it has the result.
		if (end === "settled" && this.isRpc) await this.#until(() => this.hasEnded);
		if (signal) order({ kill: /** @type {NodeJS.Signals} */ (signal) });
		else if (code !== undefined || end === "settled") order({ exit: code ?? 0 });
		await this.#until(() => this.isGone);
	}

	/** @param {() => boolean} holds */
	async #until(holds) {
		while (!holds() && !this.isGone) await this.#news.promise;
	}

	/** @param {AsyncIterable<string>} reports */
	async #listen(reports) {
		try {
			for await (const line of reports) this.#receive(JSON.parse(line));
		} catch {
			// The child was killed.
		}
		this.isGone = true;
		this.#wake();
	}

	/** @param {any} report */
	#receive({ in: line, end, signal }) {
		if (signal !== undefined) this.isStopped = true;
		if (end) this.hasEnded = true;
		// Without commands, the whole input is the task.
		const name = this.isRpc ? nameOf(line) : end && "prompt";
		if (name === "abort") this.isStopped = true;
		if (name) this.#received.set(name, (this.#received.get(name) ?? 0) + 1);
		this.#wake();
	}

	#wake() {
		this.#news.resolve(undefined);
		this.#news = Promise.withResolvers();
	}
}

/** @param {string | undefined} line @returns {string | undefined} */
function nameOf(line) {
	if (line === undefined || line.trim() === "") return undefined;
	const { type, id } = JSON.parse(line);
	return type === "prompt" ? id : names[/** @type {keyof typeof names} */ (type)];
}
