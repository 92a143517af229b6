/** The panel's first view: the runs, and what is known of the chosen one. */

import type { BackgroundRun } from "../background/types.ts";
import {
	compactProse,
	endOfProse,
	PREVIEW_CHARACTERS,
	paragraph,
	partLines,
	SEPARATOR,
	startOf,
} from "../cards/lines.ts";
import { isOver, isTrouble, type ShownState } from "../cards/marks.ts";
import { totalUsage, usageParts } from "../ui/figures.ts";
import type { Key } from "../ui/keys.ts";
import { headingLine, isLive, markOf, nameOf, type RunColumns, runColumns, runLine, stateOf } from "../ui/run-line.ts";
import { clip, type Line, oneLine, type Span, wrap } from "../ui/spans.ts";
import type { PanelActions } from "./actions.ts";
import { rule } from "./frame.ts";
import type { PanelRuns } from "./runs.ts";
import { type Hint, type Size, scrolledBy, scrolling, titled, type View } from "./view.ts";

/** Fewer rows than this have no room for the names of the columns, or for the chosen run below the list. */
const HEADING_FROM_ROWS = 12;
const DETAIL_FROM_ROWS = 16;
/** What the list leaves to the chosen run, and what that takes at most. */
const DETAIL_ROWS = 8;
const MOST_DETAIL_ROWS = 16;
const TASK_LINES = 3;
const CHOSEN: Line = [{ text: "▸ ", color: "accent" }];
const OTHER: Line = [{ text: "  " }];

const COUNTED: readonly [word: string, of: (state: ShownState) => boolean][] = [
	["running", (state) => state === "running" || state === "starting" || state === "retrying"],
	["queued", (state) => state === "queued"],
	["done", (state) => state === "completed"],
	["failed", (state) => isTrouble(state) && state !== "budget" && state !== "interrupted"],
	["stopped", (state) => isOver(state) && (state === "budget" || state === "interrupted" || state === "aborted")],
];

export class ListView implements View {
	private readonly runs: PanelRuns;
	private readonly actions: PanelActions;
	private chosen: string | undefined;
	private index = 0;
	private top = 0;
	private listRows = 1;
	private columns: { of: readonly BackgroundRun[]; columns: RunColumns } | undefined;
	private detail: { of: BackgroundRun; size: string; lines: readonly Line[] } | undefined;
	private sums: { of: readonly BackgroundRun[]; parts: Span[] } | undefined;

	constructor(runs: PanelRuns, actions: PanelActions) {
		this.runs = runs;
		this.actions = actions;
	}

	head(columns: number): Line {
		const { list, isAll } = this.runs;
		if (this.sums?.of !== list) this.sums = { of: list, parts: sums(list) };
		const where: Span[] = isAll ? [SEPARATOR, { text: "all sessions", color: "warning" }] : [];
		const parts = this.sums.parts.flatMap((part) => [SEPARATOR, part]);
		return clip([titled("Sub-agents"), ...where, ...parts], columns);
	}

	body({ columns, rows }: Size): readonly Line[] {
		const { list } = this.runs;
		const run = this.current();
		if (!run) return this.nothing(columns).slice(0, rows);
		const heading = rows >= HEADING_FROM_ROWS ? 1 : 0;
		const wanted = rows >= DETAIL_FROM_ROWS ? DETAIL_ROWS : 0;
		this.listRows = Math.max(1, Math.min(list.length, rows - heading - wanted));
		this.top = Math.max(0, Math.min(this.top, list.length - this.listRows, this.index));
		this.top = Math.max(this.top, this.index - this.listRows + 1);
		const layout = this.layout(columns);
		const now = Date.now();
		const lines = list.slice(this.top, this.top + this.listRows).map((shown, offset) => {
			const index = this.top + offset;
			const isChosen = index === this.index;
			return runLine(shown, isChosen ? CHOSEN : OTHER, index + 1, layout, now, isChosen);
		});
		if (heading) lines.unshift(headingLine(OTHER, layout));
		const room = wanted > 0 ? Math.min(MOST_DETAIL_ROWS, rows - lines.length) : 0;
		return [...lines, ...this.details(run, columns, room)];
	}

	hints(): readonly Hint[] {
		const run = this.current();
		const all: Hint = { keys: "a", does: this.runs.isAll ? "this session" : "all sessions", rank: 6 };
		if (!run) return [all];
		return [{ keys: "↵", does: "open", rank: 1 }, ...this.actions.hints(run), all];
	}

