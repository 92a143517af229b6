/** The tasks of a call: one line each, and in an expanded card what each has done below it. */

import { columnLine, FEWEST_COLUMNS, longest } from "../ui/columns.ts";
import { joinedWidth, type Pen, SEPARATOR } from "../ui/pen.ts";
import { gist } from "../ui/prose.ts";
import { brief, firstLine, oneLine, PREVIEW_CHARACTERS, plainText, widthOf } from "../ui/text.ts";
import { callText, counts, duration, isActive, isOver, usageWords } from "../ui/words.ts";
import { type Extent, INDENT } from "./frame.ts";
import { endLines, newsOf, workLines } from "./result.ts";
import { commonModel, silence, type TaskList, type TaskView } from "./tasks.ts";

/** Columns of an agent's name at most; also what a name may take in a narrow terminal is a share of it. */
const AGENT_COLUMNS = 16;
const AGENT_SHARE = 3;
/** A terminal narrower than this shows a state's word in the place of the time. */
const TIME_COLUMN_FROM = 34;
/** A narrower terminal shows the task only where there is nothing else to show, or where it tells tasks of one agent apart. */
const TASK_COLUMN_FROM = 90;
const APART_COLUMN_FROM = 44;
const TASK_SHARE = 4;
const TASK_COLUMNS = 32;
/** What is being done gets so much before figures of the run do. */
const ACTIVITY_COLUMNS = 24;

/** What stands below a row, which leaves it out: all that the task did, or why it failed. */
type Below = "nothing" | "work" | "error";

/** Lays out columns for these tasks. Returns what draws the row of one. */
function taskRows({ views, mode }: TaskList, pen: Pen): (view: TaskView, below?: Below) => string {
	const { width } = pen;
	const hasSteps = mode === "chain";
	// A name that is still arriving must not move what stands below the others.
	const whole = views.length > 1 && views[0]?.state === "planned" ? views.slice(0, -1) : views;
	const mostAgent = Math.min(AGENT_COLUMNS, Math.max(FEWEST_COLUMNS, Math.floor(width / AGENT_SHARE)));
	const agentColumns = longest(whole.map(agentName), mostAgent);
	const timeColumns = Math.max(0, ...views.map((view) => timeOf(view).length));
	const taskColumns = Math.min(TASK_COLUMNS, Math.floor(width / TASK_SHARE));
	const numberColumns = String(views.length).length;
	const names = namesOf(views);
	const agents = views.map(({ agent }) => agent);
	const hasModels = commonModel(views) === undefined;
	const current = hasSteps ? stepAt(views) : undefined;
	const isNarrow = width < TIME_COLUMN_FROM;
	return (view, below = "nothing") => {
		const { agent, model, mark } = view;
		const index = views.indexOf(view);
		const isRepeated = width >= APART_COLUMN_FROM && agents.indexOf(agent) !== agents.lastIndexOf(agent);
		const hasTask = below !== "work" && (width >= TASK_COLUMN_FROM || isRepeated);
		const arrow = view === current ? pen.fg("accent", "→ ") : "  ";
		const number = hasSteps ? pen.fg("muted", `${String(index + 1).padStart(numberColumns)} `) : "";
		const task = names[index] ?? "";
		const shown = { below, task: hasTask ? "" : task, model: hasModels && model ? oneLine(model) : "" };
		const rest = (inner: Pen) =>
			// Where there is room for nothing else, it is the state that is most worth saying.
			isNarrow ? coloredNote(view, pen) || pen.fg("muted", timeOf(view)) : details(view, shown, inner);
		const columns = [
			{ text: agentName(view), color: "accent", width: agentColumns },
			{ text: timeOf(view), color: "muted", width: isNarrow ? 0 : timeColumns, isRight: true },
			{ text: task, color: "muted", width: hasTask ? taskColumns : 0 },
		] as const;
		const lead = `${arrow}${number}${pen.fg(mark.color, mark.text)} `;
		return columnLine(lead, [...columns, (inner) => inner.clip(rest(inner))], pen);
	};
}

