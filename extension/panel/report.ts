/** Lines to read in the panel: what a command says, or the keys. */

import { unwaited } from "../host/guard.ts";
import { cached } from "../ui/component.ts";
import type { Style } from "../ui/style.ts";
import type { Action } from "./keys.ts";
import { type Hint, type PanelHost, scrolled, titled, type View } from "./view.ts";

export interface Page {
	title: string;
	lines(columns: number, style: Style): readonly string[];
}

export class ReportView implements View {
	private readonly host: PanelHost;
	private readonly ask: (() => Promise<Page>) | undefined;
	private page: Page;
	private readonly laidOut = cached((page: Page, columns: number, style: Style) => page.lines(columns, style));
	private top: number;
	private rows = 1;
	private isLong = false;

	/** `ask` gets it anew. `startsAtEnd`: what is newest stands there. */
	constructor(host: PanelHost, page: Page, ask?: () => Promise<Page>, startsAtEnd = false) {
		this.host = host;
		this.page = page;
		this.ask = ask;
		this.top = startsAtEnd ? Number.POSITIVE_INFINITY : 0;
	}

	head(): string {
		return titled(this.page.title, this.host.style);
	}

	body(columns: number, rows: number): readonly string[] {
		const lines = this.laidOut(this.page, columns, this.host.style);
		this.rows = rows;
		this.isLong = lines.length > rows;
		this.top = Math.max(0, Math.min(this.top, lines.length - rows));
		return lines.slice(this.top, this.top + rows);
	}

	hints(): readonly Hint[] {
		const scroll: Hint = { action: "down", does: "scroll" };
		const again: Hint = { action: "again", does: "look again" };
		return [...(this.isLong ? [scroll] : []), ...(this.ask ? [again] : [])];
	}

	press(action: Action): boolean {
		const by = scrolled(action, this.rows);
		if (by !== undefined) this.top = Math.max(0, this.top + by);
		else if (action === "again" && this.ask)
			unwaited(
				"the panel",
				this.ask().then((page) => this.show(page)),
			);
		else return false;
		return true;
	}

	private show(page: Page): void {
		this.page = page;
		this.host.changed();
	}
}
