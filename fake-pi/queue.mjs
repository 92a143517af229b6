/** Messages that wait for their turn, as pi keeps them: over aborts and from one prompt to the next. */

/** What waits in one session. */
export class Queue {
	constructor() {
		/** Delivered one at a time, before the model's next answer. @type {string[]} */
		this.steering = [];
		/** Delivered one at a time, when the model would stop. @type {string[]} */
		this.followUp = [];
	}

	/** What pi writes when something came or went. */
	update() {
		return { type: "queue_update", steering: [...this.steering], followUp: [...this.followUp] };
	}
}

/** Thrown to leave the scenario at hand for what the model does when it is steered. */
export class Steered extends Error {
	/** @param {unknown[]} steps */
	constructor(steps) {
		super("steered");
		this.steps = steps;
	}
}

/** Thrown where a prompt is refused before anything comes of it. */
export class Refused extends Error {}

/** What a scenario was told to ignore beside signals: `abort` and `eof`. @type {Set<string>} */
export const ignored = new Set();