	press(key: Key): boolean {
		const { list } = this.runs;
		const moves = scrolling(key);
		if (moves) {
			const by = scrolledBy(moves, this.listRows);
			const to = moves.end ? (moves.end === "top" ? 0 : list.length - 1) : this.index + by;
			this.choose(Math.max(0, Math.min(list.length - 1, to)));
			return true;
		}
		if (key.name === "a") {
			this.runs.toggleAll();
			return true;
		}
		const run = this.current();
		if (!run) return false;
		if (key.name === "enter" || key.name === "right") {
			this.actions.openTranscript(run);
			return true;
		}
		return this.actions.press(key, run);
	}

	refresh(): void {
		this.runs.ask(false);
	}

	/** The chosen run, wherever it stands now; when it is gone, the one in its place. */
	private current(): BackgroundRun | undefined {
		const { list } = this.runs;
		const at = list.findIndex(({ key }) => key === this.chosen);
		this.choose(at >= 0 ? at : Math.min(this.index, list.length - 1));
		return list[this.index];
	}

	private choose(index: number): void {
		this.index = Math.max(0, index);
		this.chosen = this.runs.list[this.index]?.key;
	}

	private layout(width: number): RunColumns {
		const { list } = this.runs;
		if (this.columns?.of !== list || this.columns.columns.width !== width) {
			const lead = 2;
			const columns = runColumns(list, width - lead, true);
			this.columns = { of: list, columns: { ...columns, width } };
		}
		return this.columns.columns;
	}

	private details(run: BackgroundRun, columns: number, rows: number): readonly Line[] {
		if (rows < 3) return [];
		const size = `${columns} ${rows}`;
		if (this.detail?.of !== run || this.detail.size !== size) {
			this.detail = { of: run, size, lines: detailLines(run, columns, rows) };
		}
		return this.detail.lines;
	}

	private nothing(columns: number): Line[] {
		const { isAll, isComplete, problem } = this.runs;
		const said = (text: string, color: Span["color"] = "muted") =>
			wrap([{ text, ...(color && { color }) }], Math.max(1, columns - 2)).map((line) => [{ text: "  " }, ...line]);
		if (problem) return [[], ...said(`The runs cannot be listed: ${oneLine(problem)}`, "error")];
		if (!isComplete) return [[], ...said("Looking for runs …", "dim")];
		if (isAll) return [[], ...said("There are no background runs in any session.", "toolOutput")];
		return [
			[],
			...said("No background runs in this session.", "toolOutput"),
			[],
			...said("The model starts them with sessions_spawn. Ask for it in your own words:"),
			...said("“Look for dead code in the background, and tell me when you are done.”", "accent"),
		];
	}
}

function sums(list: readonly BackgroundRun[]): Span[] {
	const states = list.map(stateOf);
	const counted = COUNTED.map(([word, of]) => [states.filter(of).length, word] as const).filter(([count]) => count > 0);
	const { cost, input, output } = totalUsage(list.map(({ usage }) => usage));
	const spent = usageParts({ input, output, cacheRead: 0, cacheWrite: 0, cost, turns: 0 }, undefined);
	return [
		...counted.map(([count, word]): Span => ({ text: `${count} ${word}`, color: "muted" })),
		...spent.map((text): Span => ({ text, color: "dim" })),
	];
}

/** What was asked of the run, what it does or has come to, what it has spent. */
function detailLines(run: BackgroundRun, width: number, rows: number): Line[] {
	const live = isLive(run);
	const task = startOf(run.task, width, "muted", TASK_LINES);
	const figures = usageParts(run.usage, run.model && oneLine(run.model));
	const spent = partLines(
		figures.map((text) => ({ text, color: "dim" })),
		width,
	).slice(0, 2);
	const room = rows - 2 - task.length - spent.length;
	const middle = room < 1 ? [] : live ? liveLines(run, width, room) : endedLines(run, width, room);
	return [[], rule(nameOf(run), width), ...task, ...middle, ...spent].slice(0, rows);
}

function liveLines({ lastTool, text = "" }: BackgroundRun, width: number, rows: number): Line[] {
	const call: Line[] = lastTool
		? [
				clip(
					[
						{ text: "  → ", color: "dim" },
						{ text: oneLine(lastTool), color: "toolOutput" },
					],
					width,
				),
			]
		: [];
	const room = rows - call.length;
	return room < 1 ? call : [...call, ...endOfProse(text, width, room)];
}

function endedLines(run: BackgroundRun, width: number, rows: number): Line[] {
	const { error, result, partial = "" } = run;
	const failure = error ? paragraph(error.slice(0, PREVIEW_CHARACTERS), width, markOf(run).color).slice(0, rows) : [];
	return [...failure, ...compactProse((result || partial).slice(0, PREVIEW_CHARACTERS), width)].slice(0, rows);
}
