/** The panel's first view: the runs, and what is known of the chosen one. */

import { type BackgroundRun, isLive } from "../background/run.ts";
import { cached } from "../ui/component.ts";
import type { Color, Pen } from "../ui/pen.ts";
import { compactProse, endOfProse } from "../ui/prose.ts";
import { runLines } from "../ui/run-line.ts";
import { markOf, nameOf, questionLine, stateOf } from "../ui/run-words.ts";
import { oneLine, PREVIEW_CHARACTERS } from "../ui/text.ts";
import { counts, isOver } from "../ui/words.ts";
import type { RunActions } from "./actions.ts";
import type { Hint } from "./foot.ts";
import type { PanelRuns } from "./runs.ts";
import { transcriptView } from "./transcript.ts";
import { callOf } from "./transcript-entry.ts";
import { type PanelHost, rule, scrolled, titled, type View } from "./view.ts";

/** Fewer rows than this have no room for the names of the columns, or for the chosen run below the list. */
const HEADING_FROM_ROWS = 12;
const DETAIL_FROM_ROWS = 16;
/** What the list leaves to the chosen run, and what that takes at most and at least. */
const DETAIL_ROWS = 8;
const MOST_DETAIL_ROWS = 16;
const FEWEST_DETAIL_ROWS = 3;
const TASK_LINES = 3;
const SPENT_LINES = 2;
const INDENT = 2;
const CHOSEN = "▸ ";
const OTHER = "  ";

export function listView(host: PanelHost, actions: RunActions): View {
	const { runs } = host;
	const linesOf = cached((list: readonly BackgroundRun[], pen: Pen) =>
		runLines(list, true, pen.resized(pen.width - OTHER.length)),
	);
	const details = cached(detailLines);
	const sumsOf = cached(sums);
	let chosen: string | undefined;
	let index = 0;
	let top = 0;
	let listRows = 1;
	const choose = (at: number) => {
		index = Math.max(0, Math.min(runs.list.length - 1, at));
		chosen = runs.list[index]?.key;
	};
	/** The chosen run, wherever it stands now; when it is gone, the one in its place. */
	const current = () => {
		const at = runs.list.findIndex(({ key }) => key === chosen);
		choose(at >= 0 ? at : index);
		return runs.list[index];
	};
	return {
		head(pen) {
			const where = runs.isAll ? pen.fg("warning", "all sessions") : "";
			return pen.clip(pen.joined([titled("Sub-agents", pen), where, sumsOf(runs.list, pen)]));
		},
		body(pen, rows) {
			const { list, unread } = runs;
			const run = current();
			if (!run) return nothing(runs, pen).slice(0, rows);
			const hasHeading = rows >= HEADING_FROM_ROWS;
			const wanted = rows >= DETAIL_FROM_ROWS ? DETAIL_ROWS : 0;
			listRows = Math.max(1, Math.min(list.length, rows - (hasHeading ? 1 : 0) - wanted));
			top = Math.max(0, Math.min(top, list.length - listRows, index));
			top = Math.max(top, index - listRows + 1);
			const { heading, lineOf } = linesOf(list, pen);
			const now = Date.now();
			const lines = list.slice(top, top + listRows).map((shown, offset) => {
				const isChosen = top + offset === index;
				const place = { number: top + offset + 1, isChosen };
				const lead = isChosen ? pen.fg("accent", CHOSEN) : OTHER;
				return lead + lineOf(shown, { now, place, isUnread: unread.has(shown.key) });
			});
			if (hasHeading) lines.unshift(OTHER + heading);
			const room = wanted > 0 ? Math.min(MOST_DETAIL_ROWS, rows - lines.length) : 0;
			return room < FEWEST_DETAIL_ROWS ? lines : [...lines, ...details(run, room, pen)];
		},
		hints() {
			const run = current();
			const all: Hint = ["all", runs.isAll ? "this session" : "all sessions"];
			return run ? [["open", "open"], ...actions.hints(run), all] : [all];
		},
		press(action) {
			const by = scrolled(action, listRows);
			const run = current();
			if (by !== undefined) choose(index + by);
			else if (action === "all") runs.toggleAll();
			else if (run && action === "open") host.open(transcriptView(host, actions, run));
			else return run !== undefined && actions.press(action, run);
			return true;
		},
		refresh: () => runs.ask(false),
	};
}

function nothing({ isAll, isComplete, problem }: PanelRuns, pen: Pen): string[] {
	const said = (text: string, color: Color) => ["", ...pen.wrap(pen.fg(color, text), "  ")];
	if (problem) return said(`The runs cannot be listed: ${oneLine(problem)}`, "error");
	if (!isComplete) return said("Looking for runs …", "dim");
	if (isAll) return said("There are no background runs in any session.", "toolOutput");
	return [
		...said("No background runs in this session.", "toolOutput"),
		...said("The model starts them with sessions_spawn. Ask for it in your own words:", "muted"),
		...said("“Look for dead code in the background, and tell me when you are done.”", "accent").slice(1),
	];
}

function sums(list: readonly BackgroundRun[], pen: Pen): string {
	const states = list.map(stateOf);
	const counted = [...counts(states.filter((state) => !isOver(state))), ...counts(states.filter(isOver))];
	const words = counted.map(({ count, word }) => pen.fg("muted", `${count} ${word}`));
	const spent = list.map(({ usage }) => ({ ...usage, cacheRead: 0, cacheWrite: 0, turns: 0 }));
	return pen.joined([...words, ...pen.figures(spent)]);
}

/** What was asked of the run, what it asks, what it does or has come to, what it has spent. */
function detailLines(run: BackgroundRun, rows: number, pen: Pen): string[] {
	const details = pen.indented(INDENT, (inner) => {
		const asked = [...inner.start(run.task, "muted", TASK_LINES), ...(run.question ? [questionLine(run, inner)] : [])];
		const spent = inner.rows(inner.figures(run.usage, run.model)).slice(0, SPENT_LINES);
		const room = rows - 2 - asked.length - spent.length;
		const middle = room < 1 ? [] : isLive(run) ? liveLines(run, room, inner) : endedLines(run, inner);
		return [...asked, ...middle.slice(0, room), ...spent];
	});
	return ["", rule(nameOf(run), pen), ...details].slice(0, rows);
}

function liveLines({ lastTool, text = "" }: BackgroundRun, rows: number, pen: Pen): string[] {
	const calls = lastTool ? [callOf(oneLine(lastTool), pen)] : [];
	return rows > calls.length ? [...calls, ...endOfProse(text, rows - calls.length, pen)] : calls;
}

function endedLines(run: BackgroundRun, pen: Pen): string[] {
	const { error = "", result, partial = "" } = run;
	const failure = error ? pen.paragraph(error.slice(0, PREVIEW_CHARACTERS), markOf(run).color) : [];
	return [...failure, ...compactProse((result || partial).slice(0, PREVIEW_CHARACTERS), pen)];
}
