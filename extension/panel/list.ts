/** The panel's first view: the list of runs, and the details of the chosen run. */

import { isLive, type RunRecord } from "../background/run.ts";
import type { Native } from "../host/native.ts";
import { cached } from "../ui/component.ts";
import type { Pen } from "../ui/pen.ts";
import type { RunActions } from "./actions.ts";
import type { Hint } from "./foot.ts";
import type { PanelRuns } from "./runs.ts";
import { transcriptView } from "./transcript.ts";
import { drawingOf, drawRun, type PanelHost, rule, scrolled, type View } from "./view.ts";

/** The minimum heights for the column names and for the details below the list. */
const HEADING_FROM_ROWS = 12;
const DETAIL_FROM_ROWS = 16;
/** The rows that the list leaves free for the details, and the maximum and minimum height of the details. */
const DETAIL_ROWS = 8;
const MAX_DETAIL_ROWS = 16;
const MIN_DETAIL_ROWS = 3;
const USAGE_LINES = 2;
/** The number of characters of a text that are passed on for one line: its start, or the end of a text that grows. */
const MAX_CHARACTERS = 2_000;

export function listView(host: PanelHost, actions: RunActions): View {
	const { runs } = host;
	const listOf = cached((native: Native, list: readonly RunRecord[]) => {
		return new native.RunList(JSON.stringify(list.map(brief)));
	});
	let chosen: string | undefined;
	let index = 0;
	let top = 0;
	let listRows = 1;
	const choose = (at: number) => {
		index = Math.max(0, Math.min(runs.list.length - 1, at));
		chosen = runs.list[index]?.key;
	};
	/** Selects the chosen run at its current position. If the run no longer exists, selects the run in its place. */
	const current = () => {
		const at = runs.list.findIndex(({ key }) => key === chosen);
		choose(at >= 0 ? at : index);
		return runs.list[index];
	};
	return {
		head(pen) {
			const lines = pen.drawn((native, ...on) => listOf(native, runs.list).head(...on, runs.isAll));
			return lines?.join("") ?? "";
		},
		body(pen, rows) {
			const { list } = runs;
			const run = current();
			if (!run) return nothing(runs, pen).slice(0, rows);
			const hasHeading = rows >= HEADING_FROM_ROWS;
			const wanted = rows >= DETAIL_FROM_ROWS ? DETAIL_ROWS : 0;
			listRows = Math.max(1, Math.min(list.length, rows - (hasHeading ? 1 : 0) - wanted));
			top = Math.max(0, Math.min(top, list.length - listRows, index));
			top = Math.max(top, index - listRows + 1);
			const view = { unread: [...runs.unread], chosen: index, hasHeading, from: top, rows: listRows };
			const lines =
				pen.drawn((native, ...on) => listOf(native, list).draw(...on, { ...view, nowMs: Date.now() })) ?? [];
			const room = wanted > 0 ? Math.min(MAX_DETAIL_ROWS, rows - lines.length) : 0;
			return room < MIN_DETAIL_ROWS ? lines : [...lines, ...detailLines(run, room, pen)];
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

/** Returns a run with shortened texts. Results are long, and all runs are passed to the addon for each frame. */
function brief({ task, result, partial, text, ...run }: RunRecord) {
	// Half a surrogate pair would make the JSON unreadable for the addon.
	const start = (value: string | undefined) => value?.slice(0, MAX_CHARACTERS).toWellFormed();
	const end = text?.slice(-MAX_CHARACTERS).toWellFormed();
	return { ...run, task: start(task), result: start(result), partial: start(partial), text: end };
}

function nothing({ isAll, isComplete, problem }: PanelRuns, pen: Pen): string[] {
	return pen.drawn((native, ...on) => native.drawEmptyList(...on, isAll, isComplete, problem)) ?? [];
}

/** Returns the details of a run: its task, its question, its activity or result, and its usage. */
function detailLines(run: RunRecord, rows: number, pen: Pen): string[] {
	const task = drawRun(run, "task", pen);
	const usage = drawRun(run, "usage", pen).slice(0, USAGE_LINES);
	const room = Math.max(0, rows - 2 - task.length - usage.length);
	const lines = drawRun(run, "latest", pen);
	// For running text, the end matters most.
	const middle = isLive(run) ? lines.slice(Math.max(0, lines.length - room)) : lines.slice(0, room);
	return ["", rule(drawingOf(run)?.name ?? "", pen), ...task, ...middle, ...usage].slice(0, rows);
}
