/**
 * Generates strings that match a regular expression of a secret scanner, in the dialects of Go and Rust: groups,
 * classes, quantifiers, alternatives, flags. Boundaries and anchors generate no characters.
 */

/** @typedef {{ text: string, free: boolean }} Piece A part of a generated string; `free` if it is random. */
/**
 * @typedef {{ kind: "text", text: string }
 *   | { kind: "class", set: string }
 *   | { kind: "group", index: number, options: Node[][] }
 *   | { kind: "repeat", node: Node, least: number, most: number }} Node
 */

const lower = "abcdefghijklmnopqrstuvwxyz";
const upper = lower.toUpperCase();
const digits = "0123456789";
const signs = "-_.+/=~!@#$%^&*";
const printable = lower + upper + digits + signs;
/** @type {Record<string, string>} */
const escapes = {
	...{ w: `${lower}${upper}${digits}_`, d: digits, s: " ", h: `${digits}abcdef`, S: lower + upper + digits },
	...{ W: " ", D: lower },
};
/** @type {Record<string, string>} */
const posix = {
	...{ alnum: lower + upper + digits, alpha: lower + upper, digit: digits, lower, upper },
	...{ xdigit: `${digits}abcdef`, space: " ", word: `${lower}${upper}${digits}_`, punct: signs },
};
/** @type {Record<string, string>} */
const controls = { n: "\n", r: "\r", t: "\t" };

/** The number of repetitions added to the minimum if a quantifier has no upper limit. */
const extraRepetitions = 6;

/**
 * Parses an expression into a tree whose root is group 0.
 *
 * @param {string} source
 * @returns {Node}
 */
export function parse(source) {
	let at = 0;
	let groups = 0;
	let verbose = false;
	const root = { kind: /** @type {const} */ ("group"), index: 0, options: alternatives() };
	if (at < source.length) throw new Error(`unexpected ${source.slice(at, at + 9)}`);
	return root;

	function alternatives() {
		/** @type {Node[][]} */
		const options = [[]];
		while (at < source.length && source.charAt(at) !== ")") {
			if (source.charAt(at) === "|") {
				at++;
				options.push([]);
				continue;
			}
			const node = atom();
			if (node) options.at(-1)?.push(quantified(node));
		}
		return options;
	}

	/** @returns {Node | undefined} */
	function atom() {
		const char = source.charAt(at++);
		if (verbose && /\s/.test(char)) return undefined;
		if (verbose && char === "#") {
			while (at < source.length && source.charAt(at) !== "\n") at++;
			return undefined;
		}
		if (char === "(") return group();
		if (char === "[") return { kind: "class", set: charClass() };
		if (char === "^" || char === "$") return undefined;
		// An unescaped dot stands for a dot, as in a host name.
		if (char === ".")
			return /[{*+?]/.test(source.charAt(at)) ? { kind: "class", set: lower + digits } : { kind: "text", text: char };
		if (char === "\\") {
			const set = escaped();
			return set === "" ? undefined : set.length === 1 ? { kind: "text", text: set } : { kind: "class", set };
		}
		return { kind: "text", text: char };
	}

	/** @returns {Node | undefined} */
	function group() {
		let index = 0;
		const flags = /^\?([a-zA-Z]*)(-[a-zA-Z]+)?([:)])/.exec(source.slice(at));
		const lookaround = /^\?<?[!=]/.exec(source.slice(at));
		const name = /^\?P?<\w+>/.exec(source.slice(at));
		const before = verbose;
		if (flags) {
			at += flags[0].length;
			if (flags[1]?.includes("x")) verbose = true;
			if (flags[3] === ")") return undefined;
		} else if (name) {
			at += name[0].length;
			index = ++groups;
		} else if (lookaround) {
			at += lookaround[0].length;
		} else {
			index = ++groups;
		}
		const options = alternatives();
		if (source.charAt(at++) !== ")") throw new Error("a group is not closed");
		verbose = before;
		return lookaround ? undefined : { kind: "group", index, options };
	}

	/** @param {Node} node @returns {Node} */
	function quantified(node) {
		const found = /^(?:\{(\d+)(,?)(\d*)\}|([?*+]))[?+]?/.exec(source.slice(at));
		if (!found) return node;
		at += found[0].length;
		const [, least = "", comma, most, sign] = found;
		if (sign) return { kind: "repeat", node, least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : extraRepetitions };
		const open = comma ? Number(least) + extraRepetitions : Number(least);
		return { kind: "repeat", node, least: Number(least), most: most ? Number(most) : open };
	}

	/** Returns the node of an escape, or nothing for a boundary. */
	function escaped() {
		const char = source.charAt(at++);
		if (char === "x") {
			const code = source.slice(at, at + 2);
			at += 2;
			return String.fromCharCode(Number.parseInt(code, 16));
		}
		if (/[bBAzZ]/.test(char)) return "";
		return escapes[char] ?? controls[char] ?? char;
	}

	function charClass() {
		const negated = source.charAt(at) === "^";
		if (negated) at++;
		let set = "";
		let first = true;
		while (first || source.charAt(at) !== "]") {
			if (at >= source.length) throw new Error("a class without its end");
			first = false;
			const named = /^\[:(\w+):\]/.exec(source.slice(at));
			if (named) {
				set += posix[named[1] ?? ""] ?? "";
				at += named[0].length;
				continue;
			}
			let low = source.charAt(at++);
			if (low === "\\") low = escaped();
			if (low.length === 1 && source.charAt(at) === "-" && source.charAt(at + 1) !== "]") {
				at++;
				let high = source.charAt(at++);
				if (high === "\\") high = escaped();
				for (let code = low.charCodeAt(0); code <= high.charCodeAt(0); code++) set += String.fromCharCode(code);
			} else {
				set += low;
			}
		}
		at++;
		const visible = negated ? [...printable].filter((char) => !set.includes(char)).join("") : set;
		// If a class has other characters, leave out white space, which only makes a text harder to read.
		return [...visible].filter((char) => char > " " && char <= "~").join("") || visible || "a";
	}
}

