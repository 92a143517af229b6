/**
 * The references in `docs/api-reference.md` and `docs/extension-api.md` are made of `index.d.ts` and `native.d.ts`. `UPDATE_DOCS=1` writes
 * them.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { packageDir } from "./versions.ts";

const heading = "## Every function and class\n";
const table = "| | |\n|---|---|\n";

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

/** A comment, then a field or method of an interface, one tab deep. */
const member = /^\t\/\*\*((?:(?!\*\/).)*)\*\/\n\t((?:readonly )?(?:\[Symbol\.)?\w+\]?)(\?)?([^\n]*)/gms;

/** The fields of each exported interface, with their defaults. */
function interfaces(declarations: string): string {
	const parts: string[] = [];
	for (const [, about = "", name = "", body = ""] of declarations.matchAll(
		/\/\*\*((?:(?!\*\/).)*)\*\/\nexport interface (\w+)[^\n]*\{\n(.*?)^\}/gms,
	)) {
		const fields = [...body.matchAll(member)].map(([, comment = "", key = "", isOptional = "", type = ""]) => {
			const [, fallback] = /@default (.*)/.exec(comment) ?? [];
			const of = /^[(<]/.test(type.trimStart()) ? `(${parametersOf(type)})` : "";
			const text = sentences(comment.replace(/@default.*/s, ""));
			return `| \`${key.replace("readonly ", "")}${isOptional}${of}\` | ${text}${fallback ? ` Default: ${fallback.trim()}` : ""} |`;
		});
		if (fields.length > 0) parts.push(`| **${name}** | ${sentences(about)} |`, ...fields);
	}
	return parts.join("\n");
}

/** A comment on one line, without its example. */
function sentences(comment: string): string {
	const [text = ""] = comment.split("@example");
	return text
		.replace(/\s*\n\s*\* ?/g, " ")
		.replace(/^\s*\*/, "")
		.trim()
		.replaceAll("|", "\\|");
}

/** The page ends with this reference. */
function checkPage(page: string, reference: string): void {
	const path = join(packageDir, page);
	const text = readFileSync(path, "utf8");
	const [before = ""] = text.split(heading);
	const renewed = `${before}${heading}\n${reference}`;
	if (process.env.UPDATE_DOCS) writeFileSync(path, renewed);
	else
		assert.equal(
			text,
			renewed,
			"the reference is not up to date: run UPDATE_DOCS=1 node --test __test__/support/reference.spec.ts",
		);
}

test("the reference for programs has every function, option and field of index.d.ts", () => {
	const source = readFileSync(join(packageDir, "index.d.ts"), "utf8");
	const oneLine = (_: string, open: string, list: string, close: string) =>
		`${open}${list.replace(/\s+/g, " ").trim()}${close}`;
	const declarations = source
		.replace(/(<)\n([^<>()]*?),\n\t+(>)(?=\()/g, oneLine)
		.replace(/(\()\n([^()]*?),\n\t+(\))/g, oneLine);
	const functions = rows(declarations).join("\n");
	const after = "`index.d.ts` has the types, and an example of each function.";
	const reference = `${after}\n\n${table}${functions}\n${interfaces(declarations)}\n`;
	checkPage("docs/api-reference.md", reference);
	for (const name of ["`defineAgent(agent)`", "`timeoutMs?`", "`steer(message)`", "**Session**"])
		assert.ok(reference.includes(name), `${name} is not found`);
});

test("the reference for extensions names every function, class and method, as native.d.ts does", () => {
	const found = rows(readFileSync(join(packageDir, "native.d.ts"), "utf8")).join("\n");
	const after = "`native.d.ts` has the types, units, limits, and an example of each function and class.";
	checkPage("docs/extension-api.md", `${after}\n\n${table}${found}\n`);
	for (const name of [
		"startRun(options, onUpdate?, host?)",
		"RunHandle.abort(reason?)",
		"new CallCard(tool)",
		"RunHandle.runId",
	])
		assert.ok(found.includes(`\`${name}\``), `${name} is not found`);
});
