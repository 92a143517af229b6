/** Puts generated secrets into typical contexts: bare, and after a name that describes them. */

import { make } from "./generate.mjs";

/** The number of secrets of each kind. */
const perShape = 6;

/** @type {((secret: string) => string)[]} */
const bare = [
	(secret) => `${secret}\n`,
	(secret) => `The value ${secret} was printed here, and more follows.\n`,
	(secret) => `{"lines": ["${secret}"], "count": 1}\n`,
	(secret) => `2026-01-05T10:00:00Z INFO sent [${secret}] to host\n`,
];

/** @type {((secret: string, vendor: string) => string)[]} */
const named = [
	(secret, vendor) => `export ${vendor.toUpperCase()}_API_KEY=${secret}\n`,
	(secret, vendor) => `const ${vendor}Token = "${secret}";\n`,
	(secret, vendor) => `{"${vendor}_secret": "${secret}", "n": 1}\n`,
	(secret, vendor) => `${vendor}:\n  api_key: ${secret}\n`,
	(secret, vendor) => `X-${vendor}-Api-Key: ${secret}\n`,
	(secret) => `{"env":[{"name":"SERVICE_TOKEN","value":"${secret}"}]}\n`,
	(secret, vendor) => `${vendor.toUpperCase()}_TOKEN ?= ${secret}\n`,
	(secret) => `Authorization: Bearer ${secret}\n`,
];

/**
 * A text with a secret. `free` has a `1` for every random character of the secret.
 *
 * @typedef {{ kind: "bare" | "named" | "innocent", id: string, text: string, secret: string, free: string }} Text
 */

/**
 * @param {import("./rules.mjs").Shape[]} shapes
 * @param {string[]} innocent
 * @returns {Text[]}
 */
export function texts(shapes, innocent) {
	const random = generator(20260105);
	/** @type {Text[]} */
	const all = innocent.map((text) => ({ kind: "innocent", id: "", text, secret: "", free: "" }));
	for (const { id, secret: node, recognizable } of shapes) {
		const vendor = id
			.replace(/^\w+\./, "")
			.replace(/[-.].*$/, "")
			.replace(/^\d+/, "");
		for (let count = 0; count < perShape; count++) {
			const pieces = make(node, random);
			const secret = pieces.map((piece) => piece.text).join("");
			const free = pieces.map((piece) => (piece.free ? "1" : "0").repeat(piece.text.length)).join("");
			// Secrets after a name are not this short, and an assignment contains no blanks.
			if (secret.length < 8 || /\s/.test(secret)) continue;
			const values = { id, secret, free };
			if (recognizable)
				all.push(...bare.map((form) => ({ kind: /** @type {const} */ ("bare"), text: form(secret), ...values })));
			all.push(
				...named.map((form) => ({ kind: /** @type {const} */ ("named"), text: form(secret, vendor), ...values })),
			);
		}
	}
	return all;
}

/** Returns a generator of the same numbers in every run. @param {number} seed */
function generator(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}
