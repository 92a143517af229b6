/** A drawing as the lines of a card. */

import type { Row } from "../../index.js";
import type { ToolRenderContext } from "../host/pi.ts";
import { type KeySource, keyText } from "../ui/key-text.ts";
import { paint } from "../ui/paint.ts";
import { Pen } from "../ui/pen.ts";

const TEXT_INDENT = 2;

/** Paints it with the keys of a render context. Without the addon there is none, and the text is drawn that is there. */
export function painted(drawing: readonly Row[] | undefined, text: string, keys: KeySource, pen: Pen): string[] {
	if (drawing) return paint(drawing, keyed(pen, keys));
	return pen.indented(TEXT_INDENT, (inner) => inner.paragraph(text, "toolOutput"));
}

/** The head of a card without the addon. */
export function plainHead(tool: string, { isError }: ToolRenderContext): string {
	return isError ? `✗ ${tool}` : tool;
}

/** A pen that knows the user's keys. */
export function keyed(pen: Pen, keys: KeySource): Pen {
	return new Pen(pen.theme, pen.width, (action) => keyText(action, keys));
}
