/** Keys as terminals send them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { keysOf } from "../../extension/ui/keys.ts";
import { LineInput } from "../../extension/ui/line-input.ts";

const ESC = "\u001b";

describe("a key has one name", () => {
	const table: Record<string, readonly string[]> = {
		up: [`${ESC}[A`, `${ESC}OA`, `${ESC}[1;1A`, `${ESC}[1;1:2A`, `${ESC}[1;129A`, `${ESC}[57419u`],
		down: [`${ESC}[B`, `${ESC}OB`, `${ESC}[57420;1:1u`],
		right: [`${ESC}[C`, `${ESC}[57418u`],
		left: [`${ESC}[D`, `${ESC}[57417u`],
		home: [`${ESC}[H`, `${ESC}OH`, `${ESC}[1~`, `${ESC}[7~`, `${ESC}[57423u`],
		end: [`${ESC}[F`, `${ESC}OF`, `${ESC}[4~`, `${ESC}[8~`, `${ESC}[57424u`],
		pageUp: [`${ESC}[5~`, `${ESC}[5;1:2~`, `${ESC}[[5~`, `${ESC}[57421u`],
		pageDown: [`${ESC}[6~`, `${ESC}[57422u`],
		delete: [`${ESC}[3~`, `${ESC}[57426u`],
		enter: ["\r", "\n", `${ESC}[13u`, `${ESC}[13;1u`, `${ESC}[57414u`, `${ESC}OM`],
		escape: [ESC, `${ESC}[27u`, `${ESC}[27;1:1u`, `${ESC}[27;65u`, `${ESC}[27;1;27~`],
		backspace: ["\u007f", "\b", `${ESC}[127u`],
		"alt+backspace": [`${ESC}\u007f`, `${ESC}[127;3u`],
		"ctrl+c": ["\u0003", `${ESC}[99;5u`, `${ESC}[99;5:1u`, `${ESC}[27;5;99~`, `${ESC}[1089::99;5u`],
		"super+s": [`${ESC}[115;9u`],
		s: ["s", `${ESC}[115u`, `${ESC}[115;1:2u`, `${ESC}[115;129u`, `${ESC}[1099::115u`],
		G: ["G", `${ESC}[103:71;2u`, `${ESC}[103;2u`, `${ESC}[27;2;71~`],
		"?": ["?", `${ESC}[47:63;2u`],
		"7": ["7", `${ESC}[57406u`],
		世: ["世", `${ESC}[19990u`],
	};
	for (const [name, sequences] of Object.entries(table)) {
		it(name, () => {
			for (const data of sequences)
				assert.deepEqual(
					keysOf(data).map((key) => key.name),
					[name],
					JSON.stringify(data),
				);
		});
	}

	it("and none when it is let go, or is no key", () => {
		const nothing = [
			`${ESC}[115;1:3u`,
			`${ESC}[1;1:3A`,
			`${ESC}[5;1:3~`,
			`${ESC}[<35;20;5m`,
			`${ESC}[?1;2c`,
			`${ESC}]11;x`,
			"",
		];
		for (const data of nothing) assert.deepEqual(keysOf(data), [], JSON.stringify(data));
	});

	it("and several that arrive at once stay several", () => {
		assert.deepEqual(
			keysOf("jj世").map(({ name }) => name),
			["j", "j", "世"],
		);
	});
});

describe("a line of text", () => {
	/** Types into an empty line, and returns it with the cursor as `|`. */
	function typed(columns: number, ...data: string[]): string {
		const input = new LineInput();
		for (const key of data.flatMap(keysOf)) input.press(key);
		const { before, under, after } = input.drawn(columns);
		return `${before}|${under}${after}`;
	}
	const back = "\u001b[D";

	it("is edited in its middle", () => {
		assert.equal(typed(40, "helo", back, "l"), "hell|o");
		assert.equal(typed(40, "one two three", "\u0017", "x"), "one two x| ");
		assert.equal(typed(40, "abc", "\u0001", "\u001b[3~"), "|bc");
		assert.equal(typed(40, "abc", back, "\u0015"), "|c");
		assert.equal(typed(40, "abc", "\u001b[H", "\u000b"), "| ");
		assert.equal(typed(40, "世界", "\u007f"), "世| ");
	});

	it("takes what is pasted as one line, and no control sequence in it", () => {
		assert.equal(typed(40, `${ESC}[200~one\n  two${ESC}[31m\ttab\u0007${ESC}[201~`), "one two   tab| ");
	});

	it("shows the part around the cursor, in no more columns than there are", () => {
		assert.equal(typed(6, "abcdefghij"), "fghij| ");
		assert.equal(typed(6, "abcdefghij", "\u0001"), "|abcdef");
		assert.equal(typed(6, "世界世界世界", back), "界世|界");
	});

	it("leaves keys alone that write nothing", () => {
		for (const data of ["\r", ESC, "\u001b[A", "\u0003"]) {
			assert.equal(new LineInput().press(keysOf(data)[0] ?? { name: "" }), false);
		}
	});
});
