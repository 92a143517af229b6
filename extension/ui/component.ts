/** Components of lines, in the form that pi uses. */

import type { Component } from "@earendil-works/pi-tui";
import type { KeySource } from "./keys.ts";
import { type AnyTheme, Pen } from "./pen.ts";

/** Returns a version of `make` that runs again only if one of its arguments has changed. */
export function cached<Arguments extends readonly unknown[], Result>(
	make: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
	let last: { args: Arguments; result: Result } | undefined;
	return (...args) => {
		const isSame = last?.args.every((value, index) => value === args[index]);
		if (!last || !isSame) last = { args, result: make(...args) };
		return last.result;
	};
}

/**
 * Returns a component that lays out its lines once per width, and again when `stamp` has changed. pi creates a new
 * component after any other change. `keys` looks up the user's keys.
 */
export function component(
	theme: AnyTheme,
	layout: (pen: Pen) => readonly string[],
	stamp: () => unknown = () => undefined,
	keys: KeySource = {},
): Component {
	let invalidated = 0;
	const lines = cached((width: number, ..._unchanged: unknown[]) => [...layout(new Pen(theme, width, keys))]);
	return {
		render: (width) => lines(width, stamp(), invalidated),
		invalidate() {
			invalidated += 1;
		},
	};
}
