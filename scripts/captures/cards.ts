/** Finds the cards on a screen, and takes out of them what is different each time. */

import { type Row, rowText, withText } from "./terminal.ts";

const HEAD = /^ [○◐●↻✓✗⚠–] subagent (\S*)/;

/** The rows from the first card's upper edge to the last one's lower edge. */
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

/** How long runs took, so that not all took the same. */
const TOOK = ["1.8s", "2.4s", "3.1s", "2.7s"];
/** How long calls of several runs took, and how long such a call goes on: longer than each run in it, or all of them. */
const CALLS: Readonly<Record<string, { took: string; goesOn: string }>> = {
	parallel: { took: "5.9s", goesOn: "4s" },
	chain: { took: "8.6s", goesOn: "8s" },
};
/** How long a run goes on. */
const GOES_ON = "4s";
const OVER = /^[ →]*\d? ?[✓✗⚠–] /;
const ROW = /^[ →]*\d? ?[○◐●↻✓✗⚠–] /;
/**
 * How long something took. That of a call stands at the end of its head, where blanks follow; that of a run in a column,
 * where blanks precede. So 10 s and more can be replaced by something longer.
 */
const TOOK_BY = { call: /(?<= · )(?:\d\.\ds|\d\ds (?= ))/, run: /(?<= )(?:\d\.\d| \d\d)s(?= |$)/ };
/** More than this takes another column. */
const TOO_LONG = /(?<![\w.])\d+m\d\ds|(?<!rate limit, )(?<![\w.])\d\ds(?!\w)/;

/** What a clock or chance has made, replaced by something as long, so that each picture is the same every time. */
export function settled(rows: readonly Row[]): Row[] {
	const runs: string[] = [];
	let call: (typeof CALLS)[string] | undefined;
	return rows.map((row, index) => {
		const text = rowText(row);
		const head = HEAD.exec(text);
		if (head) call = CALLS[head[1] ?? ""];
		const took = (head && call?.took) ?? TOOK[index % TOOK.length] ?? "";
		const goesOn = ROW.test(text) ? GOES_ON : (call?.goesOn ?? GOES_ON);
		const settledText = (OVER.test(text) ? text.replace(TOOK_BY[head ? "call" : "run"], took) : text)
			.replaceAll(/\b\ds ago\b/g, "2s ago")
			.replaceAll(/(?<![\w.])\ds(?! ago|\w)/g, goesOn)
			.replaceAll(/(?<=rate limit, )\d\ds/g, "12s")
			.replaceAll(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/g, "2026-01-01T09-00-00-000Z")
			.replaceAll(/(?<=[/])[0-9a-f]{8}(?=[/]|$)/g, (id) => {
				if (!runs.includes(id)) runs.push(id);
				return `a1b2c3d${runs.indexOf(id) + 1}`;
			});
		return withText(row, settledText);
	});
}

/** Whether a clock has come so far that the picture is another one. */
export function isLate(rows: readonly Row[]): boolean {
	return rows.some((row) => TOO_LONG.test(rowText(row)));
}
