/** Reads the public rules and test cases of secret scanners from copies of their repositories. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { groupOf, longestFixed, parse } from "./generate.mjs";

/**
 * A kind of secret. It is recognizable if all secrets of the kind share a fixed part. Other kinds are only known by the
 * name before them.
 *
 * @typedef {{ id: string, secret: import("./generate.mjs").Node, recognizable: boolean }} Shape
 */

/** The minimum number of consecutive fixed characters that make a kind recognizable. */
const minFixed = 3;

/** Matches the start of gitleaks expressions that only find a name and its assigned value. */
const namedOnly = /\[\\w\.-\]\{0,50\}\?/;

/**
 * Rules about contexts (curl headers, Kubernetes manifests) and about public values, which are not kinds of secrets.
 */
const others =
	/client-id$|public-key$|^(curl-auth|generic-api-key|kubernetes-secret|nuget-config|hashicorp-tf-password|private-key|sidekiq-sens)/;

/** @param {string} folder of gitleaks @returns {Shape[]} */
export function gitleaksShapes(folder) {
	const toml = readFileSync(join(folder, "config/gitleaks.toml"), "utf8");
	const blocks = toml.split("[[rules]]").slice(1);
	return blocks.flatMap((block) => {
		const [rule = ""] = block.split("[[rules.allowlists]]");
		const id = /^id = "(.*)"$/m.exec(rule)?.[1] ?? "";
		const source = /^regex = '''(.*?)'''/ms.exec(rule)?.[1];
		if (!source || others.test(id)) return [];
		// An expression may have both alternatives: a name with any value, or a token.
		return topAlternatives(source).map((part) => shape(id, part, namedOnly.test(part)));
	});
}

/** @param {string} folder of kingfisher or noseyparker @returns {Shape[]} */
export function yamlShapes(folder) {
	const rules = ["data/rules", "crates/noseyparker/data/default/builtin/rules", "crates/kingfisher-rules/data/rules"];
	const files = rules.flatMap((path) => {
		try {
			return readdirSync(join(folder, path))
				.filter((name) => name.endsWith(".yml"))
				.map((name) => join(folder, path, name));
		} catch {
			return [];
		}
	});
	return files.flatMap((file) => {
		const text = readFileSync(file, "utf8");
		return text
			.split(/^ *- name: /m)
			.slice(1)
			.flatMap((block) => {
				const id = /^ *id: (\S+)/m.exec(block)?.[1] ?? "";
				const source = literalBlock(block, "pattern");
				if (!source) return [];
				try {
					const whole = parse(`(?x)${source}`);
					const secret = groupOf(whole, 1) ?? whole;
					return [{ id, secret, recognizable: longestFixed(secret) >= minFixed }];
				} catch {
					return [];
				}
			});
	});
}

/** Returns a YAML field with a text of several lines. @param {string} block @param {string} field */
function literalBlock(block, field) {
	const found = new RegExp(`^( *)${field}: (?:[|>][+-]?\\d?\\n((?:\\1 +.*\\n|\\s*\\n)+)|'(.*)'$)`, "m").exec(block);
	return found?.[2] ?? found?.[3]?.replaceAll("''", "'");
}

/** @param {string} id @param {string} source @param {boolean} isNamed @returns {Shape} */
function shape(id, source, isNamed) {
	const whole = parse(source);
	const secret = groupOf(whole, 1) ?? whole;
	return { id, secret, recognizable: !isNamed && longestFixed(secret) >= minFixed };
}

/** Returns the alternatives of an expression outside all groups. @param {string} source */
function topAlternatives(source) {
	const parts = [""];
	let depth = 0;
	let inClass = false;
	for (let at = 0; at < source.length; at++) {
		const char = source.charAt(at);
		if (char === "|" && depth === 0 && !inClass) {
			parts.push("");
			continue;
		}
		const isEscape = char === "\\";
		parts.push(`${parts.pop()}${char}${isEscape ? source.charAt(++at) : ""}`);
		if (isEscape) continue;
		if (inClass) inClass = char !== "]";
		else if (char === "[") inClass = true;
		else if (char === "(") depth++;
		else if (char === ")") depth--;
	}
	return parts;
}

/** Returns the texts that a rule of gitleaks must not match. @param {string} folder of gitleaks @returns {string[]} */
export function gitleaksInnocent(folder) {
	const rules = join(folder, "cmd/generate/config/rules");
	const files = readdirSync(rules).filter((name) => name.endsWith(".go"));
	return files.flatMap((name) => {
		const source = readFileSync(join(rules, name), "utf8");
		const lists = source.matchAll(/\bfps\s*:?=\s*(?:\[\]string\{|append\(fps,)/g);
		return [...lists].flatMap((found) => literals(source, found.index + found[0].length));
	});
}

/**
 * Returns the strings of a Go list from `from` to its end. Computed strings are skipped.
 *
 * @param {string} source
 * @param {number} from
 */
function literals(source, from) {
	/** @type {string[]} */
	const found = [];
	/** @type {string | undefined} */
	let item = "";
	let depth = 0;
	for (let at = from; at < source.length; ) {
		const rest = source.slice(at, at + 2);
		const char = source.charAt(at);
		if (rest === "//") at = source.indexOf("\n", at);
		else if (char === "`") {
			const end = source.indexOf("`", at + 1);
			if (item !== undefined) item += source.slice(at + 1, end);
			at = end + 1;
		} else if (char === '"') {
			const text = /^"(?:[^"\\]|\\.)*"/.exec(source.slice(at))?.[0] ?? '""';
			try {
				if (item !== undefined) item += JSON.parse(text);
			} catch {
				item = undefined;
			}
			at += text.length;
		} else if (/[,})]/.test(char) && depth === 0) {
			if (item) found.push(item);
			item = "";
			if (char !== ",") break;
			at++;
		} else {
			if (/[({]/.test(char)) depth++;
			if (/[)}]/.test(char)) depth--;
			if (/[\w.]/.test(char)) item = undefined;
			at++;
		}
	}
	return found;
}
