/** The columns of text: the addon and pi's terminal library agree, because pi ends if a line is too wide. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import { loadAddon } from "../../extension/host/native.ts";

/** The number of texts per kind. */
const TEXTS = 2_000;
/** The maximum number of pieces in a text. */
const PIECES = 8;

const range = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));

const ASCII = range(0x20, 0x7e);
const CJK = [
	...[...range(0x4e00, 0x4e80), ...range(0x3041, 0x3096), ...range(0x30a1, 0x30fa), ...range(0xac00, 0xac40)],
	...[...range(0xff01, 0xff60), ...range(0xff61, 0xff9f), ...range(0x3000, 0x303e), ...range(0x1100, 0x1112)],
	...[...range(0x1161, 0x1175), ...range(0x11a8, 0x11c2), ...range(0x20000, 0x20020)],
];
const EMOJI = [..."🚀🎉👩👨🧑🏃🚶🧎🏋⛹🕵👁🏳🏴❤⛓☝✌🖐🔥💥🌈🗨♀♂⚧☠➡💋👧👦🦯⚕©®™‼ℹ↔⌚⏏☀☎♻⚠⛔✂✔✨❗⬛⭐〰㊗🅰🈁"];
const TONES = range(0x1f3fb, 0x1f3ff);
const JOINERS = ["\u200d", "\ufe0f", "\ufe0e", "\u20e3", ...TONES];
const FLAGS = range(0x1f1e6, 0x1f1ff);
const TAGS = ["🏴", ...range(0xe0061, 0xe007a), "\u{e007f}"];
const KEYCAPS = [..."0123456789#*"].flatMap((key) => [key, `${key}\ufe0f\u20e3`, `${key}\u20e3`, `${key}\ufe0f`]);
const MARKS = [
	...[...range(0x300, 0x36f), ...range(0x483, 0x489), ...range(0x591, 0x5bd), ...range(0x610, 0x61a)],
	...[...range(0x64b, 0x65f), ...range(0x1ab0, 0x1abd), ...range(0x20d0, 0x20f0), ...range(0x302a, 0x302f)],
];
const INDIC = [
	...[...range(0x900, 0x94f), ...range(0x981, 0x983), ...range(0x995, 0x9b9), ...range(0xb82, 0xbcd)],
	...[...range(0xd02, 0xd4d), ...range(0xe01, 0xe3a), ...range(0xe40, 0xe4e), ...range(0xe81, 0xe82)],
	...["\u0eb3", ...range(0xf40, 0xf47), ...range(0xf71, 0xf84), ...range(0x1000, 0x1049), ...range(0x1780, 0x17d3)],
];
const OTHER = [...range(0xa0, 0x17f), ...range(0x391, 0x3c9), ...range(0x5d0, 0x5ea), ...range(0x627, 0x64a)];
const SIGNS = [...range(0x2010, 0x2027), ...range(0x2190, 0x21ff), ...range(0x2300, 0x23ff), ...range(0x2500, 0x27bf)];
const CONTROLS = [
	...[...range(0x00, 0x1f), ...range(0x7f, 0x9f), "\t", "\t", "\r\n", "\u00ad", "\u061c", "\u115f", "\u2060"],
	...["\u180e", "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2066", "\u2028", "\u3164", "\ufeff", "\ufff9"],
];
const ESCAPES = [
	...["\u001b[31m", "\u001b[0m", "\u001b[38;2;1;2;3m", "\u001b[1;22m", "\u001b[2K", "\u001b[1;2H", "\u001b[3J"],
	...["\u001b]8;;http://x\u001b\\", "\u001b]8;;\u0007", "\u001b]0;世界\u0007", "\u001b_pi\u0007", "\u001b_x\u001b\\"],
	...["\u001b", "\u001b[", "\u001b[31", "\u001b]8;;x", "\u001bP", "\u001b(B", "\u001b[?25l"],
];

const SEQUENCES = [
	...["❤️‍🔥", "⛓️‍💥", "🏳️‍🌈", "🏳️‍⚧️", "👁️‍🗨️", "⛹️‍♀️", "🏋🏽‍♂️", "🕵️‍♀️", "🏃‍♀️‍➡️", "🚶🏿‍♂️‍➡️", "🧎‍♂️‍➡️", "🏃‍➡️", "🏴‍☠️", "👨‍⚕️"],
	...[
		"👩‍❤️‍👨",
		"👨‍❤️‍👨",
		"👩‍❤️‍💋‍👩",
		"👩🏻‍❤️‍👨🏿",
		"🧑🏻‍❤️‍🧑🏼",
		"🧑🏻‍❤️‍💋‍🧑🏿",
		"👨‍👩‍👧‍👦",
		"🫱🏻‍🫲🏿",
		"🏴󠁧󠁢󠁥󠁮󠁧󠁿",
		"🇩🇪",
		"1️⃣",
		"☝🏽",
		"✌️",
	],
	...["❤️‍🌈", "👨‍❤️‍👩", "🧑‍❤️‍🧑", "🧑🏻‍❤️‍🧑🏻", "⛹️‍♀", "❤‍🔥", "🏃‍♀‍➡️", "a️", "🚀️"],
];

const KINDS: Record<string, readonly string[][]> = {
	ASCII: [ASCII],
	"Chinese, Japanese and Korean": [CJK, CJK, ASCII, MARKS],
	"emoji with joiners and selectors": [EMOJI, EMOJI, JOINERS, JOINERS, SEQUENCES],
	"flags, keycaps and tags": [FLAGS, FLAGS, KEYCAPS, TAGS, JOINERS],
	"combining marks": [MARKS, OTHER, ASCII, MARKS],
	"Indic, Thai, Tibetan and Khmer": [INDIC, INDIC, MARKS, JOINERS],
	"tabs and control characters": [CONTROLS, ASCII, CJK, MARKS],
	escapes: [ESCAPES, ESCAPES, ASCII, CJK, EMOJI],
	"anything together": [ASCII, CJK, EMOJI, JOINERS, FLAGS, MARKS, INDIC, OTHER, SIGNS, CONTROLS, ESCAPES, SEQUENCES],
};

/** Returns the same numbers below one in every run. */
function numbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

describe("the columns of text", () => {
	const { native } = loadAddon();
	assert.ok(native);
	for (const [seed, [kind, sets]] of Object.entries(KINDS).entries()) {
		it(`are the same in pi: ${kind}`, () => {
			const next = numbers(seed + 1);
			const one = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)];
			const different = new Map<string, string>();
			for (let index = 0; index < TEXTS; index++) {
				const pieces = Array.from({ length: 1 + Math.floor(next() * PIECES) }, () => one(one(sets) ?? []) ?? "");
				const text = pieces.join("");
				const [ours, pis] = [native.textWidth(text), visibleWidth(text)];
				if (ours !== pis) different.set(JSON.stringify(text), `${ours}, and ${pis} in pi`);
			}
			assert.deepEqual([...different].slice(0, 20), [], `${different.size} of ${TEXTS} texts`);
		});
	}

	it("are the same in pi: every recommended sequence, and others like it", () => {
		for (const text of SEQUENCES) assert.equal(native.textWidth(text), visibleWidth(text), text);
	});
});
