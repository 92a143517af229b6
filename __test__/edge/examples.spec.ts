/**
 * The examples in `index.d.ts` and `native.d.ts`: every exported function and class has one, and `tsc` checks it in
 * `types/program.ts` and `types/api.ts`.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..", "..");
const pages = [
	{ types: "index.d.ts", file: "program.ts" },
	{ types: "native.d.ts", file: "api.ts" },
];

/** The comment right before an exported function or class, and its name. Errors are caught, and have no example. */
const exported = /\/\*\*((?:(?!\*\/).)*)\*\/\s*export declare (?:function|class) (?!\w*Error\b)(\w+)/gs;

for (const { types, file } of pages) {
	const declarations = readFileSync(join(root, types), "utf8");
	const checked = squeezed(readFileSync(join(root, "__test__", "types", file), "utf8"));
	for (const [, comment = "", name = ""] of declarations.matchAll(exported)) {
		test(`the example of ${name} is checked by tsc`, () => {
			const [, code = ""] = comment.split("@example")[1]?.split("```") ?? [];
			const lines = code.split("\n").map((line) => line.replace(/^ \* ?/, ""));
			assert.equal(lines.shift(), "ts", `${name} has no example`);
			const statements = lines.filter((line) => !line.startsWith("import "));
			assert.ok(checked.includes(squeezed(statements.join("\n"))), `add the example of ${name} to types/${file}`);
		});
	}
}

/** A text without its indentation and blank lines. */
function squeezed(text: string): string {
	return text.replace(/\s*\n\s*/g, "\n").trim();
}
