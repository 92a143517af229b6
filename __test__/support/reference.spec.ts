/**
 * The references in `docs/api-reference.md`, `docs/api-records.md`, `docs/api-texts.md` and `docs/extension-api.md` are made of `index.d.ts`
 * and `native.d.ts`. `UPDATE_DOCS=1` writes them.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type Declaration, type Declared, declaredIn, type Member } from "./declarations.ts";
import { packageDir } from "./versions.ts";

const heading = /^## Every (?:name|function and class)\n/m;
const table = "| | |\n|---|---|\n";

/** The rows of everything that can be called, with the first sentence of each comment. */
function calls({ declarations }: Declared): string[] {
	const short = (subject: string, type: string, comment: string) => {
		const parameters = type.startsWith("(") ? `(${parametersOf(type)})` : "";
		return `| \`${subject}${parameters}\` | ${sentence(described(comment))} |`;
	};
	return [...declarations.values()].flatMap(({ kind, name, type, comment, members }) => {
		if (kind !== "function" && kind !== "class") return [];
		const of = (member: Member) => (member.name === "new" ? `new ${name}` : `${name}.${member.name}`);
		return [short(name, type, comment), ...members.map((member) => short(of(member), member.type, member.comment))];
	});
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

/** The first sentence of a text. */
const sentence = (text: string) => /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;

/** A comment on one line, without its example. */
function sentences(comment: string): string {
	const [text = ""] = comment.split("@example");
	return text
		.replace(/\s*\n\s*\* ?/g, " ")
		.replace(/^\s*\*/, "")
		.trim()
		.replaceAll("|", "\\|");
}

/** Both files, of which `index.d.ts` takes names from `native.d.ts`. */
const files = {
	index: declaredIn(readFileSync(join(packageDir, "index.d.ts"), "utf8")),
	native: declaredIn(readFileSync(join(packageDir, "native.d.ts"), "utf8")),
};

type File = keyof typeof files;

/** Finds the declaration that a name in a file means. */
function declarationOf(name: string, file: File): [declaration: Declaration, file: File] | undefined {
	const own = files[file].declarations.get(name);
	if (own) return [own, file];
	const imported = files.native.declarations.get(files[file].imports.get(name) ?? "");
	return imported && [imported, "native"];
}

/** Every declaration that a program can reach from names that `index.d.ts` exports, with its file. */
function reachable(names: readonly string[]): Map<Declaration, File> {
	const found = new Map<Declaration, File>();
	const visit = (name: string, file: File) => {
		const [declaration, from] = declarationOf(name, file) ?? [];
		if (!declaration || !from || found.has(declaration) || isInternal(declaration, from)) return;
		found.set(declaration, from);
		const { type, extended, members } = declaration;
		// The fields of the other type are listed with this one.
		const named = split(extended).filter((part) => typeof inherited(part, from) === "string");
		const types = [type, ...named, ...members.map((member) => member.type)].join(" ").replace(/"[^"]*"/g, "");
		for (const [other] of types.matchAll(/\b[A-Z]\w*/g)) visit(other, from);
	};
	for (const name of names) visit(name, "index");
	return found;
}

/** Helpers of other types have no name for programs. */
const isInternal = ({ name }: Declaration, file: File) => file === "index" && !files.index.exported.includes(name);

/** The rows of a declaration and its members. */
function rowsOf(declaration: Declaration, file: File): string[] {
	const { name, kind, comment, type, members, extended } = declaration;
	if (kind === "function") return [row(called(name, type), comment)];
	if (kind === "const") return callsOf(name, type, file);
	const title = `**${name}**`;
	if (kind === "type") {
		const isShown =
			!type.includes(" extends ") && !type.includes(" in keyof ") && members.every(({ comment }) => !comment);
		if (isShown) return [`| ${title} | ${described(comment)} ${code(type.replace(/^= (\| )?/, ""))} |`];
		const isListed = members.some((member) => member.comment);
		return [`| ${title} | ${described(comment)} |`, ...(isListed ? members.map(memberRow) : [])];
	}
	const parts = split(extended).map((part) => inherited(part, file));
	const also = parts.flatMap((part) => (typeof part === "string" ? [code(part)] : []));
	const about = `${described(comment)}${also.length > 0 ? ` Extends ${also.join(", ")}.` : ""}`;
	const all = [
		...members.filter(({ name: own }) => own !== ""),
		...parts.flatMap((part) => (typeof part === "string" ? [] : part)),
	];
	// A field that is always absent tells the compiler which of two types a result has.
	return [`| ${title} | ${about} |`, ...all.filter((member) => member.type !== ": undefined").map(memberRow)];
}

/** The rows of a value whose type can be called, such as `run`. */
function callsOf(name: string, type: string, file: File): string[] {
	const [declaration] = declarationOf(type.replace(/^: /, ""), file) ?? [];
	const calls = declaration?.members.filter((member) => member.name === "") ?? [];
	return calls.map((call) => row(called(name, call.type), call.comment));
}

/** Returns the members that a type takes from another one with `Pick` or `Omit`, or the type to name. */
function inherited(extended: string, file: File): Member[] | string {
	const [, how, name = "", listed = ""] = /^(Pick|Omit)<(\w+)(?:<.*>)?, (.*)>$/.exec(extended) ?? [];
	const [declaration] = declarationOf(name, file) ?? [];
	if (!declaration) return extended;
	const names = [...listed.matchAll(/"(\w+)"/g)].map(([, field]) => field);
	return declaration.members.filter((member) => names.includes(member.name.replace("?", "")) === (how === "Pick"));
}

const memberRow = ({ name, type, comment }: Member) => {
	const isMethod = /^[<(]/.test(type);
	const full = resolved(type);
	const plain = name.endsWith("?") ? full.replace(/ \| undefined$/, "").replace(/^: \(+(\(.*?)\)+$/, ": $1") : full;
	return row(isMethod ? called(name, type) : `${name}${plain}`, comment);
};

/** Replaces the type of another type's field by its own text. */
const resolved = (type: string) =>
	type.replace(/\b(\w+)\["(\w+)"\]/g, (whole, name: string, field: string) => {
		const [declaration] = declarationOf(name, "index") ?? [];
		const member = declaration?.members.find((other) => other.name.replace("?", "") === field);
		return member?.type.replace(/^: /, "").replace(/ \| undefined$/, "") ?? whole;
	});

/** The longest signature with types. A longer one has the names of its parameters only. */
const maxSignature = 110;

/** Returns a signature without type parameters. */
function called(name: string, type: string): string {
	const signature = type.replace(/^<.*?>(?=\()/, "");
	const names = parametersOf(signature);
	const isPlain = !/ in keyof |Schema \| undefined|\bT\b|<S>/.test(signature);
	return isPlain && name.length + signature.length <= maxSignature ? `${name}${signature}` : `${name}(${names})`;
}

/** Splits a list of types at its commas. */
const split = (types: string) => types.split(/, (?=[A-Z]\w*(?:<|$|,))/).filter((type) => type !== "");

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;

/** Members without a comment, which the reference needs. */
const undescribed: string[] = [];

function row(subject: string, comment: string): string {
	if (described(comment) === "") undescribed.push(subject);
	return `| ${code(subject)} | ${described(comment)} |`;
}

/** The words of a comment, and the default that it names. */
function described(comment: string): string {
	const [, fallback] = /@default (.*)/.exec(comment) ?? [];
	const text = sentences(
		comment
			.replace(/^\/\*\*/, "")
			.replace(/\*\/\s*$/, "")
			.replace(/@default.*/, ""),
	);
	return `${text}${fallback ? ` Default: ${fallback.replace(/\s*\*\/$/, "").trim()}` : ""}`;
}

/** The page ends with this reference. */
function checkPage(page: string, reference: string): void {
	const path = join(packageDir, page);
	const text = readFileSync(path, "utf8");
	const found = heading.exec(text);
	assert.ok(found, `${page} has no heading for the reference`);
	const renewed = `${text.slice(0, found.index)}${found[0]}\n${reference}`;
	if (process.env.UPDATE_DOCS) writeFileSync(path, renewed);
	else
		assert.equal(
			text,
			renewed,
			"the reference is not up to date: run UPDATE_DOCS=1 node --test __test__/support/reference.spec.ts",
		);
}

/** The names for texts, and the function that takes the types of the extension API, of which some have names of `index.d.ts`. */
const others = /^(?:startRun|(?:sanitize|truncate|collect)(?:Output)?|(?:Sanitize|Truncate)Options)$/;

test("the reference for programs has everything that a program can reach from index.d.ts", () => {
	const all = [...reachable(files.index.exported)];
	const usual = reachable(files.index.exported.filter((name) => !others.test(name)));
	const natives = all.filter(([, file]) => file === "native");
	const pages: [page: string, before: string, listed: [Declaration, File][]][] = [
		[
			"docs/api-reference.md",
			"`index.d.ts` has the types, and an example of each function.",
			all.filter(([, file]) => file === "index"),
		],
		["docs/api-records.md", "`native.d.ts` has the types.", natives.filter(([declaration]) => usual.has(declaration))],
		["docs/api-texts.md", "`native.d.ts` has the types.", natives.filter(([declaration]) => !usual.has(declaration))],
	];
	const texts = pages.map(([page, before, listed]) => {
		const isCalled = ([{ kind }]: [Declaration, File]) => kind === "function" || kind === "const";
		const sorted = [...listed.filter(isCalled), ...listed.filter((entry) => !isCalled(entry))];
		const reference = `${before}\n\n${table}${sorted.flatMap(([declaration, file]) => rowsOf(declaration, file)).join("\n")}\n`;
		checkPage(page, reference);
		return reference;
	});
	assert.deepEqual(undescribed, [], "each name needs a comment");
	// The names as `index.d.ts` writes them, found without its parser.
	const source = readFileSync(join(packageDir, "index.d.ts"), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
	const exported = [...source.matchAll(/^export (?:declare )?(?:function|class|interface|type|const) (\w+)/gm)];
	const reexported = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
		([, names = ""]) => names.match(/\w+/g) ?? [],
	);
	const fields = [...source.matchAll(/^\t+(?:readonly )?(\w+)\??[:(<]/gm)].map(([, name = ""]) => name);
	const codes = [...source.matchAll(/"([A-Z_]{6,})"/g)].map(([, name = ""]) => name);
	for (const name of [...exported.map(([, name = ""]) => name), ...reexported, ...fields, ...codes])
		assert.match(texts.join(""), new RegExp(`(?:\\*\\*|\\W)${name}\\b`), `${name} is not found`);
});

test("the reference for extensions names every function, class and method, as native.d.ts does", () => {
	const found = calls(files.native).join("\n");
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
