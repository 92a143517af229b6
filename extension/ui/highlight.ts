/** Code in pi's colours for it. */

import { createRequire } from "node:module";
import type { Color, Style } from "./pen.ts";

/** Longer code is drawn in one colour: it is a file, and somebody waits for the screen. */
const MOST_CHARACTERS = 30_000;

/** pi's colours, and what highlight.js finds that is drawn in them; the rest keeps the terminal's own. */
const KINDS: readonly [color: Color, kinds: string][] = [
	["syntaxKeyword", "keyword name"],
	["syntaxType", "built_in class type"],
	["syntaxNumber", "literal number"],
	["syntaxString", "regexp string"],
	["syntaxComment", "comment doctag"],
	["syntaxFunction", "function title"],
	["syntaxPunctuation", "tag punctuation"],
	["syntaxVariable", "attr variable params"],
	["syntaxOperator", "operator"],
	["muted", "meta"],
	["toolDiffAdded", "addition"],
	["toolDiffRemoved", "deletion"],
];
const COLORS = new Map(KINDS.flatMap(([color, kinds]) => kinds.split(" ").map((kind) => [kind, color] as const)));

/** The tree that highlight.js builds, as far as it is read. */
interface Tree {
	walk(builder: { openNode(node: { kind?: string }): void; addText(text: string): void; closeNode(): void }): void;
}

/** The lines of a block of code; in one colour when its language is unknown, as pi draws it. */
export function highlighted(code: string, language: string | undefined, style: Style): string[] {
	try {
		const tree = code.length > MOST_CHARACTERS || !language ? undefined : treeOf(code, language);
		if (tree) return colored(tree, style).split("\n");
	} catch {
		// A mistake of a grammar, or a package without the library: the code can still be read.
	}
	return code.split("\n").map((line) => style.fg("mdCodeBlock", line));
}

function treeOf(code: string, language: string): Tree | undefined {
	const highlighter: typeof import("highlight.js") = createRequire(import.meta.url)("./languages.cjs");
	if (!highlighter.getLanguage(language)) return undefined;
	return highlighter.highlight(code, { language, ignoreIllegals: true }).emitter as unknown as Tree;
}

function colored(tree: Tree, style: Style): string {
	const colors: (Color | undefined)[] = [];
	const runs: { text: string; color: Color | undefined }[] = [];
	tree.walk({
		openNode: ({ kind = "" }) =>
			void colors.push(COLORS.get(kind) ?? COLORS.get(kind.split(/[.-]/)[0] ?? "") ?? colors.at(-1)),
		addText(text) {
			const color = colors.at(-1);
			const run = runs.at(-1);
			if (run && run.color === color) run.text += text;
			else runs.push({ text, color });
		},
		closeNode: () => void colors.pop(),
	});
	return runs
		.map(({ text, color }) => (color ? text.replace(/[^\n]+/g, (line) => style.fg(color, line)) : text))
		.join("");
}
