/** A page of text in the panel: a command's report, or the keys. */

import { reportFailure } from "../host/guard.ts";
import { cached } from "../ui/component.ts";
import type { Pen } from "../ui/pen.ts";
import type { Hint } from "./foot.ts";
import { type PanelHost, scrolled, titled, type View } from "./view.ts";

export interface Page {
	title: string;
	draw(pen: Pen): readonly string[];
}

/**
 * Returns a view of a page. `ask` reloads the page. `startsAtEnd` shows the end first, for pages with the newest lines
 * there.
 */
export function reportView(host: PanelHost, first: Page, ask?: () => Promise<Page>, startsAtEnd = false): View {
	const laidOut = cached((page: Page, pen: Pen) => page.draw(pen));
	let page = first;
	let top = startsAtEnd ? Number.POSITIVE_INFINITY : 0;
	let height = 1;
	let isLong = false;
	const again = async (asked: () => Promise<Page>) => {
		page = await asked();
		host.changed();
	};
	return {
		head: (pen) => titled(page.title, pen),
		body(pen, rows) {
			const lines = laidOut(page, pen);
			height = rows;
			isLong = lines.length > rows;
			top = Math.max(0, Math.min(top, lines.length - rows));
			return lines.slice(top, top + rows);
		},
		hints: (): Hint[] => [
			...(isLong ? [["down", "scroll"] as const] : []),
			...(ask ? [["again", "refresh"] as const] : []),
		],
		press(action) {
			const by = scrolled(action, height);
			if (by !== undefined) top = Math.max(0, top + by);
			else if (action === "again" && ask) reportFailure("the panel", again(ask));
			else return false;
			return true;
		},
	};
}
