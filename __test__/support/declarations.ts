/** Reads the declarations of `index.d.ts` and `native.d.ts`, and finds everything that can be reached from a name. */

/** A field or a method, or one form of an overloaded method. */
export interface Member {
	/** Its name with a question mark if it is optional. `new` for a constructor, empty for a signature to call. */
	name: string;
	/** Everything after the name, on one line: parameters and types. */
	type: string;
	comment: string;
}

/** An exported name. Interfaces with one name are one declaration. */
export interface Declaration {
	name: string;
	kind: "function" | "class" | "interface" | "type" | "const";
	comment: string;
	/** What it extends, as written. */
	extended: string;
	/** The declaration on one line, without comments, name and members. */
	type: string;
	members: Member[];
}

/** The declarations of a file by name, and the names that it takes from another file. */
export interface Declared {
	declarations: Map<string, Declaration>;
	/** The local name, and the name in `native.d.ts`. */
	imports: Map<string, string>;
	/** The names that the file exports, in order. */
	exported: string[];
}

/** Reads a file of declarations. */
export function declaredIn(source: string): Declared {
	const declarations = new Map<string, Declaration>();
	const imports = new Map<string, string>();
	const exported: string[] = [];
	for (const [, , names = ""] of source.matchAll(/^import (type )?\{([^}]*)\} from/gm)) {
		for (const name of names.split(",")) {
			const [, original = "", local = original] = /^\s*(\w+)(?: as (\w+))?\s*$/.exec(name) ?? [];
			if (original) imports.set(local, original);
		}
	}
	let comment = "";
	// Each statement begins in the first column, and so does its comment.
	for (const part of source.split(/^(?=\/\*\*|(?:export|declare|type|interface|import) )/m)) {
		if (part.startsWith("/**")) {
			comment = part;
			continue;
		}
		const [, list] = /^export (?:type )?\{([^}]*)\}/.exec(part) ?? [];
		for (const name of (list ?? "").split(",").map((item) => item.trim())) {
			if (name === "") continue;
			exported.push(name);
			if (!imports.has(name)) imports.set(name, name);
		}
		const start = /^(export )?(?:declare )?(function|class|interface|type|const) (\w+)/.exec(part);
		const [whole = "", isExported, kind, name = ""] = start ?? [];
		if (start) {
			if (isExported && !exported.includes(name)) exported.push(name);
			const before = declarations.get(name);
			const added = declarationOf(name, kind as Declaration["kind"], part.slice(whole.length));
			declarations.set(name, {
				...added,
				comment: comment || (before?.comment ?? ""),
				extended: [before?.extended, added.extended].filter(Boolean).join(", "),
				members: [...(before?.members ?? []), ...added.members],
			});
		}
		comment = "";
	}
	return { declarations, imports, exported };
}

/** Reads the part of a statement after its name. */
function declarationOf(name: string, kind: Declaration["kind"], text: string): Declaration {
	const rest = text.slice(kind === "function" ? 0 : closingOf(text)).trim();
	const hasBody = kind === "interface" || kind === "class";
	const [, extended = ""] = (hasBody && /^extends ([^{]*)/.exec(rest)) || [];
	return {
		name,
		kind,
		comment: "",
		extended: extended.trim(),
		type: hasBody ? "" : oneLine(withoutComments(rest)),
		members: kind === "function" ? [] : literalsIn(rest).flatMap(membersOf),
	};
}

/** Returns the end of the type parameters at the begin of a text. */
function closingOf(text: string): number {
	let end = 0;
	if (text.startsWith("<")) {
		walk(text, (at, { others }) => {
			if (end === 0 && others === 0) end = at + 1;
		});
	}
	return end;
}

/** Returns the insides of the outermost object literals in a text. */
function literalsIn(text: string): string[] {
	const found: string[] = [];
	let begin = 0;
	walk(text, (at, depth) => {
		if (text[at] === "{" && depth.braces === 1) begin = at + 1;
		if (text[at] === "}" && depth.braces === 0) found.push(text.slice(begin, at));
	});
	return found;
}

interface Depth {
	braces: number;
	others: number;
}

/** Calls `visit` with each character outside of comments and texts, and the depth of brackets after it. */
function walk(text: string, visit: (at: number, depth: Depth) => void): void {
	const depth = { braces: 0, others: 0 };
	for (let at = 0; at < text.length; at++) {
		const skipped = /^(?:\/\*[\s\S]*?\*\/|"[^"\n]*"|'[^'\n]*'|`[^`]*`)/.exec(text.slice(at, at + 20_000));
		if (skipped) {
			at += skipped[0].length - 1;
			continue;
		}
		const character = text[at] ?? "";
		// The arrow of a function type closes nothing.
		const isArrow = character === ">" && text[at - 1] === "=";
		if (character === "{") depth.braces++;
		if (character === "}") depth.braces--;
		if ("([<".includes(character)) depth.others++;
		if (")]>".includes(character) && !isArrow) depth.others--;
		visit(at, depth);
	}
}

/** The start of a member. A signature to call has no name, and neither has an index. */
const memberStart = /^((?:readonly |get |set |static )*)(\[Symbol\.\w+\]|\[\w+: \w+\]|"[^"]+"|\w+|(?=[<(]))(\??)/;

/** Returns the members in the inside of an object literal. */
function membersOf(inside: string): Member[] {
	const ends: number[] = [];
	walk(inside, (at, { braces, others }) => {
		const isOutside = braces === 0 && others === 0;
		const isOver = inside[at] === "\n" && !/^\s*[|&]/.test(inside.slice(at)) && !/[:|&=]\s*$/.test(inside.slice(0, at));
		if (isOutside && (inside[at] === ";" || isOver)) ends.push(at);
	});
	const found: Member[] = [];
	let begin = 0;
	let comment = "";
	for (const end of [...ends, inside.length]) {
		const text = inside.slice(begin, end).trim();
		begin = end + 1;
		const comments = text.match(/\/\*\*[\s\S]*?\*\//g) ?? [];
		comment = comments.at(-1) ?? comment;
		const code = oneLine(withoutComments(text));
		const [start, kind = "", name = "", optional = ""] = memberStart.exec(code) ?? [];
		if (start === undefined || code === "") continue;
		const type = code.slice(start.length).replace(kind.includes("get ") ? /^\(\)/ : /^$/, "");
		found.push({ name: `${name === "constructor" ? "new" : name}${optional}`, type, comment });
		comment = "";
	}
	return found;
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, " ");

/** Puts a text on one line. */
export const oneLine = (text: string) =>
	text
		.replace(/\s+/g, " ")
		.replace(/([([<]) /g, "$1")
		.replace(/,? ([)\]>])(?!=)/g, "$1")
		.replace(/([:=(<]) \| /g, "$1 ")
		.replace(/;$/, "")
		.trim();
