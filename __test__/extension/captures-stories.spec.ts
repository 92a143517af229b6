/** The pictures of the stories: the parts cut from a screen, and their stable parts. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import { root } from "../../scripts/lib/places.mjs";
import { day } from "../../tools/captures/day.ts";
import { stories } from "../../tools/captures/stories.ts";
import { pictureFiles, pictureLines, storyFolder, storyPage, storyPath } from "../../tools/captures/story-page.ts";
import { shownFrom, unchanging } from "../../tools/captures/story-screen.ts";
import { readScreen, rowText } from "../../tools/captures/terminal.ts";

const ESC = "\u001b";

describe("a screen of a story", () => {
	it("begins at its moment, ends above the editor, and keeps colours", () => {
		const ground = `${ESC}[48;2;1;2;3m   ${ESC}[49m`;
		const screen = `before\n from here\n \n \n \n${ground}\n${ground}\nend\n   \n────\ntyped\n────\n~/x`;
		assert.deepEqual(shownFrom(readScreen(screen), /from here/).map(rowText), [" from here", " ", "   ", "   ", "end"]);
		assert.deepEqual(
			shownFrom(readScreen(screen), /^end/).map(rowText),
			["   ", "end"],
			"the result includes the edge above",
		);
		assert.throws(() => shownFrom(readScreen(screen), /nowhere/), /no \/nowhere\/ on the screen/);
	});

	const replaced: [was: string, is: string][] = [
		[" ● tests   explorer     13s  ls test   ↑1.4k", " ● tests   explorer      9s  ls test   ↑1.4k"],
		[" ● history  explorer      9s  read a.ts", " ● history  explorer      4s  read a.ts"],
		[" ▸ ⚠ 3 tests      explorer    9.1s  x", " ▸ ⚠ 3 tests      explorer     12s  x"],
		["   ⚠ 2 dead code  explorer     11s  x", "   ⚠ 2 dead code  explorer    2.4s  x"],
		["   1 ✓ explorer     2.6s  Find", "   1 ✓ explorer     1.8s  Find"],
		[" ✓ subagent chain · 2 steps · 11s      ", " ✓ subagent chain · 2 steps · 4.9s     "],
		[" ⚠ history · explorer · 13s · interrupted  ", " ⚠ history · explorer · 8.1s · interrupted "],
		[" ✓ history · explorer · 0.9s  ", " ✓ history · explorer · 9.4s  "],
		["   1 completed · 1 running · 12s · 2 turns ", "   1 completed · 1 running · 4s · 2 turns  "],
		["  Two places change. · 3s ago", "  Two places change.         "],
		[" resumed 0123abcd (explorer)", " resumed a1b2c3d1 (explorer)"],
	];
	for (const [was, is] of replaced) {
		it(`becomes ${is.trim()}`, () => assert.deepEqual(unchanging(readScreen(was), [], day.times).map(rowText), [is]));
	}

	it("names a run by its earlier text", () => {
		const runs: string[] = [];
		const [first] = unchanging(readScreen("11111111 00000000"), runs, day.times).map(rowText);
		const [second] = unchanging(readScreen("00000000"), runs, day.times).map(rowText);
		assert.deepEqual([first, second], ["a1b2c3d1 a1b2c3d2", "a1b2c3d2"]);
	});
});

const docs = join(root, "docs");
const pages = readdirSync(docs)
	.filter((name) => name.endsWith(".md"))
	.map((name) => readFileSync(join(docs, name), "utf8"));

for (const story of stories) {
	describe(`the page of the story ${story.name}`, () => {
		it("has exactly the pictures of its moments", () => {
			assert.deepEqual(readdirSync(storyFolder(story)).sort(), pictureFiles(story).sort());
		});

		it("shows each moment, and is up to date", () => {
			if (!story.head) {
				for (const moment of Object.keys(story.parts)) {
					const lines = pictureLines(story, moment).join("\n");
					assert.ok(
						pages.some((page) => page.includes(lines)),
						`no page of docs/ has:\n${lines}`,
					);
				}
				return;
			}
			assert.equal(
				readFileSync(storyPath(story), "utf8"),
				storyPage(story),
				`the page is not up to date: run npm run captures -- ${story.name}`,
			);
			for (const name of pictureFiles(story)) assert.ok(storyPage(story).includes(`"${story.name}/${name}"`), name);
		});

		it("has pictures without a path, a time or a name of the drawing machine", () => {
			for (const name of pictureFiles(story)) {
				const picture = readFileSync(join(storyFolder(story), name), "utf8");
				assert.match(picture, /^<svg [\s\S]*<\/svg>\n$/);
				assert.doesNotMatch(picture, /\/(?:tmp|home|root)\b|psn-|\b20\d\d-\d\d-\d\d/, name);
			}
		});
	});
}
