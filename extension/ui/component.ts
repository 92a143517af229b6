/** Lines as pi takes them. */

import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, visibleWidth } from "@earendil-works/pi-tui";
import { Style } from "./style.ts";
import { clip } from "./text.ts";

/**
 * A component that lays out its lines once per width, and again when `stamp` has changed; pi asks for a new one whenever
 * something else did. pi refuses a line that is too wide, so whatever the layout has made is cut.
 */
export function component(
	theme: Theme,
	layout: (width: number, style: Style) => readonly string[],
	stamp: () => unknown = () => undefined,
): Component {
	const style = new Style(theme);
	let drawn: { width: number; stamp: unknown; lines: string[] } | undefined;
	return {
		render(width) {
			const now = stamp();
			if (drawn?.width !== width || drawn.stamp !== now) {
				const lines = layout(width, style).map((line) => (visibleWidth(line) > width ? clip(line, width) : line));
				drawn = { width, stamp: now, lines };
			}
			return drawn.lines;
		},
		invalidate() {
			drawn = undefined;
		},
	};
}
