/** The panel's first view: the runs, and what is known of the chosen one. */

import { type BackgroundRun, isLive } from "../background/run.ts";
import { cached } from "../ui/component.ts";
import { figures, joined, paragraph, partLines, startOf } from "../ui/lines.ts";
import { fitCall } from "../ui/paths.ts";
import { compactProse, endOfProse } from "../ui/prose.ts";
import { headingLine, runColumns, runLine } from "../ui/run-line.ts";
import { markOf, nameOf, questionLine, stateOf } from "../ui/run-words.ts";
import { counts, isOver } from "../ui/states.ts";
import type { Color, Style } from "../ui/style.ts";
import { clip, indented, oneLine, PREVIEW_CHARACTERS, wrap } from "../ui/text.ts";
import type { RunActions } from "./actions.ts";
import type { PanelRuns } from "./runs.ts";
import { transcriptView } from "./transcript.ts";
import { type Hint, type PanelHost, rule, scrolled, titled, type View } from "./view.ts";

/** Fewer rows than this have no room for the names of the columns, or for the chosen run below the list. */
const HEADING_FROM_ROWS = 12;
const DETAIL_FROM_ROWS = 16;
/** What the list leaves to the chosen run, and what that takes at most. */
const DETAIL_ROWS = 8;
const MOST_DETAIL_ROWS = 16;
const TASK_LINES = 3;
const INDENT = 2;
const CHOSEN = "▸ ";
const OTHER = "  ";

export function listView(host: PanelHost, actions: RunActions): View {
	const { runs } = host;
	const columnsOf = cached((list: readonly BackgroundRun[], width: number) => runColumns(list, width, true));
	const details = cached(detailLines);
	const sumsOf = cached(sums);
	let chosen: string | undefined;
	let index = 0;
	let top = 0;
	let listRows = 1;
	const choose = (at: number) => {
		index = Math.max(0, at);
		chosen = runs.list[index]?.key;
	};
	/** The chosen run, wherever it stands now; when it is gone, the one in its place. */
	const current = () => {
		const at = runs.list.findIndex(({ key }) => key === chosen);
		choose(at >= 0 ? at : Math.min(index, runs.list.length - 1));
		return runs.list[index];
	};
	return {
		head(columns) {
			const { style } = host;
			const where = runs.isAll ? style.fg("warning", "all sessions") : "";
			return clip(joined([titled("Sub-agents", style), where, sumsOf(runs.list, style)], style), columns);
		},
		body(columns, rows) {
			const { list, unread } = runs;
			const { style } = host;
			const run = current();
			if (!run) return nothing(runs, columns, style).slice(0, rows);
			const heading = rows >= HEADING_FROM_ROWS ? 1 : 0;
			const wanted = rows >= DETAIL_FROM_ROWS ? DETAIL_ROWS : 0;
			listRows = Math.max(1, Math.min(list.length, rows - heading - wanted));
			top = Math.max(0, Math.min(top, list.length - listRows, index));
			top = Math.max(top, index - listRows + 1);
			const layout = columnsOf(list, columns - OTHER.length);
			const now = Date.now();
			const lines = list.slice(top, top + listRows).map((shown, offset) => {
				const place = { number: top + offset + 1, isChosen: top + offset === index };
				const lead = place.isChosen ? style.fg("accent", CHOSEN) : OTHER;
				return lead + runLine(shown, layout, style, { now, place, isUnread: unread.has(shown.key) });
			});
			if (heading) lines.unshift(OTHER + headingLine(layout, style));
			const room = wanted > 0 ? Math.min(MOST_DETAIL_ROWS, rows - lines.length) : 0;
			return room < 3 ? lines : [...lines, ...details(run, columns, room, style)];
		},
		hints() {
			const run = current();
			const all: Hint = { action: "all", does: runs.isAll ? "this session" : "all sessions" };
			return run ? [{ action: "open", does: "open" }, ...actions.hints(run), all] : [all];
		},
		press(action) {
			const by = scrolled(action, listRows);
			const run = current();
			if (by !== undefined) choose(Math.max(0, Math.min(runs.list.length - 1, index + by)));
			else if (action === "all") runs.toggleAll();
			else if (run && action === "open") host.open(transcriptView(host, actions, run));
			else return run !== undefined && actions.press(action, run);
			return true;
		},
		refresh: () => runs.ask(false),
	};
}

function nothing({ isAll, isComplete, problem }: PanelRuns, columns: number, style: Style): string[] {
	const said = (text: string, color: Color) => wrap(style.fg(color, text), columns, "  ");
	if (problem) return ["", ...said(`The runs cannot be listed: ${oneLine(problem)}`, "error")];
	if (!isComplete) return ["", ...said("Looking for runs …", "dim")];
	if (isAll) return ["", ...said("There are no background runs in any session.", "toolOutput")];
	return [
		"",
		...said("No background runs in this session.", "toolOutput"),
		"",
		...said("The model starts them with sessions_spawn. Ask for it in your own words:", "muted"),
		...said("“Look for dead code in the background, and tell me when you are done.”", "accent"),
	];
}

function sums(list: readonly BackgroundRun[], style: Style): string {
	const states = list.map(stateOf);
	const counted = [...counts(states.filter((state) => !isOver(state))), ...counts(states.filter(isOver))];
	const words = counted.map(({ count, word }) => style.fg("muted", `${count} ${word}`));
	const spent = list.map(({ usage }) => ({ ...usage, cacheRead: 0, cacheWrite: 0, turns: 0 }));
	return joined([...words, ...figures(spent, undefined, style)], style);
}

/** What was asked of the run, what it asks, what it does or has come to, what it has spent. */
function detailLines(run: BackgroundRun, columns: number, rows: number, style: Style): string[] {
	const width = columns - INDENT;
	const task = startOf(run.task, width, style, "muted", TASK_LINES);
	const asks = run.question ? [questionLine(run, width, style)] : [];
	const spent = partLines(figures(run.usage, run.model, style), width, style).slice(0, 2);
	const room = rows - 2 - task.length - asks.length - spent.length;
	const middle = room < 1 ? [] : isLive(run) ? liveLines(run, width, room, style) : endedLines(run, width, style);
	const shown = [...task, ...asks, ...middle.slice(0, room), ...spent];
	return ["", rule(nameOf(run), columns, style), ...indented(shown, INDENT)].slice(0, rows);
}

function liveLines({ lastTool, text = "" }: BackgroundRun, width: number, rows: number, style: Style): string[] {
	const lead = "→ ";
	const call = style.fg("toolOutput", clip(fitCall(oneLine(lastTool ?? ""), width - lead.length), width - lead.length));
	const calls = lastTool ? [style.fg("dim", lead) + call] : [];
	return rows > calls.length ? [...calls, ...endOfProse(text, width, style, rows - calls.length)] : calls;
}

function endedLines(run: BackgroundRun, width: number, style: Style): string[] {
	const { error = "", result, partial = "" } = run;
	const failure = error ? paragraph(error.slice(0, PREVIEW_CHARACTERS), width, style, markOf(run).color) : [];
	return [...failure, ...compactProse((result || partial).slice(0, PREVIEW_CHARACTERS), width, style)];
}
