/** Keys as a terminal sends them, with and without the Kitty protocol, by name. */

export interface Key {
	/** `a`, `?`, `up`, `pageDown`, `enter`, `ctrl+c`, `alt+b`, `paste`. */
	name: string;
	/** What it writes where text is typed; absent for keys that write nothing. */
	text?: string;
}

const ESC = "\u001b";

/** Final characters of `ESC [ … x` and `ESC O x`. */
const LETTERS: Readonly<Record<string, string>> = {
	A: "up",
	B: "down",
	C: "right",
	D: "left",
	F: "end",
	H: "home",
	M: "enter",
};

/** Numbers of `ESC [ n ~`. */
const NUMBERS: Readonly<Record<string, string>> = {
	"1": "home",
	"3": "delete",
	"4": "end",
	"5": "pageUp",
	"6": "pageDown",
	"7": "home",
	"8": "end",
};

/** Code points that stand for keys without a character. */
const CODES: Readonly<Record<number, string>> = {
	8: "backspace",
	9: "tab",
	10: "enter",
	13: "enter",
	27: "escape",
	127: "backspace",
	57414: "enter",
	57417: "left",
	57418: "right",
	57419: "up",
	57420: "down",
	57421: "pageUp",
	57422: "pageDown",
	57423: "home",
	57424: "end",
	57426: "delete",
};

/** The keypad of the Kitty protocol: its digits and signs, from this code point on. */
const KEYPAD_FROM = 57_399;
const KEYPAD = "0123456789./*-+";

const SHIFT = 1;
const ALT = 2;
const CONTROL = 4;
/** Super, Hyper and Meta: no key of ours has them. Caps Lock and Num Lock change no key's name. */
const OTHERS = 8 + 16 + 32;
const RELEASED = "3";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what it reads
const PASTE = /^\u001b\[200~([\s\S]*?)(?:\u001b\[201~)?$/;
/** `ESC [ code : shifted : base ; modifiers : event ; text u` */
const KITTY = /^\u001b\[(\d+)(?::(\d*))?(?::(\d+))?(?:;(\d*)(?::(\d))?)?(?:;[\d:]*)?u$/;
/** `ESC [ 27 ; modifiers ; code ~`, from xterm. */
const XTERM = /^\u001b\[27;(\d+);(\d+)~$/;
/** Keys that have a final character or a number of their own, with modifiers and event. */
const FUNCTIONAL = /^\u001b(?:\[\[?|O)(?:(\d+)(?:;(\d+)(?::(\d))?)?)?([~A-Z])$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: control characters are what it reads

/** The keys in what pi hands on: mostly one; none for releases and for what is no key. */
export function keysOf(data: string): Key[] {
	const pasted = PASTE.exec(data)?.[1];
	if (pasted !== undefined) return [{ name: "paste", text: pasted }];
	if (data.startsWith(ESC) && data.length > 1) return escapeSequence(data);
	return [...data].map((character) => plain(character));
}

function escapeSequence(data: string): Key[] {
	const kitty = KITTY.exec(data);
	if (kitty) {
		const [, code, shifted, base, modifiers, event] = kitty;
		if (event === RELEASED) return [];
		return [coded(Number(code), modifierBits(modifiers), Number(shifted || 0), Number(base ?? 0))];
	}
	const xterm = XTERM.exec(data);
	if (xterm) return [coded(Number(xterm[2]), modifierBits(xterm[1]))];
	const functional = FUNCTIONAL.exec(data);
	if (functional) {
		const [, number = "", modifiers, event, last = ""] = functional;
		const name = last === "~" ? NUMBERS[number] : LETTERS[last];
		return name === undefined || event === RELEASED ? [] : [{ name: withModifiers(name, modifierBits(modifiers)) }];
	}
	const [, character = "", ...rest] = [...data];
	return rest.length > 0 ? [] : [{ name: `alt+${plain(character).name}` }];
}

function modifierBits(modifiers: string | undefined): number {
	return Math.max(0, Number(modifiers || 1) - 1);
}

function coded(code: number, modifiers: number, shifted = 0, base = 0): Key {
	const named = CODES[code];
	if (named) return { name: withModifiers(named, modifiers) };
	const isShifted = (modifiers & SHIFT) !== 0;
	const character = KEYPAD[code - KEYPAD_FROM] ?? written(code, shifted, isShifted);
	// On a keyboard with other letters it is the place of the key that counts.
	const latin = code > 127 && base > 32 && base < 127 ? written(base, 0, isShifted) : character;
	const others = modifiers & ~SHIFT;
	const name = withModifiers(latin, others);
	return name === latin ? { name, text: character } : { name };
}

function written(code: number, shifted: number, isShifted: boolean): string {
	if (code > 0x10ffff) return "";
	if (!isShifted) return String.fromCodePoint(code);
	return shifted > 0 && shifted <= 0x10ffff ? String.fromCodePoint(shifted) : String.fromCodePoint(code).toUpperCase();
}

/** Shift is told by the character; of a key without one it is left out. */
function withModifiers(name: string, modifiers: number): string {
	const held = [
		...(modifiers & OTHERS ? ["super+"] : []),
		...(modifiers & CONTROL ? ["ctrl+"] : []),
		...(modifiers & ALT ? ["alt+"] : []),
	];
	return held.join("") + name;
}

function plain(character: string): Key {
	const code = character.codePointAt(0) ?? 0;
	const named = CODES[code];
	if (named) return { name: named };
	if (code > 0 && code < 27) return { name: `ctrl+${String.fromCharCode(code + 96)}` };
	return code < 32 ? { name: "" } : { name: character, text: character };
}
