/** Cuts the panel or the widget out of a screen, and takes out of it what is different each time. */

import { type Row, rowText, withText } from "./terminal.ts";

/** Of the editor; pi says in the upper one that it works. */
const EDGE = /^──/;
const PANEL = /^ (?:Sub-agents|Keys|[○◐●↻✓✗⚠–] .* · )/;
/** Below the panel's first row; a card at the top of the screen may begin as that does. */
const RULE = /^ ─+$/;
/** How long runs took, so that not all took the same. */
const TOOK = ["1.8s", "2.4s", "3.1s", "2.7s"];
/** Where each row is another run. */
const LISTED = /^ [▸ ] \S \d /;
const GOES_ON = "4s";
/** How long a run took, in its column or behind a separator. */
const OVER = /(?<= )(?:\d\.\d| \d\d)s(?=$| )/;
const UNDER_WAY = /(?<= )\ds(?=$| )/;
/** More than this takes another column. */
const TOO_LONG = /(?<![\w.])\d\ds(?!\w)|(?<![\w.])\d+m\d\ds/;

/** The whole screen where the panel is open, else what stands above the editor. */
export function croppedScreen(rows: readonly Row[]): Row[] {
	const texts = rows.map((row) => rowText(row).trimEnd());
	if (PANEL.test(texts[0] ?? "") && RULE.test(texts[1] ?? ""))
		return rows.slice(0, texts.findLastIndex((text) => text !== "") + 1);
	const below = texts.findLastIndex((text) => EDGE.test(text));
	const above = texts.slice(0, below).findLastIndex((text) => EDGE.test(text));
	const blank = texts.slice(0, above).lastIndexOf("");
	if (above < 0) throw new Error(`no editor on the screen:\n${texts.join("\n")}`);
	return rows.slice(blank + 1, above);
}

/** What a clock has made, replaced by something as long, so that each picture is the same every time. */
export function settledScreen(rows: readonly Row[]): Row[] {
	return rows.map((row, index) => {
		const text = rowText(row);
		const took = TOOK[LISTED.test(text) ? index % TOOK.length : 0] ?? "";
		return withText(row, text.replace(OVER, took).replace(UNDER_WAY, GOES_ON));
	});
}

/** Whether a clock has come so far that the picture is another one. */
export function isScreenLate(rows: readonly Row[]): boolean {
	return rows.some((row) => TOO_LONG.test(rowText(row)));
}
