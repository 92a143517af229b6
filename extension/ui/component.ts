/** Lines as pi takes them. */

import type { Component } from "@earendil-works/pi-tui";
import { type KeySource, keyText } from "./key-text.ts";
import { type AnyTheme, Pen } from "./pen.ts";

/** `make`, which runs again only when one of its arguments is another one than the last time. */
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
 * A component that lays out its lines once per width, and again when `stamp` has changed; pi asks for a new one whenever
 * something else did. `keys` knows what the user's keys are.
 */
export function component(
	theme: AnyTheme,
	layout: (pen: Pen) => readonly string[],
	stamp: () => unknown = () => undefined,
	keys: KeySource = {},
): Component {
	let invalidated = 0;
	const penOf = (width: number) => new Pen(theme, width, (action) => keyText(action, keys));
	const lines = cached((width: number, ..._unchanged: unknown[]) => [...layout(penOf(width))]);
	return {
		render: (width) => lines(width, stamp(), invalidated),
		invalidate() {
			invalidated += 1;
		},
	};
}
