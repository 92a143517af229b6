/** The first line of a card. */

import { joined } from "../ui/lines.ts";
import type { Style } from "../ui/style.ts";
import { clip, oneLine, widthOf } from "../ui/text.ts";
import type { Mark } from "../ui/words.ts";

/** A mark, what pi calls the tool, and the name that the call is about. */
export function title({ text, color }: Mark, tool: string, name: string, style: Style): string {
	const named = oneLine(name);
	return `${style.fg(color, text)} ${style.fg("toolTitle", style.bold(tool))}${named && ` ${style.fg("accent", named)}`}`;
}

/** Without room for all parts, the line has only those of `short`, and is cut where the terminal ends. */
export function headLine(
	title: string,
	parts: readonly string[],
	short: readonly string[],
	width: number,
	style: Style,
): string {
	const whole = joined([title, ...parts], style);
	return widthOf(whole) <= width ? whole : clip(joined([title, ...short], style), width);
}
