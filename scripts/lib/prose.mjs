/** Checks the English of docs, comments and test names with a list of constructions that make sentences hard to read. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";

/**
 * A construction to avoid. A group of files may contain a few, because some sentences need one.
 *
 * @typedef {{ pattern: RegExp, instead: string }} Rule
 * @typedef {{ line: number, text: string }} Sentence
 * @typedef {{ path: string, line: number, sentence: string, phrase: string, instead: string }} Finding
 * @typedef {{ name: string, files: RegExp, read: (source: string, path: string) => Iterable<Sentence>, maxInHundred: number }} Group
 */

/** @type {[RegExp, string][]} */
const phrases = [
	[/^(?:what|who|whoever|whatever|whose|wherever|which|whether)\b(?!.*\?)/i, "start with a noun, or with a verb"],
	[
		/\bwhat (?:it|he|they|there|we|you|one|was|were|has|have|is|are|an?|the|this|that|these|those|of|remains|follows)\b(?!.*\?)/i,
		"name the thing with a noun",
	],
	[/\b(?:that|those) of\b|\bthose (?:that|who)\b|\bones? that\b/i, "repeat the noun"],
	[/\bnobody\b/i, "no one, no process"],
	[/\bsomebody\b/i, "someone, another user"],
	[/\bwho(?:ever)\b|\bwhatever\b/i, "any …, in any case"],
	[/\bmeanwhile\b/i, "in the meantime, or nothing"],
	[/\bbesides?\b/i, "next to, also"],
	[/\bbut for\b/i, "except"],
	[/\ball the same\b/i, "anyway, still"],
	[/\bas ever\b/i, "as usual"],
	[/\bat hand\b/i, "available"],
	[/\bof (?:its|their) own accord\b|\bby itself alone\b/i, "by itself"],
	[/\bin force\b/i, "active, effective"],
	[/\b(?:can|cannot|could) be had\b/i, "is (not) available"],
	[/\b(?:come|comes|came) (?:to rest|of it)\b|\bcame to\b/i, "results in, ends"],
	[/\bma[dk]e ready\b/i, "prepare"],
	[/\b(?:is|are|was|were|be|been) (?:told|said|heard|had|gone)\b/i, "is shown, delivered, received, missing"],
	[/\b(?:has|have|had) to be\b|\b(?:is|are|was|were) to (?:be|have)\b/i, "must be"],
	[/\bnothing of\b|\bnone of (?:it|them|its)\b|\bmuch of it\b/i, "no part of, no …"],
];

/** @type {Rule[]} */
const rules = phrases.map(([pattern, instead]) => ({ pattern, instead }));

/** The target is 3 in 100 for each group. The limits are lower, so that a change fails before it is reached. @type {Group[]} */
const groups = [
	{ name: "docs", files: /\.md$/, read: markdown, maxInHundred: 2 },
	{ name: "Rust comments", files: /^(?:src|crates|tests|fuzz)\/.*\.rs$/, read: comments, maxInHundred: 2 },
	{ name: "TypeScript comments", files: /\.(?:ts|mjs|cjs)$/, read: comments, maxInHundred: 2 },
	{
		name: "test names",
		files: /^(?:(?:src|crates|tests)\/.*\.rs|__test__\/.*\.spec\.ts)$/,
		read: testNames,
		maxInHundred: 2,
	},
];

/** Generated files, whose sources are checked. */
const generated = /^(?:extensions|npm)\/|^index\.js$|^benchmark\/RESULTS\.md$|^README\.zh\.md$/;

/** Findings that a failure prints. */
const maxPrinted = 20;

/**
 * Checks all files that git knows.
 *
 * @throws {SetupProblem} if a group has more findings in 100 sentences than it may have
 */
export async function checkProse() {
	const paths = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
	const sources = paths.filter((path) => !generated.test(path));
	const failures = groups.flatMap((group) => {
		const files = sources.filter((path) => group.files.test(path));
		const { found, sentences } = examine(
			group,
			files.map((path) => ({ path, source: readFileSync(join(root, path), "utf8") })),
		);
		const inHundred = (100 * found.length) / Math.max(1, sentences);
		if (inHundred <= group.maxInHundred) return [];
		const figure = `${group.name}: ${inHundred.toFixed(1)} in 100 sentences, at most ${group.maxInHundred} are allowed`;
		return [[figure, ...found.slice(0, maxPrinted).map(describe)].join("\n")];
	});
	if (failures.length > 0) throw new SetupProblem("The English of these texts is hard to read.", failures.join("\n\n"));
}

