/** What the commands say: plain data, kept in the session and laid out whenever it is drawn. */

import type { DoctorCheck } from "../../index.js";
import type { CommandReport } from "../background/types.ts";
import { decoder, isNumber, isText, listOf, maybe, shape } from "../host/stored.ts";
import { oneLine } from "../ui/text.ts";

const STAMP = { kind: "subagents-report", version: 1 } as const;

export type ReportLine = CommandReport["lines"][number];
export type ReportMark = NonNullable<ReportLine["mark"]>;

export interface Report {
	kind?: typeof STAMP.kind;
	version?: typeof STAMP.version;
	title: string;
	lines: ReportLine[];
	/** The same, for whoever draws nothing. */
	text: string;
}

/** What stands over a report that has no title of its own: it says whose words these are, where nothing else does. */
export const NO_TITLE = "Sub-agents";

export const SYMBOLS: Readonly<Record<ReportMark, string>> = {
	...{ ok: "✓", info: "·", warning: "⚠", error: "✗", running: "●", queued: "○" },
	...{ starting: "◐", retrying: "↻", skipped: "–" },
};

/** Columns of one step of indentation. */
export const STEP = 2;

const isLine = shape<ReportLine>([isText, "text"], [maybe(isText), "mark", "name"], [maybe(isNumber), "indent"]);

/** A report that was kept. */
export const reportIn = decoder<Report>(STAMP, shape<Report>([isText, "title", "text"], [listOf(isLine), "lines"]));

/** What the addon says to a command. */
export function commandReport({ title, lines, text }: CommandReport): Report {
	return { ...STAMP, title, lines, text };
}

/** A report of one sentence, about what the addon cannot say. */
export function messageReport(status: DoctorCheck["status"], message: string): Report {
	const text = oneLine(message);
	return {
		...STAMP,
		title: NO_TITLE,
		lines: [{ mark: status, text }],
		text: `${NO_TITLE}\n\n${SYMBOLS[status]} ${text}`,
	};
}