/** The step that a chain under way is at. */
function stepAt(views: readonly TaskView[]): TaskView | undefined {
	const step = views.find(({ state }) => !isOver(state));
	return step?.state === "planned" ? undefined : step;
}

/** The first line of each task; where those are alike, the words in which the tasks begin to differ. */
function namesOf(views: readonly TaskView[]): string[] {
	const tasks = views.map(({ task }) => task.slice(0, PREVIEW_CHARACTERS));
	const first = tasks.map(firstLine);
	if (new Set(first.map((line) => line.slice(0, TASK_COLUMNS / 2))).size === views.length) return first;
	const words = tasks.map((task) => oneLine(task).split(" "));
	const [some = []] = words;
	const differ = some.findIndex((word, at) => words.some((others) => others[at] !== word));
	return differ <= 1 ? first : words.map((others) => `… ${others.slice(differ).join(" ")}`);
}

/** What stands behind the columns; the activity is cut so that the rest has room. */
function details(view: TaskView, shown: { below: Below; task: string; model: string }, pen: Pen): string {
	const { below, task, model } = shown;
	const note = coloredNote(view, pen);
	const activity = below === "nothing" ? activityOf(view, task, pen) : "";
	// Why it failed is worth more than figures.
	const wish = Math.min(widthOf(activity), view.error === undefined ? ACTIVITY_COLUMNS : pen.width);
	const beside = pen.resized(pen.width - joinedWidth([note, " ".repeat(wish)]) - SEPARATOR.length);
	// The figures of a run that is over stand at the end of what stands below.
	const figures = below === "work" && view.result ? "" : fittingFigures(view, model, beside);
	const left = pen.width - joinedWidth([note, figures]) - (note === "" && figures === "" ? 0 : SEPARATOR.length);
	const fits = left >= Math.min(FEWEST_COLUMNS, widthOf(activity));
	return pen.joined([note, fits ? pen.resized(left).clip(activity) : "", figures]);
}

function coloredNote({ state, retry, mark, note }: TaskView, pen: Pen): string {
	return pen.fg(isOver(state) || retry ? mark.color : "muted", note);
}

/** What the task does, has come to or waits with, in one line. */
function activityOf(view: TaskView, task: string, pen: Pen): string {
	if (view.error !== undefined) return pen.fg("muted", brief(view.error));
	const said = gist(view.state === "completed" ? view.text : newsOf(view));
	if (said !== "" || view.state === "completed") return pen.fg("toolOutput", said);
	const call = view.items.findLast((item) => item.type === "toolCall");
	return call ? pen.call(callText(call.name, call.args)) : pen.fg("muted", task);
}

/** Silence and figures, the least telling left out first. */
function fittingFigures(view: TaskView, model: string, pen: Pen): string {
	const { turns = "", tokens = "", cost = "" } = view.usage ? usageWords([view.usage]) : {};
	for (const texts of [[turns, tokens, cost, model], [turns, tokens, cost], [turns, cost], [cost], []]) {
		const parts = [silence(view, "any", pen), ...texts.map((text) => pen.fg("dim", text))];
		if (joinedWidth(parts) <= pen.width) return pen.joined(parts);
	}
	return "";
}

function timeOf({ elapsedMs, state }: TaskView): string {
	return elapsedMs === undefined ? "" : duration(elapsedMs, !isOver(state));
}

function agentName({ agent }: TaskView): string {
	return brief(agent) || "…";
}

/** Tasks that a live card has lines for, whatever the terminal. */
const TASK_ROWS = 10;
/** What an error below its row is indented by, and what a task did. */
const ERROR_INDENT = 6;
const ERROR_LINES = 2;
const BLOCK_INDENT = 4;
/** With less room than this a task at work has its row only. */
const FEWEST_BLOCK_ROWS = 2;

