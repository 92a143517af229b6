/**
 * Makes the files that derive from `benchmark/RESULTS.md`: the data, the plots, and the quoted parts of pages. Their
 * content depends on that file only.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../scripts/lib/places.mjs";
import { results, row } from "./data.mjs";
import { papers, plotDescription, svg } from "./draw.mjs";
import { questions } from "./questions.mjs";

/** The file with the figures. */
export const source = join("benchmark", "RESULTS.md");

const themes = /** @type {(keyof typeof papers)[]} */ (Object.keys(papers));

/**
 * Returns the files and their contents, by path below the root. On a page written by hand, only the marked part is
 * replaced.
 *
 * @returns {Map<string, string>}
 */
export function files() {
	const read = (/** @type {string} */ path) => readFileSync(join(root, path), "utf8");
	const found = results(read(source));
	const asked = questions(found);
	/** @type {Map<string, string>} */
	const files = new Map();
	files.set("benchmark/results.json", `${JSON.stringify(found, undefined, "\t")}\n`);
	for (const question of asked) {
		for (const theme of themes) files.set(`benchmark/plots/${question.name}-${theme}.svg`, svg(question, theme));
	}
	files.set("docs/speed.md", page(found, asked));
	const children = "docs/children.md";
	files.set(children, replaced(read(children), "boot", bootTable(found), children));
	return files;
}

/** Writes all files. */
export function draw() {
	for (const [path, text] of files()) writeFileSync(join(root, path), text);
}

/**
 * @param {import("./data.mjs").Results} found
 * @param {ReturnType<typeof questions>} asked
 */
function page(found, asked) {
	const parts = asked.map((question) =>
		[`## ${question.title}`, question.answer, picture(question, "../benchmark/plots")].join("\n\n"),
	);
	return `${[
		"# Speed and memory",
		[
			"Seven pictures show the cost of delegation. `npm run bench` makes this page, together with",
			"[`benchmark/RESULTS.md`](../benchmark/RESULTS.md), which has all figures and describes each measurement, and",
			"`benchmark/results.json`, which has the same figures for programs. Both sides were measured in turn on one machine. Compare the",
			"ratios: absolute figures differ between machines.",
		].join("\n"),
		`Machine: ${found.machine}`,
		...parts,
	].join("\n\n")}\n`;
}

/**
 * @param {ReturnType<typeof questions>[number]} question
 * @param {string} folder
 */
function picture(question, folder) {
	return [
		"<picture>",
		`  <source media="(prefers-color-scheme: light)" srcset="${folder}/${question.name}-light.svg">`,
		`  <img src="${folder}/${question.name}-dark.svg" alt="${question.title} ${plotDescription(question)}">`,
		"</picture>",
	].join("\n");
}

/** @param {import("./data.mjs").Results} found */
function bootTable(found) {
	const title = "What a child costs to boot";
	const columns = ["first answer", "processor time", "memory"];
	/** @type {(name: string, figure: (what: string) => string | undefined) => string} */
	const line = (name, figure) => `| ${[name, ...columns.map((what) => figure(what) ?? "")].join(" | ")} |`;
	const child = "sandboxed child";
	return [
		"| | time | processor time | memory |",
		"|---|---|---|---|",
		line("a sandboxed child with its guard", (what) => row(found, title, `${child}: ${what}`).ours.text),
		line("pi by hand", (what) => row(found, title, `${child}: ${what}`).baseline?.text),
		line(
			"pi by hand, in an empty home",
			(what) => row(found, title, `pi by hand in a home with nothing: ${what}`).ours.text,
		),
	].join("\n");
}

/**
 * Returns the page with the part between the two marks replaced.
 *
 * @param {string} page
 * @param {string} mark
 * @param {string} part
 * @param {string} path for the error
 */
function replaced(page, mark, part, path) {
	const start = `<!-- from benchmark/RESULTS.md: ${mark} -->\n`;
	const end = "\n<!-- end -->";
	const from = page.indexOf(start);
	const to = page.indexOf(end, from);
	if (from === -1 || to === -1) throw new Error(`${path} has no part \`${start.trim()}\` … \`${end.trim()}\``);
	return page.slice(0, from + start.length) + part + page.slice(to);
}
