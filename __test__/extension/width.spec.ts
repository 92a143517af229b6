import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clip, lineWidth, oneLine, plainText, unstyled, wrap } from "../../extension/ui/spans.ts";
import { characters, textWidth } from "../../extension/ui/width.ts";

describe("columns", () => {
	const widths: [text: string, columns: number][] = [
		["plain", 5],
		["世界", 4],
		["ｆｕｌｌ", 8],
		["한국어", 6],
		["e\u0301a\u0308", 2],
		["🚀", 2],
		["👩‍👩‍👧‍👦", 2],
		["👍🏽", 2],
		["🇩🇪", 2],
		["⚠", 1],
		["⚠️", 2],
		["1️⃣", 2],
		["नी", 2],
		["a\u200bb", 2],
		["✓✗●○…", 5],
	];
	for (const [text, columns] of widths) {
		it(`counts ${columns} for ${text}`, () => assert.equal(textWidth(text), columns));
	}
});

describe("characters", () => {
	it("are what a segmenter finds, also where it is not asked", () => {
		const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
		const units = Array.from({ length: 0xffff }, (_, unit) => String.fromCharCode(unit + 1));
		// A text of which nobody has to ask the segmenter comes back as it is.
		const simple = units.filter((unit) => unit.isWellFormed() && typeof characters(unit) === "string");
		assert.ok(simple.length > 30_000);
		for (const unit of simple) {
			const text = `${unit}${unit}한${unit}✓${unit}a`;
			assert.equal([...segmenter.segment(text)].length, text.length, JSON.stringify(text));
		}
		assert.deepEqual([...characters("✓\ufe0f각e\u0301")], ["✓\ufe0f", "각", "e\u0301"]);
	});
});

describe("foreign text", () => {
	it("loses control sequences and marks that reorder a line", () => {
		const hostile =
			"\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u001bPq#\u001b\\\u009b2Jx\u0008\u202eyz";
		assert.equal(plainText(hostile), "red link xyz");
	});

	it("keeps line breaks and turns tabs into blanks", () => {
		assert.equal(plainText("a\r\nb\rc\td"), "a\nb\nc   d");
		assert.equal(oneLine("  a\r\n\tb  "), "a b");
	});

	it("does not take long for text made to be slow", () => {
		const start = performance.now();
		plainText("\u001b]".repeat(50_000) + "\u001b[;;;".repeat(50_000));
		assert.ok(performance.now() - start < 1_000);
	});
});

const SAMPLES = [
	"words that are short and some-that-are-considerably-longer-than-the-line",
	"配置文件的加载顺序：用户目录在前，项目目录在后，并且只能更严格。",
	"👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦 and 🚀🚀🚀 between words",
	"e\u0301".repeat(50),
	"",
	"   ",
];

describe("layout", () => {
	for (const width of [1, 2, 3, 10, 60, 120]) {
		it(`stays within ${width} columns`, () => {
			for (const text of SAMPLES) {
				const line = [{ text: "- " }, { text }, { text: " 界" }];
				assert.ok(lineWidth(clip(line, width)) <= width, `clip ${text}`);
				for (const part of wrap(line, width, 4)) assert.ok(lineWidth(part) <= width, `wrap ${text}`);
			}
		});
	}

	it("loses no text when it wraps", () => {
		for (const text of SAMPLES) {
			const parts = wrap([{ text }], 10, 2).map(unstyled).join("");
			assert.equal(parts.replace(/\s/g, ""), text.replace(/\s/g, ""));
		}
	});

	it("keeps together what no blank separates, whatever its styles", () => {
		const line = [{ text: "load it, " }, { text: "user first", bold: true }, { text: ", then the project" }];
		assert.deepEqual(wrap(line, 19).map(unstyled), ["load it, user", "first, then the", "project"]);
	});

	it("starts a word that has to be broken where it is", () => {
		const line = [{ text: "session " }, { text: "/a/path/that/is/longer/than/a/line" }];
		assert.deepEqual(wrap(line, 20, 2).map(unstyled), ["session /a/path/that", "  /is/longer/than/a/", "  line"]);
	});

	it("lays out an answer of one long line in little time", () => {
		const start = performance.now();
		assert.ok(wrap([{ text: "設定".repeat(30_000) }], 100).length > 1_000);
		assert.ok(performance.now() - start < 2_000);
	});

	it("clips with an ellipsis and only where it must", () => {
		assert.equal(unstyled(clip([{ text: "abcdef" }], 6)), "abcdef");
		assert.equal(unstyled(clip([{ text: "abcdef" }], 5)), "abcd…");
		assert.equal(unstyled(clip([{ text: "世界世界" }], 6)), "世界…");
	});

	it("indents what follows the first line", () => {
		assert.deepEqual(wrap([{ text: "- one two three" }], 9, 2).map(unstyled), ["- one two", "  three"]);
	});
});