/** One row per task, and a line for those that get none. An error that a row has no room for stands below it. */
export function listLines(list: TaskList, pen: Pen): string[] {
	const draw = taskRows(list, pen);
	const shown = chosen(list.views, TASK_ROWS);
	const rows = shown.flatMap((view) => {
		const row = draw(view);
		const error = oneLine(view.error ?? "");
		const isTrouble = view.result && view.state !== "aborted" && rank(view) === 1;
		if (!isTrouble || error === "" || plainText(row).includes(error)) return [row];
		return [draw(view, "error"), ...pen.indented(ERROR_INDENT, (inner) => inner.start(error, "muted", ERROR_LINES))];
	});
	return [...rows, ...hiddenLine(list, shown, pen)];
}

/** The tasks that get a row when not all do: what runs, what failed, what comes next, what is done; in input order. */
function chosen(views: readonly TaskView[], limit: number): TaskView[] {
	const first = new Set(views.toSorted((a, b) => rank(a) - rank(b)).slice(0, limit));
	return views.filter((view) => first.has(view));
}

function rank({ state }: TaskView): number {
	if (state === "completed" || state === "skipped") return 3;
	if (isActive(state)) return 0;
	return isOver(state) ? 1 : 2;
}

/** Says how many tasks have no row. */
function hiddenLine({ views }: TaskList, shown: readonly TaskView[], pen: Pen): string[] {
	const states = views.filter((view) => !shown.includes(view)).map(({ state }) => state);
	if (states.length === 0) return [];
	const hidden = counts(states).map(({ count, word }) => `${count} more ${word}`);
	return pen.indented(INDENT, (inner) => [inner.remark(hidden.join(", "))]);
}

/** While tasks run: in `room` lines their rows, and below those at work what they have done. */
export function liveBlocks(list: TaskList, room: number, pen: Pen): string[] {
	const { views } = list;
	const draw = taskRows(list, pen);
	// Where not all have a row, one line says so.
	const shown = chosen(views, Math.min(TASK_ROWS, views.length > TASK_ROWS ? room - 1 : room));
	const hidden = hiddenLine(list, shown, pen);
	const atWork = shown.filter(({ state }) => isActive(state));
	const share = Math.floor((room - shown.length - hidden.length) / Math.max(1, atWork.length));
	const lines = shown.flatMap((view) => {
		if (!isActive(view.state) || share < FEWEST_BLOCK_ROWS) return [draw(view)];
		return [draw(view, "work"), ...pen.indented(BLOCK_INDENT, (inner) => liveBlock(view, share, inner))];
	});
	return [...lines, ...hidden];
}

/** At most `room` lines of one task: what was asked, the newest calls, the end of what is being said. */
function liveBlock(view: TaskView, room: number, pen: Pen): string[] {
	const task = [pen.line(view.task, "muted")].filter((line) => line !== "");
	const text = Math.max(1, Math.floor(room / 4));
	// One line says how many calls came before.
	const calls = room - task.length - text - 1;
	return [...task, ...workLines(view, { calls, text, withWords: false }, pen)].slice(0, room);
}

/** When all is over: everything that is known of each task. */
export function finalBlocks(list: TaskList & Extent, pen: Pen): string[] {
	const draw = taskRows(list, pen);
	return list.views.flatMap((view) => {
		const block = pen.indented(BLOCK_INDENT, (inner) => finalBlock(view, list, inner));
		return [draw(view, "work"), ...block, ""];
	});
}

function finalBlock(view: TaskView, extent: Extent, pen: Pen): string[] {
	if (!view.result) return [];
	const failed = view.state !== "completed";
	const end = { failed, error: failed ? { message: view.error ?? "" } : undefined };
	return [...pen.paragraph(view.task, "muted"), ...endLines(view.result, end, extent, pen)];
}
