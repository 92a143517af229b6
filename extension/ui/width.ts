/** How many terminal columns text takes. Errs towards more, because pi refuses a line that is too wide. */

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

const PRINTABLE_ASCII = /^[ -~]*$/;
/** Text of which each code unit is a character of its own, whatever stands beside it. */
const SIMPLE =
	/^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25ff\u2713\u2717\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;
const EMOJI = /^\p{RGI_Emoji}$/v;
const WIDE_EMOJI = /^\p{Emoji_Presentation}/u;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Cc}\p{Cf}\p{Cs}]$/u;

/** First and last code point of each block that terminals draw two columns wide (emoji are told by property). */
const WIDE_BLOCKS: readonly (readonly [number, number])[] = [
	[0x1100, 0x115f], // Hangul initial consonants
	[0x2329, 0x232a], // angle brackets
	[0x2630, 0x2637], // trigrams
	[0x268a, 0x268f], // digrams
	[0x2e80, 0x303e], // CJK radicals and punctuation
	[0x3041, 0xa4cf], // kana to Yi, with the CJK ideographs
	[0xa960, 0xa97f], // Hangul initial consonants, extended
	[0xac00, 0xd7a3], // Hangul syllables
	[0xf900, 0xfaff], // CJK compatibility ideographs
	[0xfe10, 0xfe19], // vertical forms
	[0xfe30, 0xfe6f], // CJK compatibility and small forms
	[0xff01, 0xff60], // fullwidth forms
	[0xffe0, 0xffe6], // fullwidth signs
	[0x16fe0, 0x18dff], // Tangut, Khitan
	[0x1aff0, 0x1b2ff], // kana supplements, Nushu
	[0x1d300, 0x1d37f], // Tai Xuan Jing symbols, counting rods
	[0x1f1e6, 0x1f1ff], // a lone regional indicator: many terminals draw it as half a flag
	[0x1f200, 0x1f2ff], // enclosed ideographs
	[0x20000, 0x3fffd], // CJK extensions
];

/** Hangul vowels and final consonants join the syllable before them; alone they take a column. */
const HANGUL_JOINING = /^[\u1160-\u11ff]$/;

/** Marks without a width of their own in Unicode, to which terminals nevertheless give a column. */
const SPACING_MARK = /^[\u065f\u1033-\u1035\u103a\u103d\u103e]$/;

/** Widths found so far; texts repeat few characters, and a live card measures them again and again. */
const known = new Map<string, number>();
const MOST_KNOWN = 4_096;
const MOST_CODE_UNITS = 32;

/** Splits text into what a reader takes for characters. */
export function characters(text: string): Iterable<string> {
	return SIMPLE.test(text) ? text : segments(text);
}

function* segments(text: string): Iterable<string> {
	for (const { segment } of graphemes.segment(text)) yield segment;
}

/** Columns of one character as `characters` splits them. */
export function characterWidth(character: string): number {
	if (character.length === 1 && PRINTABLE_ASCII.test(character)) return 1;
	const before = known.get(character);
	if (before !== undefined) return before;
	if (known.size >= MOST_KNOWN) known.clear();
	const width = measured(character);
	// What is long is hostile and would fill the memory.
	if (character.length <= MOST_CODE_UNITS) known.set(character, width);
	return width;
}

function measured(character: string): number {
	if (EMOJI.test(character)) return 2;
	let width = 0;
	for (const point of character) {
		if (width === 0 || !HANGUL_JOINING.test(point)) width += pointWidth(point);
	}
	return width;
}

function pointWidth(point: string): number {
	if (INVISIBLE.test(point)) return SPACING_MARK.test(point) ? 1 : 0;
	const code = point.codePointAt(0) ?? 0;
	if (WIDE_EMOJI.test(point)) return 2;
	return WIDE_BLOCKS.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Columns of plain text: no escape sequences, no line breaks, no tabs (see `plainText`). */
export function textWidth(text: string): number {
	if (PRINTABLE_ASCII.test(text)) return text.length;
	let width = 0;
	for (const character of characters(text)) width += characterWidth(character);
	return width;
}
