/** The reference in `docs/api.md` is made of `native.d.ts`. `UPDATE_DOCS=1` writes it. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { packageDir } from "./versions.ts";

const path = join(packageDir, "docs/api.md");
const heading = "## Every function and class\n";

/** A comment, then its subject, on one line: an export, or, two spaces deep, a member of a class. */
const described = /\/\*\*((?:(?!\*\/).)*)\*\/\n(export declare (?:function|class) |(?: {2}))([^\n]*)/gs;

/** The rows of everything that can be called. */
function rows(declarations: string): string[] {
	const found: string[] = [];
	// Members of interfaces have the same form, and none of them is called.
	const called = declarations.split(/^(?=\/\*\*)/m).filter((part) => /^export declare (function|class) /m.test(part));
	for (const part of called) {
		let owner = "";
		for (const [, comment = "", start = "", line = ""] of part.matchAll(described)) {
			const isMember = start.trim() === "";
			const name = /^(?:get |constructor)?(\w*)/.exec(line)?.[1] ?? "";
			const parameters = line.includes("(") && !line.startsWith("get ") ? `(${parametersOf(line)})` : "";
			if (start.includes("class")) owner = name;
			const member = name ? `${owner}.${name}` : `new ${owner}`;
			const text = `${isMember ? member : name}${parameters}`;
			found.push(`| \`${text}\` | ${sentence(comment)} |`);
		}
	}
	return found;
}

/** Returns the names of parameters, with a question mark after optional ones. */
function parametersOf(line: string): string {
	const [, inner = ""] = /\((.*)\)/.exec(line) ?? [];
	const names: string[] = [];
	let depth = 0;
	let word = "";
	for (const character of `${inner},`) {
		if (character === "," && depth === 0) {
			const name = /^\s*(\w+\??)\s*:/.exec(word)?.[1];
			if (name) names.push(name);
			word = "";
			continue;
		}
		if ("([{<".includes(character)) depth++;
		// The arrow of a function type closes nothing.
		if (")]}>".includes(character) && !word.endsWith("=")) depth--;
		word += character;
	}
	return names.join(", ");
}

/** The first sentence of a comment. */
function sentence(comment: string): string {
	const text = comment.replace(/\s*\n\s*\* ?/g, " ").trim();
	return (/^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text).replaceAll("|", "\\|");
}

test("the reference names every function, class and method, as native.d.ts does", () => {
	const page = readFileSync(path, "utf8");
	const [before = ""] = page.split(heading);
	const table = rows(readFileSync(join(packageDir, "native.d.ts"), "utf8")).join("\n");
	const after = "`native.d.ts` has the types, units, limits, and an example of each function and class.";
	const renewed = `${before}${heading}\n${after}\n\n| | |\n|---|---|\n${table}\n`;
	if (process.env.UPDATE_DOCS) writeFileSync(path, renewed);
	else
		assert.equal(
			page,
			renewed,
			"the reference is not up to date: run UPDATE_DOCS=1 node --test __test__/support/reference.spec.ts",
		);
	for (const name of [
		"startRun(options, onUpdate?, host?)",
		"RunHandle.abort(reason?)",
		"new CallCard(tool)",
		"RunHandle.runId",
	])
		assert.ok(table.includes(`\`${name}\``), `${name} is not found`);
});
