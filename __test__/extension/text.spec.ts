/** Text, prose, code and figures on their way to a terminal. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { visibleWidth } from "@earendil-works/pi-tui";
import { library } from "../../extension/host/pi.ts";
import { type AnyTheme, Pen } from "../../extension/ui/pen.ts";
import { prose } from "../../extension/ui/prose.ts";
import { clip, oneLine, plainText } from "../../extension/ui/text.ts";

/** Writes its colours where a terminal would show them. */
const theme: AnyTheme = {
	fg: (color, text) => `\u001b[38;5;${color.length}m${text}\u001b[39m`,
	bold: (text) => `\u001b[1m${text}\u001b[22m`,
	italic: (text) => `\u001b[3m${text}\u001b[23m`,
	underline: (text) => `\u001b[4m${text}\u001b[24m`,
};
const named = new Pen(theme, 80);
const plainPen = (width: number) => new Pen({ fg: (_color, text) => text }, width);
const start = "\u001b\\[";
const COLOURS = new RegExp(`${start}38`, "g");
const RESETS = new RegExp(`${start}0?m`);

const SAMPLES = [
	"words that are short and some-that-are-considerably-longer-than-the-line",
	"配置文件的加载顺序：用户目录在前，项目目录在后，并且只能更严格。",
	"👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦 and 🚀🚀🚀 between words",
	"e\u0301".repeat(50),
	"/a/path/that/is/longer/than/a/line/of/text.rs",
	"",
	"   ",
];

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
		const begin = performance.now();
		plainText("\u001b]".repeat(50_000) + "\u001b[;;;".repeat(50_000));
		assert.ok(performance.now() - begin < 1_000);
	});
});

describe("lines", () => {
	for (const width of [1, 2, 3, 10, 60, 120]) {
		it(`stay within ${width} columns`, () => {
			for (const text of SAMPLES) {
				const colored = named.fg("accent", text);
				assert.ok(visibleWidth(clip(colored, width)) <= width, `clip ${text}`);
				const drawn = new Pen(theme, width).paragraph(text, "muted");
				for (const line of drawn) assert.ok(width < 2 || visibleWidth(line) <= width, text);
			}
		});
	}

	it("are clipped with an ellipsis, only if necessary", () => {
		assert.equal(clip("abcdef", 6), "abcdef");
		assert.equal(clip("abcdef", 5), "abcd…");
		assert.equal(clip("世界世界", 6), "世界…");
	});

	it("keep their background when they are cut", () => {
		assert.doesNotMatch(clip(named.fg("accent", "abcdef"), 5), RESETS);
	});

	it("of the addon are cut if pi finds them too wide", () => {
		assert.deepEqual(
			new Pen(theme, 4).drawn(() => ["abcd", "abcdef", ""]),
			["abcd", "abc…", ""],
		);
	});

	it("have one colour sequence per line of text", () => {
		const page = named.paragraph("many words that fill a line or two ".repeat(140), "muted");
		const drawn = page.join("\n");
		assert.equal(drawn.match(COLOURS)?.length, page.length);
		assert.ok(drawn.length < 6_500, `${drawn.length}`);
	});
});

describe("Markdown", () => {
	it("is drawn as pi draws it: headings, lists, tables, code", () => {
		const source = "# Found\n\n- one\n- **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {}\n```";
		assert.deepEqual(prose(source, plainPen(40)), [
			"Found",
			"",
			"- one",
			"- two",
			"",
			"┌───┬───┐",
			"│ a │ b │",
			"├───┼───┤",
			"│ 1 │ 2 │",
			"└───┴───┘",
			"",
			"```rust",
			"  fn x() {}",
			"```",
		]);
	});

	it("survives input that a parser rejects", () => {
		for (const source of [">".repeat(20_000), "[".repeat(20_000), "- ".repeat(5_000), "\u0000`".repeat(500)]) {
			for (const line of prose(source, plainPen(30))) assert.ok(visibleWidth(line) <= 30);
		}
	});

	it("is laid out quickly", () => {
		const begin = performance.now();
		prose("設定".repeat(30_000), plainPen(100));
		assert.ok(performance.now() - begin < 4_000);
	});
});

describe("an incomplete theme", () => {
	it("leaves the text unchanged", () => {
		const fg = () => {
			throw new Error("Unknown theme color");
		};
		const broken = new Pen({ fg }, 20);
		assert.deepEqual([broken.fg("accent", "a"), broken.bg("customMessageBg", "b"), broken.bold("c")], ["a", "b", "c"]);
		assert.deepEqual(prose("# A `b`\n\n```ts\nlet c;\n```", broken), ["A b", "", "```ts", "  let c;", "```"]);
	});
});

describe("code", () => {
	const PI = "@earendil-works/pi-coding-agent";
	const fg: AnyTheme["fg"] = (color, text) => (color === "mdCodeBlock" ? `<${text}>` : text);
	const code = (language: string) =>
		prose(`\`\`\`${language}\nfn main() { let x = "a\n b"; }\n\`\`\``, new Pen({ fg }, 80)).slice(1, -1);
	const inOneColour = ['  <fn main() { let x = "a>', '  < b"; }>'];

	it("is in one colour in a host that is not pi", () => assert.deepEqual(code("rust"), inOneColour));

	it("is drawn by the hosting pi", async (test) => {
		const [, program = ""] = process.argv;
		process.argv[1] = fileURLToPath(import.meta.resolve(PI).replace(/index\.js$/, "cli.js"));
		test.after(() => {
			process.argv[1] = program;
		});
		const { highlightCode, initTheme } = await library();
		initTheme?.("dark");
		const lines = highlightCode?.('fn main() { let x = "a\n b"; }', "rust") ?? [];
		assert.ok(lines.join().includes("\u001b[38;"));
		assert.deepEqual(
			code("rust"),
			lines.map((line) => `  ${line}`),
		);
	});
});
