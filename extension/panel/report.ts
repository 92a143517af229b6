/** Lines to read in the panel: what a command says, or the keys. */

import { unwaited } from "../host/guard.ts";
import { cached } from "../ui/component.ts";
import type { Style } from "../ui/style.ts";
import { type Hint, type PanelHost, scrolled, titled, type View } from "./view.ts";

export interface Page {
	title: string;
	lines(columns: number, style: Style): readonly string[];
}

/** `ask` gets the page anew. `startsAtEnd`: what is newest stands there. */
export function reportView(host: PanelHost, first: Page, ask?: () => Promise<Page>, startsAtEnd = false): View {
	const laidOut = cached((page: Page, columns: number, style: Style) => page.lines(columns, style));
	let page = first;
	let top = startsAtEnd ? Number.POSITIVE_INFINITY : 0;
	let height = 1;
	let isLong = false;
	return {
		head: () => titled(page.title, host.style),
		body(columns, rows) {
			const lines = laidOut(page, columns, host.style);
			height = rows;
			isLong = lines.length > rows;
			top = Math.max(0, Math.min(top, lines.length - rows));
			return lines.slice(top, top + rows);
		},
		hints() {
			const scroll: Hint = { action: "down", does: "scroll" };
			const again: Hint = { action: "again", does: "look again" };
			return [...(isLong ? [scroll] : []), ...(ask ? [again] : [])];
		},
		press(action) {
			const by = scrolled(action, height);
			if (by !== undefined) top = Math.max(0, top + by);
			else if (action === "again" && ask) {
				const shown = ask().then((fresh) => {
					page = fresh;
					host.changed();
				});
				unwaited("the panel", shown);
			} else return false;
			return true;
		},
	};
}
