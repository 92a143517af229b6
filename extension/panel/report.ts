/** A report in the panel: what a command says, or the keys. */

import type { Report } from "../commands/report.ts";
import { reportLines } from "../commands/show.ts";
import type { Key } from "../ui/keys.ts";
import { clip, type Line } from "../ui/spans.ts";
import { type Hint, type PanelHost, type Size, scrolledBy, scrolling, titled, type View } from "./view.ts";

export interface ReportOptions {
	/** What is newest stands at the end. */
	startsAtEnd?: boolean;
	/** It says the same every time. */
	isFixed?: boolean;
}

export class ReportView implements View {
	private readonly host: PanelHost;
	private readonly ask: () => Promise<Report>;
	private readonly options: ReportOptions;
	private report: Report = { title: "", lines: [] };
	private laidOut: { columns: number; lines: readonly Line[] } | undefined;
	private top = 0;
	private rows = 1;

	constructor(host: PanelHost, ask: () => Promise<Report>, options: ReportOptions = {}) {
		this.host = host;
		this.ask = ask;
		this.options = options;
	}

	/** Asks for the report, now or again. */
	async load(): Promise<void> {
		this.report = await this.ask();
		this.laidOut = undefined;
		if (this.options.startsAtEnd) this.top = Number.POSITIVE_INFINITY;
		this.host.changed();
	}

	head(columns: number): Line {
		return clip([titled(this.report.title)], columns);
	}

	body({ columns, rows }: Size): readonly Line[] {
		this.rows = rows;
		if (this.laidOut?.columns !== columns) {
			// Its title stands in the head.
			this.laidOut = { columns, lines: reportLines({ title: "", lines: this.report.lines }, columns).slice(2) };
		}
		const { lines } = this.laidOut;
		this.top = Math.max(0, Math.min(this.top, lines.length - rows));
		return lines.slice(this.top, this.top + rows);
	}

	hints(): readonly Hint[] {
		const hidden = this.laidOut ? this.laidOut.lines.length - this.rows : 0;
		const scroll: Hint[] = hidden > 0 ? [{ keys: "↑↓", does: "scroll", rank: 2 }] : [];
		return this.options.isFixed ? scroll : [...scroll, { keys: "u", does: "look again", rank: 3 }];
	}

	press(key: Key): boolean {
		const moves = scrolling(key);
		if (moves?.end) this.top = moves.end === "top" ? 0 : Number.POSITIVE_INFINITY;
		else if (moves) this.top = Math.max(0, this.top + scrolledBy(moves, this.rows));
		else if (key.name === "u" && !this.options.isFixed) void this.load();
		else return false;
		return true;
	}
}
