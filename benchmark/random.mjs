/** Generates numbers and words that are the same in every run, so that results can be compared. */

const words =
	"the a of to and in is that it for was on are as with they be at this from have or by one had not but what all were when we there can an your which their said if will each about how up out them then she many some so these would other into has more two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know error file line function value test path module result state buffer stream process message server token session request parser option default return between child parent output input reads writes closes keeps drops counts waits".split(
		" ",
	);

/** A small seeded random generator for the benchmarks. */
export class Random {
	#state;

	/** @param {number} seed */
	constructor(seed) {
		this.#state = seed >>> 0;
	}

	/** Returns a number of at least 0 and below 1. */
	next() {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = this.#state;
		mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/**
	 * Returns an integer from `low` to `high`, both included.
	 *
	 * @param {number} low
	 * @param {number} high
	 */
	between(low, high) {
		return low + Math.floor(this.next() * (high - low + 1));
	}

	/** @param {number} probability */
	chance(probability) {
		return this.next() < probability;
	}

	/**
	 * @template T
	 * @param {readonly T[]} list
	 * @returns {T}
	 */
	pick(list) {
		return list[Math.floor(this.next() * list.length)];
	}

	/** Returns a word. Early words are more frequent, as in natural language. */
	word() {
		return words[Math.floor(this.next() ** 2 * words.length)];
	}

	/**
	 * @param {number} length
	 * @param {string} [alphabet]
	 */
	characters(length, alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") {
		let text = "";
		for (let i = 0; i < length; i++) text += alphabet[Math.floor(this.next() * alphabet.length)];
		return text;
	}

	/** Returns one sentence with its full stop. */
	sentence() {
		const count = this.between(5, 18);
		const parts = [];
		for (let i = 0; i < count; i++) parts.push(this.word() + (this.chance(0.08) ? "," : ""));
		const text = parts.join(" ").replace(/,$/, "");
		return `${text[0].toUpperCase()}${text.slice(1)}.`;
	}
}
