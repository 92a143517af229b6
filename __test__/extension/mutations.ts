/** Invalid values: samples of pi's data, changed at random and always in the same way for one seed. */

/** Numbers from a seed (mulberry32). */
export class Random {
	private state: number;

	constructor(seed: number) {
		this.state = seed;
	}

	next(): number {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	below(limit: number): number {
		return Math.floor(this.next() * limit);
	}

	chance(share: number): boolean {
		return this.next() < share;
	}

	pick<T>(list: readonly T[]): T {
		return list[this.below(list.length)] as T;
	}
}

const PROTOTYPE_KEYS = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

const TEXTS = [
	...[
		"",
		" ",
		"\n\n\n",
		"\t\t",
		"\r",
		"\u0000\u0007\u001b",
		"\u001b[2J\u001b[1;1H",
		"\u001b]0;title\u0007",
		"\u001b]8;;x",
	],
	...[
		"\u001b[31mred",
		"\u001bPq#\u001b\\",
		"\u009b31m",
		"\u202eright to left",
		"\ufeff\u2028",
		"\ud800",
		"👩‍👩‍👧‍👦 family",
		"日本語".repeat(40),
	],
	...[
		"e\u0301".repeat(60),
		"x".repeat(3_000),
		"word ".repeat(600),
		"a\n".repeat(300),
		"```\nopen fence",
		"| a | b |\n|--|--|\n| c",
	],
	...[
		"[link](javascript:x)",
		"# heading\n\n- item\n  - inner",
		"<b>&amp;</b>",
		"{}",
		"null",
		"-1",
		"/a/very/long/path/".repeat(30),
	],
	...["$\\frac{1}{2}$", "((((((((((((", "***___***", "~~~~".repeat(50), "> ".repeat(80)],
	...PROTOTYPE_KEYS,
];

const NUMBERS = [0, -0, -1, 0.1, 1e-7, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308, Number.NaN, Number.POSITIVE_INFINITY];

/** Returns a value that does not belong there. */
function odd(random: Random): unknown {
	switch (random.below(9)) {
		case 0:
			return null;
		case 1:
			return undefined;
		case 2:
			return random.pick(NUMBERS);
		case 3:
		case 4:
			return random.pick(TEXTS);
		case 5:
			return random.chance(0.5);
		case 6:
			return nested(random.pick([1, 30, 400]));
		case 7:
			return Array.from({ length: random.pick([0, 1, 3, 300]) }, () => random.pick([...TEXTS, ...NUMBERS, null]));
		default:
			return { [random.pick(PROTOTYPE_KEYS.slice(1))]: random.pick(TEXTS), type: random.pick(TEXTS), text: null };
	}
}

function nested(depth: number): unknown {
	let value: unknown = "deep";
	for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { text: value };
	return value;
}

/** `value` with up to a few changes, as a session file could hold it. */
export function mutated(random: Random, value: unknown): unknown {
	let changed = structuredClone(value);
	for (let changes = random.pick([0, 1, 1, 1, 2, 3, 8]); changes > 0; changes--) changed = changedOnce(random, changed);
	return changed;
}

function changedOnce(random: Random, value: unknown): unknown {
	const places = placesIn(value);
	if (places.length === 0 || random.chance(0.03)) return odd(random);
	const { holder, key } = random.pick(places);
	const fields = holder as Record<string, unknown>;
	switch (random.below(6)) {
		case 0:
			if (Array.isArray(holder)) holder.splice(Number(key), 1);
			else delete fields[key];
			break;
		case 1:
			fields[key] = fields[random.pick(Object.keys(holder))];
			break;
		case 2:
			fields[key] = [fields[key]];
			break;
		case 3:
			if (typeof fields[key] === "string") fields[key] = fields[key].slice(0, random.below(9));
			else fields[key] = odd(random);
			break;
		default:
			fields[key] = odd(random);
	}
	return value;
}

/** Returns every field of every object in it, including the ones made of JSON. */
function placesIn(value: unknown, found: { holder: object; key: string }[] = [], depth = 0): typeof found {
	if (typeof value !== "object" || value === null || depth > 8) return found;
	for (const key of Object.keys(value)) {
		found.push({ holder: value, key });
		placesIn((value as Record<string, unknown>)[key], found, depth + 1);
	}
	return found;
}

/** `value` with something that no file can hold: it throws when it is looked at, or has no end. */
export function hostile(random: Random, value: unknown): unknown {
	const changed = mutated(random, value);
	const places = placesIn(changed);
	const throws = () => {
		throw new Error("looked at");
	};
	if (places.length === 0) return new Proxy({}, { get: throws, has: throws, ownKeys: throws });
	const { holder, key } = random.pick(places);
	switch (random.below(4)) {
		case 0:
			if (!Array.isArray(holder)) Object.defineProperty(holder, key, { get: throws, enumerable: true });
			break;
		case 1:
			(holder as Record<string, unknown>)[key] = changed;
			break;
		case 2:
			(holder as Record<string, unknown>)[key] = new Proxy({}, { get: throws, has: throws, ownKeys: throws });
			break;
		default:
			(holder as Record<string, unknown>)[key] = random.pick([
				Symbol("s"),
				1n,
				throws,
				new Map(),
				new Date(Number.NaN),
			]);
	}
	return changed;
}
