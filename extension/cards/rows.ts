/** One line per task: columns for what is compared, the rest as far as the terminal reaches. */

import { joined, joinedWidth, SEPARATOR } from "../ui/lines.ts";
import { gist, PREVIEW_CHARACTERS } from "../ui/prose.ts";
import { isOver } from "../ui/states.ts";
import type { Style } from "../ui/style.ts";
import { brief, cell, clip, firstLine, oneLine, widthOf } from "../ui/text.ts";
import { callLine } from "../ui/tool-calls.ts";
import { duration, usageWords } from "../ui/words.ts";
import { commonModel, markOf, silence, stateWords, type TaskView } from "./tasks.ts";
import { newsOf } from "./work.ts";

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
/** Fewer columns than this say nothing. */
const FEWEST_COLUMNS = 6;
const GAP = "  ";

/** Tasks in input order. Steps are numbered and come one after the other. */
export interface TaskList {
	views: readonly TaskView[];
	steps: boolean;
}

/** What stands below a row, which leaves it out: all that the task did, or why it failed. */
type Below = "nothing" | "work" | "error";
/** Draws the row of a task, by its place in the list. */
export type DrawRow = (index: number, below?: Below) => string;

/** Lays out columns for the rows of these tasks. */
export function taskRows({ views, steps }: TaskList, width: number, style: Style): DrawRow {
	// A name that is still arriving must not move what stands below the others.
	const whole = views.length > 1 && views[0]?.state === "planned" ? views.slice(0, -1) : views;
	const longest = Math.max(...whole.map(({ agent }) => widthOf(agentName(agent))), 1);
	const agentColumns = Math.min(longest, AGENT_COLUMNS, Math.max(FEWEST_COLUMNS, Math.floor(width / AGENT_SHARE)));
	const timeColumns = Math.max(0, ...views.map((view) => timeOf(view).length));
	const taskColumns = Math.min(TASK_COLUMNS, Math.floor(width / TASK_SHARE));
	const names = namesOf(views);
	const agents = views.map(({ agent }) => agent);
	const hasModels = commonModel(views) === undefined;
	const current = steps ? stepAt(views) : -1;
	const isNarrow = width < TIME_COLUMN_FROM;
	return (index, below = "nothing") => {
		const view = views[index];
		if (!view) return "";
		const { agent, model } = view;
		const isRepeated = width >= APART_COLUMN_FROM && agents.indexOf(agent) !== agents.lastIndexOf(agent);
		const hasTask = below !== "work" && (width >= TASK_COLUMN_FROM || isRepeated);
		const its = markOf(view);
		const task = names[index] ?? "";
		const row = [
			index === current ? style.fg("accent", "→ ") : GAP,
			steps ? style.fg("muted", `${`${index + 1}`.padStart(String(views.length).length)} `) : "",
			`${style.fg(its.color, its.text)} `,
			style.fg("accent", cell(agentName(agent), agentColumns)),
			timeColumns > 0 && !isNarrow ? style.fg("muted", GAP + timeOf(view).padStart(timeColumns)) : "",
			hasTask ? GAP + style.fg("muted", cell(task, taskColumns)) : "",
		].join("");
		const room = width - widthOf(row) - GAP.length;
		const shown = { below, task: hasTask ? "" : task, model: hasModels && model ? oneLine(model) : "" };
		// Where there is room for nothing else, it is the state that is most worth saying.
		const rest = isNarrow
			? coloredWords(view, style) || style.fg("muted", timeOf(view))
			: details(view, shown, room, style);
		return clip(rest === "" ? row : row + GAP + clip(rest, room), width).trimEnd();
	};
}

/** The step that a chain under way is at. */
function stepAt(views: readonly TaskView[]): number {
	const at = views.findIndex(({ state }) => !isOver(state));
	return views[at]?.state === "planned" ? -1 : at;
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
function details(
	view: TaskView,
	{ below, task, model }: { below: Below; task: string; model: string },
	room: number,
	style: Style,
): string {
	const words = coloredWords(view, style);
	const activity = below === "nothing" ? activityOf(view, task, room, style) : "";
	// Why it failed is worth more than figures.
	const wish = Math.min(widthOf(activity), view.error === undefined ? ACTIVITY_COLUMNS : room);
	const beside = room - joinedWidth([words, " ".repeat(wish)]) - SEPARATOR.length;
	// The figures of a run that is over stand at the end of what stands below.
	const figures = below === "work" && view.result ? "" : fittingFigures(view, model, beside, style);
	const left = room - joinedWidth([words, figures]) - (words === "" && figures === "" ? 0 : SEPARATOR.length);
	const fits = left >= Math.min(FEWEST_COLUMNS, widthOf(activity));
	return joined([words, fits ? clip(activity, left) : "", figures], style);
}

function coloredWords(view: TaskView, style: Style): string {
	const { color } = markOf(view);
	return style.fg(isOver(view.state) || view.retry ? color : "muted", stateWords(view) ?? "");
}

/** What the task does, has come to or waits with, in one line. */
function activityOf(view: TaskView, task: string, room: number, style: Style): string {
	if (view.error !== undefined) return style.fg("muted", brief(view.error));
	const said = gist(view.state === "completed" ? view.text : newsOf(view.items, view.text));
	if (said !== "" || view.state === "completed") return style.fg("toolOutput", said);
	const call = view.items.findLast((item) => item.type === "toolCall");
	return call?.type === "toolCall" ? callLine(call.name, call.args, room, style) : style.fg("muted", task);
}

/** Silence and figures, the least telling left out first. */
function fittingFigures(view: TaskView, model: string, room: number, style: Style): string {
	const { turns = "", tokens = "", cost = "" } = view.usage ? usageWords([view.usage]) : {};
	for (const texts of [[turns, tokens, cost, model], [turns, tokens, cost], [turns, cost], [cost], []]) {
		const parts = [silence(view, "any", style), ...texts.map((text) => style.fg("dim", text))];
		if (joinedWidth(parts) <= room) return joined(parts, style);
	}
	return "";
}

function timeOf({ elapsedMs, state }: TaskView): string {
	return elapsedMs === undefined ? "" : duration(elapsedMs, !isOver(state));
}

function agentName(agent: string): string {
	return brief(agent) || "…";
}
