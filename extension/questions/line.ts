/** A question that waits, on one line: in a card, above the editor, in the panel. */

import { visibleWidth } from "@earendil-works/pi-tui";
import type { Style } from "../ui/style.ts";
import { clip } from "../ui/text.ts";
import { type Asked, sentence } from "./asked.ts";

const MARK = "?";
/** A question that gets fewer columns is no question: the hint goes first. */
const FEWEST_COLUMNS = 24;

/** `hint` says how it is answered; it stands at the end, where there is room beside the question. */
export function questionLine(
	asked: Asked,
	width: number,
	style: Style,
	{ label, hint = "" }: { label?: string | undefined; hint?: string } = {},
): string {
	const wanted = hint === "" ? "" : ` · ${hint}`;
	const end = width - visibleWidth(wanted) < FEWEST_COLUMNS ? "" : wanted;
	const room = width - MARK.length - 1 - visibleWidth(end);
	const text = clip(sentence(asked, label), Math.max(0, room));
	return clip(`${style.fg("warning", `${MARK} ${text}`)}${style.fg("dim", end)}`, width);
}
