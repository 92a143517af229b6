/** Message queues, as pi keeps them: across aborts and prompts. */

/** The queued messages of one session. */
export class Queue {
	constructor() {
		/** Delivered one at a time, before the model's next answer. @type {string[]} */
		this.steering = [];
		/** Delivered one at a time, when the model would stop. @type {string[]} */
		this.followUp = [];
	}

	/** Returns the event that pi writes after a change. */
	update() {
		return { type: "queue_update", steering: [...this.steering], followUp: [...this.followUp] };
	}
}

/** Thrown to leave the present steps for the steps after a steering message. */
export class Steered extends Error {
	/** @param {unknown[]} steps */
	constructor(steps) {
		super("steered");
		this.steps = steps;
	}
}

/** Thrown if a prompt is refused before its first event. */
export class Refused extends Error {}

/** The ignored inputs other than signals: `abort` and `eof`. @type {Set<string>} */
export const ignored = new Set();
