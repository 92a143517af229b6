/** Cuts the relevant part out of a screen and replaces the parts that differ on every run. */

import { type Cell, type Row, rowText } from "./terminal.ts";

/** The line above pi's editor, or tmux's message after pi has ended. The panel has neither. */
const EDITOR = /^──|^Pane is dead/;

/** Returns the rows from the last match of `from` down to `to` or the editor. Several empty rows become one. */
export function shownFrom(rows: readonly Row[], from: RegExp, to?: RegExp): Row[] {
	const texts = rows.map((row) => rowText(row).trimEnd());
	const begin = texts.findLastIndex((text) => from.test(text));
	if (begin < 0) throw new Error(`no ${from} on the screen:\n${texts.join("\n")}`);
	// A block with a background colour has an empty row above it.
	const first = begin > 0 && texts[begin - 1] === "" && !isEmpty(rows[begin - 1] ?? []) ? begin - 1 : begin;
	const editor = texts.findIndex((text, index) => index > first && EDITOR.test(text));
	const last = to ? texts.findIndex((text, index) => index > first && to.test(text)) + 1 : 0;
	const end = last || (editor < 0 ? rows.length : editor);
	const shown = rows.slice(first, end).map((row, index) => ({ row, isEmpty: isEmpty(row), index }));
	const lastShown = shown.findLastIndex((each) => !each.isEmpty);
	const condensed = shown.filter(({ isEmpty, index }) => index <= lastShown && !(isEmpty && shown[index + 1]?.isEmpty));
	return condensed.map(({ row }) => row);
}

function isEmpty(row: Row): boolean {
	return row.every(({ text, ground }) => text === " " && !ground);
}

/** The durations to show by label: while the run is live, after it has ended, and after it has ended well. */
export type Times = Readonly<Record<string, { live: string; ended: string; done?: string }>>;

const DONE = /^[ ▸]*\d? ?✓/;
const ENDED = /^[ ▸→]*\d? ?[✓✗⚠–]/;
/** The line with the total of a live chain. */
const SUM = /\brunning · (\d+s)\b/;
const AGO = / · \d+s ago/;
/** The duration of a run in a sentence. */
const SENTENCE = /(?<=\bafter )\d+\.\ds, \d+(?:\.\d)?s(?= ago)/;
/** The home directory of the world. Its replacement has the same length, so that no line breaks elsewhere. */
const HOME = /\/\S*?\/psn-\w{6}\/home(?=\/)/;
const RUN = /\b[0-9a-f]{8}\b/g;

/** Replaces the parts that depend on time or chance by constant ones. `runs` are the ids seen so far. */
export function unchanging(rows: readonly Row[], runs: string[], times: Times): Row[] {
	const names = Object.keys(times).join("|");
	// Matches the first name in a row and the first duration after it, in its column or after a dot.
	const named = new RegExp(`\\b(${names})\\b.*?(?: +|· )(\\d+(?:\\.\\d)?s|\\dm\\d\\ds)(?= |$)`);
	let name = "";
	return rows.map((row) => {
		let now = row;
		const text = rowText(row);
		for (const { 0: id, index } of text.matchAll(RUN)) {
			if (!runs.includes(id)) runs.push(id);
			now = replaced(now, index, id, `a1b2c3d${runs.indexOf(id) + 1}`);
		}
		const ago = AGO.exec(text);
		if (ago) now = replaced(now, ago.index, ago[0], "");
		const sentence = SENTENCE.exec(text);
		if (sentence) now = replaced(now, sentence.index, sentence[0], "4.1s, 5.2s");
		const home = HOME.exec(text);
		if (home) now = replaced(now, home.index, home[0], "/Users/your-own-name-here".slice(0, home[0].length));
		const sum = SUM.exec(text);
		if (sum?.[1]) now = replaced(now, text.indexOf(sum[1], sum.index), sum[1], times.chain?.live ?? "");
		const time = named.exec(text) ?? (name && /^ [✓✗⚠] \S.* · (\d+(?:\.\d)?s)$/.exec(text.trimEnd()));
		if (!time) return now;
		const [whole, first = "", second] = time;
		if (second !== undefined) name = first;
		const shown = second ?? first;
		const from = time.index + whole.length - shown.length;
		const { live = "", ended = "", done = ended } = times[name] ?? {};
		const duration = DONE.test(text) ? done : ended;
		return aligned(now, from, shown, ENDED.test(text) ? duration : live);
	});
}

/** Replaces a duration. A right-aligned one uses or adds a blank before it; any other one moves the text after it. */
function aligned(row: Row, from: number, was: string, is: string): Row {
	const text = rowText(row);
	const blanks = text.slice(0, from).length - text.slice(0, from).trimEnd().length;
	const room = is.length - was.length;
	if (blanks < 2) return replaced(row, from, was, is);
	const start = from - Math.max(0, room);
	return replaced(row, start, text.slice(start, from + was.length), is.padStart(Math.max(was.length, is.length)));
}

/** Replaces `was` by `is` at this offset, in the same style. The row keeps its width. */
function replaced(row: Row, from: number, was: string, is: string): Row {
	let at = 0;
	const offsets = row.map(({ text }) => {
		at += text.length;
		return at - text.length;
	});
	const begin = offsets.indexOf(from);
	const end = from + was.length === rowText(row).length ? row.length : offsets.indexOf(from + was.length);
	const ink = row.slice(begin, end).find(({ text }) => text !== " ") ?? row[begin];
	const last = row.at(-1);
	if (begin < 0 || end < 0 || !ink || !last) throw new Error(`${was} is not at ${from} of: ${rowText(row)}`);
	const put = [...is].map((text): Cell => ({ ...ink, text, width: 1 }));
	const cells = [...row.slice(0, begin), ...put, ...row.slice(end)];
	while (cells.length < row.length) cells.push({ ...last, text: " ", width: 1 });
	const cut = cells.slice(0, row.length);
	let column = 0;
	return cut.map((cell) => {
		const placed = { ...cell, column };
		column += cell.width;
		return placed;
	});
}
