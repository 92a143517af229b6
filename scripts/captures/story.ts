/** A story: real pi over a while, as a page of `docs/` with a picture of each moment. */

import type { Tui } from "../../__test__/support/pi.ts";
import type { Look } from "./scene.ts";
import { papers, still } from "./stage.ts";
import { shownFrom, type Times, unchanging } from "./story-screen.ts";
import { svg } from "./svg.ts";
import type { Row } from "./terminal.ts";

export interface Part {
	heading?: string;
	/** What happens. */
	text: string;
	/** What the picture shows, for those who do not see it. */
	shows: string;
	/** The row that the picture begins with. */
	from: RegExp;
}

/** Looks at a moment; moments without a part are not drawn. */
export type Take = (moment: string, tui: Tui) => Promise<void>;

export interface Story {
	/** Of the page, and of the folder with its pictures. */
	name: string;
	/** What the page says above the first picture. */
	head: readonly string[];
	/** By the names of their moments, in their order. */
	parts: Readonly<Record<string, Part>>;
	/** How long everything takes on its pictures, by label. */
	times: Times;
	/** Plays it in a terminal with these colours. */
	play(look: Look, rows: number, take: Take): Promise<void>;
}

/** A terminal of usual height. */
const ROWS = 36;

/** The pictures of a story, by their moments. */
export async function performStory(story: Story, look: Look): Promise<Map<string, string>> {
	const pictures = new Map<string, string>();
	const runs: string[] = [];
	await story.play(look, ROWS, async (moment, tui) => {
		const part = story.parts[moment];
		if (!part) return;
		const made = (rows: readonly Row[]) => unchanging(shownFrom(rows, part.from), runs, story.times);
		const rows = await still(() => tui.styledScreen(), made);
		pictures.set(moment, svg(rows, { ...papers[look.theme], columns: look.columns, title: part.shows }));
	});
	return pictures;
}
