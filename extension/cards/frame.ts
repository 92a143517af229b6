/** What all cards have in common: how much of them is wanted, how high they may be, their first line. */

import { joined } from "../ui/lines.ts";
import type { Style } from "../ui/style.ts";
import { clip, oneLine, widthOf } from "../ui/text.ts";
import type { Mark } from "../ui/words.ts";
import type { PlannedTask } from "./tasks.ts";

/** What all lines below the first are indented by. */
export const INDENT = 2;
/** Code of an answer that came in part. */
export const TRUNCATED = "SUBAGENT_OUTPUT_TRUNCATED";

/** Rows that pi needs below a card: its borders, the working line, the editor, the footer. */
const PI_ROWS = 12;
/** An expanded card where nobody knows how high the terminal is, and the most in one that is higher. */
const MOST_ROWS = 43;
const FEWEST_ROWS = 10;
/** Tasks of several that a live card has lines for, whatever the terminal. */
export const TASK_ROWS = 10;

/** How much of a run is wanted. */
export interface Extent {
	expanded: boolean;
	/** The keys that expand a card; none when the user has taken them away. */
	expandKey: string;
}

export interface CardInput extends Extent {
	mode: "single" | "parallel" | "chain";
	tasks: readonly PlannedTask[];
	/** Text of the tool result: the live text, the answer, or what went wrong. */
	text: string;
	/** Lines that the card may have while its run goes on and it is expanded. */
	rows: number;
}

/**
 * Lines of an expanded card whose run goes on. A pi before 1.x clears the screen, and what can be scrolled back to, to
 * redraw a line that is out of sight; what is left out can be seen when the run is over.
 */
export function expandedRows(terminalRows = Number.POSITIVE_INFINITY): number {
	return Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, terminalRows - PI_ROWS));
}

/** A mark, what pi calls the tool, and the name that the call is about. */
export function title({ text, color }: Mark, tool: string, name: string, style: Style): string {
	const named = oneLine(name);
	return `${style.fg(color, text)} ${style.fg("toolTitle", style.bold(tool))}${named && ` ${style.fg("accent", named)}`}`;
}

/** Without room for all parts, the line has only those of `short`, and is cut where the terminal ends. */
export function headLine(parts: readonly string[], short: readonly string[], width: number, style: Style): string {
	const whole = joined(parts, style);
	return widthOf(whole) <= width ? whole : clip(joined(short, style), width);
}
