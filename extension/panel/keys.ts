/** The keys of the panel. */

import type { Report, ReportLine } from "../commands/report.ts";

export const KEYS: readonly (readonly [keys: string, does: string])[] = [
	["↑ ↓ j k", "choose a run; scroll"],
	["PgUp PgDn", "a page up or down; also space, and half a page with ctrl+u and ctrl+d"],
	["Home End g G", "to the first or the last; at the end of a transcript it is followed"],
	["Enter →", "the transcript, as it grows"],
	["t", "in a transcript: with or without what tools did"],
	["s", "stop the run and everything it started; asks once"],
	["m", "send a message: a run at work reads it next, one that has ended goes on with it"],
	["r", "resume a run that has ended"],
	["l", "the conversation so far"],
	["i", "everything that is known of the run"],
	["a", "the runs of all sessions, or only of this one"],
	["?", "these keys"],
	["Esc q ←", "back; from the list, close"],
];

const COLUMNS = 14;

export function keysReport(): Report {
	const lines = KEYS.map(([keys, does]): ReportLine => {
		return {
			line: [
				{ text: keys.padEnd(COLUMNS), color: "accent" },
				{ text: does, color: "toolOutput" },
			],
			hang: COLUMNS,
		};
	});
	return { title: "Keys", lines };
}