/**
 * Returns true if the expression determines the text of a node completely.
 *
 * @param {Node} node
 * @returns {boolean}
 */
function isFixed(node) {
	if (node.kind === "text") return true;
	if (node.kind === "repeat") return node.least > 0 && isFixed(node.node);
	return node.kind === "group" && node.options.length < 20 && node.options.every((option) => option.every(isFixed));
}

/**
 * Returns the maximum number of consecutive letters, digits and signs that are the same in every match.
 *
 * @param {Node} node
 * @returns {number}
 */
export function longestFixed(node) {
	let longest = 0;
	/** @param {Node} part @returns {void} */
	const walk = (part) => {
		if (part.kind === "repeat") return part.least > 0 ? walk(part.node) : undefined;
		if (part.kind !== "group") return;
		for (const option of part.options) {
			let run = 0;
			for (const item of option) {
				run = isFixed(item) ? run + width(item) : 0;
				longest = Math.max(longest, run);
				walk(item);
			}
		}
	};
	walk(node);
	return longest;
}

/** @param {Node} node @returns {number} */
function width(node) {
	if (node.kind === "text") return node.text.length;
	if (node.kind === "repeat") return node.least * width(node.node);
	if (node.kind === "class") return 1;
	return Math.min(...node.options.map((option) => option.reduce((sum, item) => sum + width(item), 0)));
}

/**
 * Returns the group with this number.
 *
 * @param {Node} node
 * @param {number} index
 * @returns {Node | undefined}
 */
export function groupOf(node, index) {
	if (node.kind === "repeat") return groupOf(node.node, index);
	if (node.kind !== "group") return undefined;
	if (node.index === index) return node;
	for (const item of node.options.flat()) {
		const found = groupOf(item, index);
		if (found) return found;
	}
	return undefined;
}

/**
 * Generates a matching string.
 *
 * @param {Node} node
 * @param {() => number} random
 * @returns {Piece[]}
 */
export function make(node, random) {
	/** @param {number} count */
	const below = (count) => Math.floor(random() * count);
	if (node.kind === "text") return [{ text: node.text, free: false }];
	if (node.kind === "class") return [{ text: node.set.charAt(below(node.set.length)), free: node.set.length > 2 }];
	if (node.kind === "group")
		return (node.options[below(node.options.length)] ?? []).flatMap((item) => make(item, random));
	const most = Math.min(node.most, node.least + 40);
	const times = node.least + below(most - node.least + 1);
	return Array.from({ length: times }).flatMap(() => make(node.node, random));
}
