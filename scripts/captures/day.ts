/** Plays the day and takes its pictures. */

import { Day, type Moment } from "../../__test__/support/day.ts";
import { parts } from "./day-page.ts";
import { shownFrom, unchanging } from "./day-screen.ts";
import type { Look } from "./scene.ts";
import { papers, still } from "./stage.ts";
import { svg } from "./svg.ts";
import type { Row } from "./terminal.ts";

/** A terminal of usual height. */
const ROWS = 36;
/** The pictures of the day, by their moments. */
export async function performDay({ theme, columns }: Look): Promise<Map<Moment, string>> {
	const pictures = new Map<Moment, string>();
	const runs: string[] = [];
	const day = await Day.begin({ theme, columns, rows: ROWS });
	try {
		await day.play(async (moment, tui) => {
			const part = parts[moment];
			if (!part) return;
			const made = (rows: readonly Row[]) => unchanging(shownFrom(rows, part.from), runs);
			const rows = await still(() => tui.styledScreen(), made);
			pictures.set(moment, svg(rows, { ...papers[theme], columns, title: part.shows }));
		});
	} finally {
		await day.end();
	}
	return pictures;
}
