/** Finds the cards on a screen and replaces the parts that differ on every run. */

import { type Row, rowText, withText } from "./terminal.ts";

const HEAD = /^ [○◐●↻✓✗⚠–→] subagent (\S*)/;

/** Returns the rows from the upper edge of the first card to the lower edge of the last. */
export function cropped(rows: readonly Row[]): Row[] {
	const heads = rows.flatMap((row, index) => (HEAD.test(rowText(row)) ? [index] : []));
	const [first] = heads;
	const last = heads.at(-1);
	if (first === undefined || last === undefined)
		throw new Error(`no card on the screen:\n${rows.map(rowText).join("\n")}`);
	const ground = rows[last]?.[0]?.ground;
	const below = rows.findIndex((row, index) => index > last && row[0]?.ground !== ground);
	return rows.slice(first - 1, below < 0 ? rows.length : below);
}

/** The durations to show for runs, so that they differ. */
const DURATIONS = ["1.8s", "2.4s", "3.1s", "2.7s"];
/**
 * The durations to show for calls with several runs, ended and live. Each is longer than its longest run, or than all
 * runs together.
 */
const CALLS: Readonly<Record<string, { ended: string; live: string }>> = {
	parallel: { ended: "5.9s", live: "4s" },
	chain: { ended: "8.6s", live: "8s" },
};
/** The duration to show for a live run, and for one that has run long enough for its keys. */
const LIVE_DURATION = "4s";
const LONG_DURATION = "6s";
const KEYS = /\besc(?:ape)? stop\b/;
const ENDED = /^[ →]*\d? ?[✓✗⚠–] /;
const ROW = /^[ →]*\d? ?[○◐●↻✓✗⚠–] /;
/**
 * Matches durations. A call's duration ends the first line of its card and is followed by blanks. A run's duration is
 * in a column and is preceded by blanks. The blanks leave room for a replacement of another length if the duration is
 * 10 s or more.
 */
const DURATION = { call: /(?<= · )(?:\d\.\ds|\d\ds (?= ))/, run: /(?<= )(?:\d\.\d| \d\d)s(?= |$)/ };
/** Matches durations that need another column. */
const TOO_LONG = /(?<![\w.])\d+m\d\ds|(?<!rate limit, )(?<![\w.])\d\ds(?!\w)/;

/**
 * Replaces the parts that depend on time or chance by constant parts of the same length, so that each picture is always
 * the same.
 */
export function settled(rows: readonly Row[]): Row[] {
	const runs: string[] = [];
	let call: (typeof CALLS)[string] | undefined;
	const single = rows.some((row) => KEYS.test(rowText(row))) ? LONG_DURATION : LIVE_DURATION;
	return rows.map((row, index) => {
		const text = rowText(row);
		const head = HEAD.exec(text);
		if (head) call = CALLS[head[1] ?? ""];
		const ended = (head && call?.ended) ?? DURATIONS[index % DURATIONS.length] ?? "";
		const live = ROW.test(text) || single === LONG_DURATION ? single : (call?.live ?? single);
		const settledText = (ENDED.test(text) ? text.replace(DURATION[head ? "call" : "run"], ended) : text)
			.replaceAll(/\b\ds ago\b/g, "2s ago")
			.replaceAll(/(?<![\w.])\ds(?! ago|\w)/g, live)
			.replaceAll(/(?<=rate limit, )\d\ds/g, "12s")
			.replaceAll(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/g, "2026-01-01T09-00-00-000Z")
			.replaceAll(/(?<=[/]|\bresume )[0-9a-f]{8}(?=[/\s]|$)/g, (id) => {
				if (!runs.includes(id)) runs.push(id);
				return `a1b2c3d${runs.indexOf(id) + 1}`;
			});
		return withText(row, settledText);
	});
}

/** Returns true if a duration has become so long that the picture would differ. */
export function isLate(rows: readonly Row[]): boolean {
	return rows.some((row) => TOO_LONG.test(rowText(row)));
}