/**
 * Finds the constructions in the sentences of some files.
 *
 * @param {Pick<Group, "read">} group
 * @param {{ path: string, source: string }[]} files
 * @returns {{ found: Finding[], sentences: number }}
 */
export function examine({ read }, files) {
	let sentences = 0;
	/** @type {Finding[]} */
	const found = [];
	for (const { path, source } of files) {
		for (const { line, text } of read(source, path)) {
			sentences += 1;
			const rule = rules.find(({ pattern }) => pattern.test(text));
			const phrase = rule?.pattern.exec(text)?.[0];
			if (rule && phrase) found.push({ path, line, sentence: text, phrase, instead: rule.instead });
		}
	}
	return { found, sentences };
}

/** @param {Finding} finding */
function describe({ path, line, sentence, phrase, instead }) {
	return `${path}:${line}: “${phrase}”: ${instead}\n    ${sentence}`;
}

/**
 * Reads the sentences of a Markdown page: paragraphs, list items and table cells without code blocks and headings.
 *
 * @param {string} source
 * @returns {Iterable<Sentence>}
 */
export function* markdown(source) {
	let fence = "";
	const paragraph = new Paragraph();
	for (const [index, line] of source.split("\n").entries()) {
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
		if (mark && (!fence || mark.startsWith(fence))) {
			fence = fence ? "" : mark;
			yield* paragraph.end();
		} else if (!fence && line.startsWith("|")) {
			yield* paragraph.end();
			for (const cell of line.split(" | ")) yield* sentencesOf(index + 1, cell.replace(/^\||\|$/g, ""));
		} else if (!fence && !/^\s*(?:[#<]|$)/.test(line)) {
			const item = /^\s*(?:[-*+]|\d+\.)\s+/.exec(line)?.[0];
			if (item) yield* paragraph.end();
			paragraph.add(index + 1, line.slice(item?.length ?? 0));
		} else if (!fence) yield* paragraph.end();
	}
	yield* paragraph.end();
}

/**
 * Reads the sentences of the comments in a source file.
 *
 * @param {string} source
 * @returns {Iterable<Sentence>}
 */
export function* comments(source) {
	let isCode = false;
	const paragraph = new Paragraph();
	for (const [index, line] of source.split("\n").entries()) {
		const text = /^\s*(?:\/\/[/!]?|\/\*\*|\*(?!\/))\s?(.*?)(?:\*\/)?$/.exec(line)?.[1]?.trim();
		if (text?.startsWith("```")) isCode = !isCode;
		if (text === undefined) isCode = false;
		if (!text || isCode || /^(?:```|[#|@])/.test(text)) {
			yield* paragraph.end();
			continue;
		}
		const item = /^(?:[-*+]|\d+\.)\s+/.exec(text)?.[0];
		if (item) yield* paragraph.end();
		paragraph.add(index + 1, text.slice(item?.length ?? 0));
	}
	yield* paragraph.end();
}

/**
 * Reads the names of tests as sentences.
 *
 * @param {string} source
 * @param {string} path
 * @returns {Iterable<Sentence>}
 */
export function* testNames(source, path) {
	const pattern = path.endsWith(".rs")
		? /^\s*(?:async )?fn ([a-z0-9_]{12,})\(/
		: /\b(?:it|test|describe)\(\s*["'`]([^"`]{8,}?)["'`],/;
	for (const [index, line] of source.split("\n").entries()) {
		const name = pattern.exec(line)?.[1];
		if (name) yield* sentencesOf(index + 1, name.replaceAll("_", " "));
	}
}

/** The lines of a paragraph until its end. */
class Paragraph {
	#line = 0;
	/** @type {string[]} */
	#lines = [];

	/** @param {number} line @param {string} text */
	add(line, text) {
		if (this.#lines.length === 0) this.#line = line;
		this.#lines.push(text.trim());
	}

	*end() {
		yield* sentencesOf(this.#line, this.#lines.join(" "));
		this.#lines = [];
	}
}

/**
 * Splits a text into sentences of at least three words. Code and link targets are no words.
 *
 * @param {number} line
 * @param {string} text
 * @returns {Iterable<Sentence>}
 */
function* sentencesOf(line, text) {
	const plain = text.replaceAll(/`[^`]*`/g, "code").replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");
	for (const sentence of plain.trim().split(/(?<=[.!?;:])\s+(?=[A-Z*"([])/)) {
		if (sentence.split(/\s+/).length > 2) yield { line, text: sentence };
	}
}
