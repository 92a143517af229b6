/** A story: real pi over some time, with a picture of each moment, as a page of `docs/` or for several of its pages. */

import type { Tui } from "../../__test__/support/pi.ts";
import type { Variant } from "./scene.ts";
import { papers, still } from "./stage.ts";
import { shownFrom, type Times, unchanging } from "./story-screen.ts";
import { svg } from "./svg.ts";
import type { Row } from "./terminal.ts";

export interface Part {
	heading?: string;
	/** The text of the page. */
	text?: string;
	/** The picture's alternative text. */
	shows: string;
	/** Matches the first row of the picture. */
	from: RegExp;
	/** Matches the last row, of a picture that does not end above the editor. */
	to?: RegExp;
}

/** Takes a picture of a moment. A moment without a part gets no picture. */
export type Take = (moment: string, tui: Tui) => Promise<void>;

export interface Story {
	/** The name of the picture folder, and of the page. */
	name: string;
	/** The lines of the page above the first picture. A story without them has no page: other pages show its pictures. */
	head?: readonly string[];
	/** The parts by the names of their moments, in order. */
	parts: Readonly<Record<string, Part>>;
	/** The durations to show on the pictures, by label. */
	times: Times;
	/** Plays the story in a terminal with the colours of `variant`. */
	play(variant: Variant, rows: number, take: Take): Promise<void>;
}

/** The height of a usual terminal. */
const ROWS = 36;

/** Returns the pictures of a story, by moment. */
export async function performStory(story: Story, variant: Variant): Promise<Map<string, string>> {
	const pictures = new Map<string, string>();
	const runs: string[] = [];
	await story.play(variant, ROWS, async (moment, tui) => {
		const part = story.parts[moment];
		if (!part) return;
		const made = (rows: readonly Row[]) => unchanging(shownFrom(rows, part.from, part.to), runs, story.times);
		const rows = await still(() => tui.styledScreen(), made);
		pictures.set(moment, svg(rows, { ...papers[variant.theme], columns: variant.columns, title: part.shows }));
	});
	return pictures;
}
