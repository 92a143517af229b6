/** What a view of the panel is, and what it can ask of the panel. */

import type { BackgroundSession } from "../background/types.ts";
import type { Style } from "../ui/style.ts";
import type { Foot } from "./foot.ts";
import type { Action } from "./keys.ts";
import type { PanelRuns } from "./runs.ts";

/** A key and what it does; of several the most important ones come first. */
export interface Hint {
	action: Action;
	does: string;
}

/** One screen of the panel. */
export interface View {
	/** The first line. */
	head(columns: number): string;
	/** At most `rows` lines below it. */
	body(columns: number, rows: number): readonly string[];
	hints(): readonly Hint[];
	/** Does what a key asks for; says whether there is something of that name. */
	press(action: Action): boolean;
	/** Looks at what is new: called when runs have changed, and every second. */
	refresh?(): void;
	dispose?(): void;
}

/** What a view can ask of the panel. */
export interface PanelHost {
	/** Another one once the theme has changed. */
	readonly style: Style;
	/** Where is said, and asked for, what has no place in a view. */
	readonly foot: Foot;
	readonly session: BackgroundSession;
	readonly runs: PanelRuns;
	/** Something that is shown has changed. */
	changed(): void;
	open(view: View): void;
}

/** How far a key scrolls on a screen of `rows`; nothing for other keys. */
export function scrolled(action: Action, rows: number): number | undefined {
	// A page keeps a line of what was there, as a bridge.
	const page = Math.max(1, rows - 1);
	const half = Math.ceil(page / 2);
	const steps: Partial<Record<Action, number>> = {
		...{ up: -1, down: 1, pageUp: -page, pageDown: page, halfUp: -half, halfDown: half },
		...{ top: Number.NEGATIVE_INFINITY, bottom: Number.POSITIVE_INFINITY },
	};
	return steps[action];
}

/** What a view is called. */
export function titled(title: string, style: Style): string {
	return style.bold(style.fg("toolTitle", title));
}
