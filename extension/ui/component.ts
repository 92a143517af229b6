/** Lines as pi takes them. */

import type { Component } from "@earendil-works/pi-tui";
import { type AnyTheme, Style } from "./style.ts";

/**
 * A component that lays out its lines once per width, and again when `stamp` has changed; pi asks for a new one whenever
 * something else did.
 */
export function component(
	theme: AnyTheme,
	layout: (width: number, style: Style) => readonly string[],
	stamp: () => unknown = () => undefined,
): Component {
	const style = new Style(theme);
	let drawn: { width: number; stamp: unknown; lines: string[] } | undefined;
	return {
		render(width) {
			const now = stamp();
			if (drawn?.width !== width || drawn.stamp !== now) {
				drawn = { width, stamp: now, lines: [...layout(width, style)] };
			}
			return drawn.lines;
		},
		invalidate() {
			drawn = undefined;
		},
	};
}
