/** A stand-in for a part of pi in a test: only the members that are used. */

import type { Theme } from "@earendil-works/pi-coding-agent";

/** Each field is whole, or a part in its turn. */
type Part<Whole> = {
	[Name in keyof Whole]?: Whole[Name] extends (...args: never) => unknown
		? Whole[Name]
		: Whole[Name] | Partial<Whole[Name]> | undefined;
};

export function standingIn<Whole>(part: Part<Whole>): Whole {
	return part as Whole;
}

/** A theme without colours. */
export const PLAIN = standingIn<Theme>({ fg: (_color, text) => text, bold: (text) => text });
