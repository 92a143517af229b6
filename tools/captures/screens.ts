/** Cuts the panel or the widget out of a screen and replaces the parts that differ on every run. */

import { type Row, rowText, withText } from "./terminal.ts";

/** An edge of the editor. While pi works, the upper edge shows a message. */
const EDGE = /^──/;
const PANEL = /^ (?:Sub-agents|Keys|[○◐●↻✓✗⚠–] .* · )/;
/**
 * The rule below the panel's first row. The first row alone is not enough, because a card at the top of the screen can
 * look like it.
 */
const RULE = /^ ─+$/;
/** The durations to show for runs, so that they differ. */
const DURATIONS = ["1.8s", "2.4s", "3.1s", "2.7s"];
/** Matches rows of a list of runs. */
const LISTED = /^ [▸ ] \S \d /;
const LIVE_DURATION = "4s";
/** Matches a run's final duration, in its column or after a separator. */
const FINAL_DURATION = /(?<= )(?:\d\.\d| \d\d)s(?=$| )/;
const RUNNING_DURATION = /(?<= )\ds(?=$| )/;
/** Matches durations that need another column. */
const TOO_LONG = /(?<![\w.])\d\ds(?!\w)|(?<![\w.])\d+m\d\ds/;

/** Returns the whole screen if the panel is open, otherwise the part above the editor. */
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

/** Replaces durations by constant ones of the same length, so that each picture is always the same. */
export function settledScreen(rows: readonly Row[]): Row[] {
	return rows.map((row, index) => {
		const text = rowText(row);
		const duration = DURATIONS[LISTED.test(text) ? index % DURATIONS.length : 0] ?? "";
		return withText(row, text.replace(FINAL_DURATION, duration).replace(RUNNING_DURATION, LIVE_DURATION));
	});
}

/** Returns true if a duration has become so long that the picture would differ. */
export function isScreenLate(rows: readonly Row[]): boolean {
	return rows.some((row) => TOO_LONG.test(rowText(row)));
}
