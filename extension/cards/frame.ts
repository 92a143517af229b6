/** What all cards have in common: how much of them is wanted, and their first line. */

import type { Pen } from "../ui/pen.ts";
import { oneLine, widthOf } from "../ui/text.ts";
import type { Mark } from "../ui/words.ts";

/** What all lines below the first are indented by. */
export const INDENT = 2;

/** How much of a run is wanted. */
export interface Extent {
	expanded: boolean;
	/** The keys that expand a card; none when the user has taken them away. */
	expandKey: string;
}

/** A remark on what an expanded card shows. */
export function hint(text: string, { expandKey }: Extent, pen: Pen): string {
	return pen.remark(expandKey === "" ? text : `${text}, ${expandKey} to expand`);
}

/** A mark, what pi calls the tool, and the name that the call is about. */
export function title({ text, color }: Mark, tool: string, name: string, pen: Pen): string {
	const named = oneLine(name);
	return `${pen.fg(color, text)} ${pen.fg("toolTitle", pen.bold(tool))}${named && ` ${pen.fg("accent", named)}`}`;
}

/** Without room for all parts, the line has only those of `short`, and is cut where the terminal ends. */
export function headLine(parts: readonly string[], short: readonly string[], pen: Pen): string {
	const whole = pen.joined(parts);
	return widthOf(whole) <= pen.width ? whole : pen.clip(pen.joined(short));
}
