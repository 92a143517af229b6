/** Lines to read in the panel: what a command says, or the keys. */

import { clip } from "../ui/text.ts";
import type { Action } from "./keys.ts";
import { type Hint, type PanelHost, type Size, scrolled, type View } from "./view.ts";

export interface Page {
	title: string;
	lines(columns: number): readonly string[];
}

export class ReportView implements View {
	private readonly host: PanelHost;
	private readonly ask: (() => Promise<Page>) | undefined;
	private page: Page;
	private laidOut: { columns: number; lines: readonly string[] } = { columns: 0, lines: [] };
	private top: number;
	private rows = 1;

	/** `ask` gets it anew. `startsAtEnd`: what is newest stands there. */
	constructor(host: PanelHost, page: Page, ask?: () => Promise<Page>, startsAtEnd = false) {
		this.host = host;
		this.page = page;
		this.ask = ask;
		this.top = startsAtEnd ? Number.POSITIVE_INFINITY : 0;
	}

	head(columns: number): string {
		const { style } = this.host;
		return style.bold(style.fg("toolTitle", clip(this.page.title, columns)));
	}

	body({ columns, rows }: Size): readonly string[] {
		this.rows = rows;
		if (this.laidOut.columns !== columns) this.laidOut = { columns, lines: this.page.lines(columns) };
		const { lines } = this.laidOut;
		this.top = Math.max(0, Math.min(this.top, lines.length - rows));
		return lines.slice(this.top, this.top + rows);
	}

	hints(): readonly Hint[] {
		const scroll: Hint = { action: "down", does: "scroll", rank: 2 };
		const again: Hint = { action: "again", does: "look again", rank: 3 };
		return [...(this.laidOut.lines.length > this.rows ? [scroll] : []), ...(this.ask ? [again] : [])];
	}

	press(action: Action): boolean {
		const by = scrolled(action, this.rows);
		if (by !== undefined) this.top = Math.max(0, this.top + by);
		else if (action === "again" && this.ask) void this.ask().then((page) => this.show(page));
		else return false;
		return true;
	}

	invalidate(): void {
		this.laidOut = { columns: 0, lines: [] };
	}

	private show(page: Page): void {
		this.page = page;
		this.invalidate();
		this.host.changed();
	}
}
