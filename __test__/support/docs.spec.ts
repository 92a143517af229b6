/** The pages that people read: every link leads somewhere, and each page is short enough to be read. */

import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const docs = readdirSync(join(root, "docs"), { encoding: "utf8", recursive: true }).filter((name) =>
	name.endsWith(".md"),
);
const pages = [
	"README.md",
	"README.zh.md",
	"ARCHITECTURE.md",
	"CONTRIBUTING.md",
	...docs.map((name) => join("docs", name)),
];

const read = (page: string) => readFileSync(join(root, page), "utf8");

/** A page without its code, where nothing is a link or a heading. */
const prose = (page: string) => read(page).replace(/^(`{3,}).*?^\1`*$/gms, "");

/** The anchors of a page, as GitHub makes them of headings. */
function anchors(page: string): Set<string> {
	const headings = prose(page).matchAll(/^#+ (.*)$/gm);
	return new Set(
		[...headings].map(([, heading = ""]) =>
			heading
				.toLowerCase()
				.replace(/[^\p{L}\p{N}\- ]/gu, "")
				.replaceAll(" ", "-"),
		),
	);
}

test("every link of a page leads to a file, and to a heading in it", () => {
	for (const page of pages) {
		const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
			([, a, b]) => a ?? b ?? "",
		);
		for (const link of links.filter((link) => !/^[a-z]+:/.test(link))) {
			const [path = "", anchor] = link.split("#");
			const target = path ? relative(root, join(root, dirname(page), path)) : page;
			assert.ok(existsSync(join(root, target)), `${page} links to ${link}, which does not exist`);
			assert.ok(!path || target !== page, `${page} links to itself as ${link}`);
			if (anchor) assert.ok(anchors(target).has(anchor), `${page} links to ${link}, a heading that does not exist`);
		}
	}
});

test("a newcomer reads the README, and each page, in a few minutes", () => {
	const lines = (page: string) => read(page).split("\n").length - 1;
	assert.ok(lines("README.md") <= 140, `README.md has ${lines("README.md")} lines`);
	for (const page of pages) assert.ok(lines(page) <= 250, `${page} has ${lines(page)} lines`);
	assert.ok(read("README.md").includes("](docs/README.md)"), "README.md does not link to the index of the pages");
});

test("the index of the pages links to every page, in four groups", () => {
	const index = read("docs/README.md");
	const groups = [...index.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
	assert.deepEqual(groups, ["Tutorial", "How-to", "Reference", "Explanation"]);
	for (const page of docs.filter((name) => name !== "README.md"))
		assert.ok(index.includes(`](${page})`), `docs/README.md does not link to ${page}`);
});

test("a page begins with a sentence about its purpose", () => {
	for (const page of pages) {
		const [title = "", ...parts] = read(page).split("\n\n");
		assert.match(title, /^# \S/, page);
		const first = parts.find((part) => !/^\[[^\]]+\]\(README[.\w]*\)$/.test(part)) ?? "";
		assert.match(first, /^(?![|#>`-]).*[.:。]\s*$/s, `${page} does not begin with a sentence:\n${first}`);
		const beside = first.replace(/\[[^\]]*\]\([^)]*\)/g, "").replace(/[^\p{L}]/gu, "");
		assert.ok(beside.length >= 20, `${page} begins with links:\n${first}`);
	}
});

/** Paths that do not exist: files of a feature that creates them later, or parts of a path. */
const unwritten = /^(artifacts\/|.*NAME|.*…|index\.d\.ts)/;

test("every file that the guides to the sources name exists", () => {
	const rooms = [
		"",
		"src",
		"extension",
		"src/orchestrate/background",
		"__test__/support",
		"__test__/edge",
		"__test__/extension",
	];
	for (const page of ["ARCHITECTURE.md", "CONTRIBUTING.md"]) {
		const named = [...prose(page).matchAll(/``.*?``|`([^`]+)`/gs)].map(([, code = ""]) => code);
		const paths = named.filter((code) => /^[\w.{},*/-]+(\/|\.(rs|ts|mjs|cjs|js|md|sh|snap|toml|json|txt))$/.test(code));
		for (const path of paths.flatMap(alternatives)) {
			if (unwritten.test(path)) continue;
			const found = rooms.some((room) => globSync(join(root, room, path)).length > 0);
			assert.ok(found, `${page} names \`${path}\`, which does not exist`);
		}
		assert.ok(paths.length >= 20, `only ${paths.length} paths were found in ${page}`);
	}
});

/** `a{b,c}` as `ab` and `ac`. */
function alternatives(path: string): string[] {
	const [, before = "", inner, after = ""] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
	return inner === undefined ? [path] : inner.split(",").flatMap((one) => alternatives(`${before}${one}${after}`));
}

/**
 * Returns the common structure of two translations of a page: the code of each section, the targets of links, and the
 * number of items of each kind.
 */
function structure(page: string): unknown[] {
	const text = read(page).replace(/^\[[^\]]+\]\(README[.\w]*\)$/m, "");
	const blocks = [...text.matchAll(/^(`{3,}).*?^\1$/gms)].map(([block]) => block);
	const sections = text.replace(/^(`{3,}).*?^\1$/gms, "").split(/^(?=#+ )/m);
	const all = (section: string, pattern: RegExp) => [...section.matchAll(pattern)].map(([, one]) => one).sort();
	return [
		blocks,
		...sections.map((section) => ({
			level: /^#*/.exec(section)?.[0],
			code: all(section, /`([^`]+)`/g),
			links: all(section, /(?:\]\(|src="|srcset=")([^)\s"]+)/g),
			rows: section.split("\n").filter((line) => line.startsWith("|")).length,
			points: section.split("\n").filter((line) => line.startsWith("- ")).length,
			figures: all(section.replace(/`[^`]*`/g, ""), /(\d+(?:\.\d+)+|\d{2,})/g),
		})),
	];
}

test("the README in Chinese has the structure, the code, the links and the figures of the English one", () => {
	assert.deepEqual(structure("README.zh.md"), structure("README.md"));
});
