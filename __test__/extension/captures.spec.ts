/** The pictures of cards and panel: how a screen becomes one. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import { cropped, isLate, settled } from "../../tools/captures/cards.ts";
import { fileNames, folder, pagePath, pages, written } from "../../tools/captures/page.ts";
import { svg } from "../../tools/captures/svg.ts";
import { readScreen, rowText } from "../../tools/captures/terminal.ts";

const ESC = "\u001b";

describe("a screen", () => {
	it("keeps a terminal's colours from line to line", () => {
		const screen = [
			`a${ESC}[31mb${ESC}[38;2;1;2;255;1mc`,
			`d${ESC}[22;38;5;196me${ESC}[38;5;244;48;5;17mf${ESC}[0mg${ESC}[2;3;4;97;100mh`,
			`${ESC}[mi${ESC}]8;;http://x${ESC}\\j${ESC}]8;;${ESC}\\`,
		].join("\n");
		const cells = readScreen(screen).flatMap((row) => row.map(({ column: _, width: __, ...cell }) => cell));
		assert.deepEqual(cells, [
			{ text: "a" },
			{ text: "b", color: "#cd0000" },
			{ text: "c", color: "#0102ff", bold: true },
			{ text: "d", color: "#0102ff", bold: true },
			{ text: "e", color: "#ff0000" },
			{ text: "f", color: "#808080", ground: "#00005f" },
			{ text: "g" },
			{ text: "h", dim: true, italic: true, underline: true, color: "#ffffff", ground: "#7f7f7f" },
			{ text: "i" },
			{ text: "j" },
		]);
	});

	it("knows the column of a character", () => {
		const [row = []] = readScreen("a世e\u0301🚀b");
		assert.deepEqual(
			row.map(({ text, column }) => [text, column]),
			[
				["a", 0],
				["世", 1],
				["e\u0301", 3],
				["🚀", 4],
				["b", 6],
			],
		);
	});
});

describe("a picture", () => {
	const paper = { color: "#000000", ground: "#ffffff", columns: 20, title: 'What <this> & "that" shows' };

	it("has the text as text, each piece in its column", () => {
		const picture = svg(readScreen(` a < b  & c\n${ESC}[1m●${ESC}[22m 世x`), paper);
		const pieces = [...picture.matchAll(/<text x="([\d.]+)" y="([\d.]+)" [^>]*>([^<]*)<\/text>/g)];
		assert.deepEqual(
			pieces.map(([, x, y, text]) => [Math.round((Number(x) - 12) / 8.4), y, text]),
			[
				[1, "25.5", "a &lt; b  &amp; c"],
				[0, "43.5", "●"],
				[2, "43.5", "世"],
				[4, "43.5", "x"],
			],
		);
		assert.match(picture, /<title>What &lt;this&gt; &amp; "that" shows<\/title>/);
		assert.match(picture, /font-weight="bold">●/);
	});

	it("has one piece of text for a rule, as wide as its columns, and one for each other piece", () => {
		const picture = svg(readScreen("─────\n●✓世世"), paper);
		const pieces = [...picture.matchAll(/<text x="([\d.]+)" .*?textLength="([\d.]+)" [^>]*>([^<]*)</g)];
		assert.deepEqual(
			pieces.map(([, x, long, text]) => [text, Number(x), Number(long)]),
			[
				["─────", 12, 42],
				["●", 12, 8.4],
				["✓", 20.4, 8.4],
				["世世", 28.8, 33.6],
			],
		);
	});

	it("has one rectangle for a block of one background", () => {
		const row = `${ESC}[48;2;1;2;3m${" ".repeat(20)}`;
		const picture = svg(readScreen(`${row}\n${row}\n${row}`), paper);
		assert.deepEqual(picture.match(/<rect [^>]*#010203[^>]*>/g), [
			'<rect x="12" y="12" width="168" height="54" fill="#010203"/>',
		]);
	});
});

describe("a value that differs each time", () => {
	const replaced: [was: string, is: string][] = [
		[" ✓ subagent explorer · 3.2s", " ✓ subagent explorer · 1.8s"],
		[" ● subagent explorer · 7s", " ● subagent explorer · 4s"],
		["   ● explorer  9s  read a.ts · 4s ago · 2 turns", "   ● explorer  4s  read a.ts · 2s ago · 2 turns"],
		["   ✓ explorer   17s  x", "   ✓ explorer  1.8s  x"],
		[" ✓ subagent parallel · 4 tasks · 12s  ", " ✓ subagent parallel · 4 tasks · 5.9s "],
		["   ○ explorer  rate limit, 47s left", "   ○ explorer  rate limit, 12s left"],
		["   1 completed · 8s · $0.012", "   1 completed · 4s · $0.012"],
		[
			"   session ~/.pi/sessions/2027-12-31T23-59-58-123Z_demo/9f8e7d6c/session.jsonl",
			"   session ~/.pi/sessions/2026-01-01T09-00-00-000Z_demo/a1b2c3d1/session.jsonl",
		],
		["   v1.5s, a9s, 5sx and 1.25s stay", "   v1.5s, a9s, 5sx and 1.25s stay"],
	];
	for (const [was, is] of replaced) {
		it(`becomes ${is.trim()}`, () => assert.equal(settled(readScreen(was)).map(rowText).join(), is));
	}

	it("has the colour of its neighbours if it needs another column", () => {
		const muted = `${ESC}[31m`;
		const texts = [` ✓ subagent x · ${muted}12s${ESC}[39m  `, `   ✓ x  ${ESC}[39m ${muted}12s${ESC}[39m  y`];
		for (const text of texts) {
			const cells = (settled(readScreen(text))[0] ?? []).filter(({ color }) => color);
			assert.match(cells.map((cell) => cell.text).join(""), /^\d\.\ds$/);
		}
	});

	it("is not replaced if a clock takes another column", () => {
		for (const text of ["   ● explorer  17s  x", " ● subagent explorer · 1m02s", "   1 completed · 10s"]) {
			assert.ok(isLate(settled(readScreen(text))), text);
		}
		for (const [was] of replaced) assert.ok(!isLate(settled(readScreen(was))), was);
	});

	it("gives the whole at least the time of its parts", () => {
		const screen = " ● subagent chain · step 2 of 3\n   1 ✓ a  7.2s  x\n → 2 ● b    6s  y\n   1 completed · 9s";
		assert.deepEqual(settled(readScreen(screen)).map(rowText), [
			" ● subagent chain · step 2 of 3",
			"   1 ✓ a  2.4s  x",
			" → 2 ● b    4s  y",
			"   1 completed · 8s",
		]);
		const [ended = ""] = settled(readScreen(" ✓ subagent parallel · 4 tasks · 1.3s")).map(rowText);
		assert.match(ended, /· 5\.9s$/);
	});

	it("keeps runs distinct", () => {
		const [one, other, again] = settled(readScreen("/00000000/\n/11111111/\n/00000000/")).map(rowText);
		assert.notEqual(one, other);
		assert.equal(one, again);
	});

	it("is removed around the cards", () => {
		const ground = `${ESC}[48;2;1;2;3m`;
		const card = (name: string) =>
			`${ground}   ${ESC}[49m\n${ground} ✓ subagent ${name}${ESC}[49m\n${ground}   ${ESC}[49m`;
		const screen = `above\n${card("one")}\n\n${card("two")}\nbelow`;
		const rows = cropped(readScreen(screen)).map(rowText);
		assert.deepEqual(rows, ["   ", " ✓ subagent one", "   ", "", "   ", " ✓ subagent two", "   "]);
		assert.throws(() => cropped(readScreen("nothing")), /no card on the screen/);
	});
});

for (const page of pages) {
	describe(`the page of the ${page.name}`, () => {
		it("matches its scenes, with exactly their pictures", () => {
			assert.equal(
				readFileSync(pagePath(page), "utf8"),
				written(page),
				"the page is not up to date: run npm run captures",
			);
			assert.deepEqual(readdirSync(folder(page)).sort(), fileNames(page).sort());
		});

		it("shows each picture", () => {
			for (const name of fileNames(page)) assert.ok(written(page).includes(`"${page.name}/${name}"`), name);
		});

		it("has pictures without a path, a time or a name of the drawing machine", () => {
			for (const name of fileNames(page)) {
				const picture = readFileSync(join(folder(page), name), "utf8");
				assert.match(picture, /^<svg [\s\S]*<\/svg>\n$/);
				assert.doesNotMatch(picture, /\/(?:tmp|home|root)\b|psn-|\b20(?!26-01-01T09)\d\d-\d\d-\d\d/, name);
			}
		});
	});
}
