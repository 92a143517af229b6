/** The file of a session, to which pi appends each message. */

import { appendFileSync, existsSync, statSync } from "node:fs";

/** @typedef {import("./wire.mjs").Wire} Wire */

export class SessionFile {
	/** @param {string} path */
	constructor(path) {
		this.path = path;
	}

	/** @type {any} */
	#parent = null;

	/** Appends a message. Writes the header first if the file is new. @param {Wire} wire @param {any} message */
	append(wire, message) {
		const isNew = !existsSync(this.path) || statSync(this.path).size === 0;
		const entry = wire.entry(message, undefined, this.#parent);
		this.#parent = entry.id;
		const lines = [...(isNew ? [wire.session()] : []), entry];
		appendFileSync(this.path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	}
}
