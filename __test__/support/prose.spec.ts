/** The check of the project's English. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { comments, examine, markdown, testNames } from "../../scripts/lib/prose.mjs";

const found = (read: typeof markdown | typeof testNames, path: string, source: string) =>
	examine({ read }, [{ path, source }]).found.map(({ line, phrase, instead }) => `${line}: ${phrase}: ${instead}`);

describe("the check of the English", () => {
	test("finds a construction in paragraphs, lists and tables, with its line and a suggestion", () => {
		const page = [
			"# What it does",
			"",
			"A run ends when pi ends. The result",
			"is told to nobody in the session.",
			"",
			"- Files that stay, but for two of them.",
			"",
			"| Key | Purpose |",
			"|---|---|",
			"| `a` | what is left of the run |",
			"",
			"```text",
			"whoever reads this is in code",
			"```",
		].join("\n");
		assert.deepEqual(found(markdown, "page.md", page), [
			"3: nobody: no one, no process",
			"6: but for: except",
			"10: what: start with a noun, or with a verb",
		]);
	});

	test("finds a construction in comments, and none in code or in examples", () => {
		const source = [
			"/// Whether the run has ended.",
			"fn is_over() { let nobody = 1; }",
			"",
			"/// ```",
			"/// what is this here",
			"/// ```",
			"// Returns the time until the",
			"// queue is made ready for it.",
		].join("\n");
		assert.deepEqual(found(comments, "a.rs", source), [
			"1: Whether: start with a noun, or with a verb",
			"7: made ready: prepare",
		]);
	});

	test("reads the names of tests as sentences", () => {
		const rust = "async fn a_run_of_nobody_is_kept() {\nfn helper(";
		assert.deepEqual(found(testNames, "tests/a.rs", rust), ["1: nobody: no one, no process"]);
		const script = '\tit("keeps the run meanwhile", () => {\n\tconst nobody = 1;';
		assert.deepEqual(found(testNames, "a.spec.ts", script), ["1: meanwhile: in the meantime, or nothing"]);
	});

	test("counts all sentences of at least three words", () => {
		const { sentences } = examine({ read: markdown }, [
			{ path: "a.md", source: "One two. One two three. One `two three` four? Is it what you want?" },
		]);
		assert.equal(sentences, 3);
	});
});
