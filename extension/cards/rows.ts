/** One line per task: columns for what is compared, the rest as far as the terminal reaches. */

import { joined, joinedWidth } from "../ui/lines.ts";
import { gist, PREVIEW_CHARACTERS } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { cell, clip, firstLine, oneLine, widthOf } from "../ui/text.ts";
import { callLine } from "../ui/tool-calls.ts";
import { duration, type Mark, markOfState, noteOfState, type Standing, usageWords } from "../ui/words.ts";
import { isOver } from "./states.ts";
import type { TaskView } from "./tasks.ts";
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
const CLIPPED_CHARACTERS = 400;
const GAP = "  ";
/** Between what is joined. */
const SEPARATOR_COLUMNS = 3;
/** A shorter silence is no news; one that is longer than the second may mean trouble. */
const SILENCE_SHOWN_MS = 2_000;
const SILENCE_ODD_MS = 10_000;

export interface RowLayout {
	width: number;
	numberColumns: number;
	agentColumns: number;
	timeColumns: number;
	taskColumns: number;
	/** What the tasks are called. */
	names: readonly string[];
	/** Agents with several tasks, and room for what tells these apart. */
	repeated: ReadonlySet<string>;
	/** Said once for all when it is the same for all. */
	withModel: boolean;
}

/** Columns for these rows; `numbered` for steps. */
export function rowLayout(views: readonly TaskView[], width: number, numbered: boolean): RowLayout {
	// A name that is still arriving must not move what stands below the others.
	const whole = views.length > 1 && views[0]?.state === "planned" ? views.slice(0, -1) : views;
	const longest = Math.max(...whole.map(({ agent }) => widthOf(agentName(agent))), 1);
	const agents = views.map(({ agent }) => agent);
	const repeated = agents.filter((agent, index) => agents.indexOf(agent) !== index);
	return {
		width,
		numberColumns: numbered ? String(views.length).length : 0,
		agentColumns: Math.min(longest, AGENT_COLUMNS, Math.max(FEWEST_COLUMNS, Math.floor(width / AGENT_SHARE))),
		timeColumns: Math.max(0, ...views.map((view) => timeOf(view).length)),
		taskColumns: Math.min(TASK_COLUMNS, Math.floor(width / TASK_SHARE)),
		names: namesOf(views),
		repeated: new Set(width < APART_COLUMN_FROM ? [] : repeated),
		withModel: commonModel(views) === undefined,
	};
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

/** The model of all that have one, when it is the same. */
export function commonModel(views: readonly TaskView[]): string | undefined {
	const models = new Set(views.flatMap(({ model }) => model ?? []));
	return models.size === 1 ? [...models][0] : undefined;
}

/** What a row leaves out because it stands below. */
export interface RowParts {
	/** All that the task did. */
	brief?: boolean;
	/** Why it failed. */
	errorBelow?: boolean;
}

/** The row of one task. `current`: it is the step that a chain is at. */
export function taskRow(
	view: TaskView,
	index: number,
	layout: RowLayout,
	current: boolean,
	parts: RowParts,
	style: Style,
): string {
	const { numberColumns, timeColumns, taskColumns, width } = layout;
	const narrow = width < TIME_COLUMN_FROM;
	const withTask = !parts.brief && (width >= TASK_COLUMN_FROM || layout.repeated.has(view.agent));
	const its = markOf(view);
	const task = layout.names[index] ?? "";
	const row = [
		current ? style.fg("accent", "→ ") : GAP,
		numberColumns > 0 ? style.fg("muted", `${`${index + 1}`.padStart(numberColumns)} `) : "",
		`${style.fg(its.color, its.text)} `,
		style.fg("accent", cell(agentName(view.agent), layout.agentColumns)),
		timeColumns > 0 && !narrow ? style.fg("muted", GAP + timeOf(view).padStart(timeColumns)) : "",
		withTask ? GAP + style.fg("muted", cell(task, taskColumns)) : "",
	].join("");
	const room = width - widthOf(row) - GAP.length;
	const rest = narrow ? shortest(view, style) : details(view, layout, withTask ? "" : task, parts, room, style);
	return clip(rest === "" ? row : row + GAP + clip(rest, room), width).trimEnd();
}

/** What is most worth saying where there is room for nothing else. */
function shortest(view: TaskView, style: Style): string {
	return coloredWords(view, style) || style.fg("muted", timeOf(view));
}

/** What stands behind the columns; the activity is cut so that the rest has room. */
function details(
	view: TaskView,
	layout: RowLayout,
	task: string,
	{ brief, errorBelow }: RowParts,
	room: number,
	style: Style,
): string {
	const words = coloredWords(view, style);
	const activity = brief || errorBelow ? "" : activityOf(view, task, room, style);
	// Why it failed is worth more than figures.
	const wish = Math.min(widthOf(activity), view.error === undefined ? ACTIVITY_COLUMNS : room);
	const beside = room - joinedWidth([words, " ".repeat(wish)]) - SEPARATOR_COLUMNS;
	// The figures of a run that is over stand at the end of what stands below.
	const figures = brief && view.result ? "" : fittingFigures(view, layout, beside, style);
	const left = room - joinedWidth([words, figures]) - (words === "" && figures === "" ? 0 : SEPARATOR_COLUMNS);
	const fits = left >= Math.min(FEWEST_COLUMNS, widthOf(activity));
	return joined([words, fits ? clip(activity, left) : "", figures], style);
}

export function markOf(view: TaskView): Mark {
	return markOfState(standingOf(view));
}

/** How a run ended, or what it waits for; nothing for one that works or has done what it should. */
export function stateWords(view: TaskView): string | undefined {
	return noteOfState(standingOf(view));
}

function standingOf({ state, result, position, heldForMs, attempt, retry }: TaskView): Standing {
	if (!result) return { state, position, heldForMs, attempt: isOver(state) ? undefined : attempt, retry };
	const { outcome, stopReason, signal, attempts } = result;
	return { state: outcome, stopReason, signal, attempt: attempts };
}

function coloredWords(view: TaskView, style: Style): string {
	const { color } = markOf(view);
	return style.fg(isOver(view.state) || view.retry ? color : "muted", stateWords(view) ?? "");
}

/** What the task does, has come to or waits with, in one line. */
function activityOf(view: TaskView, task: string, room: number, style: Style): string {
	if (view.error !== undefined) return style.fg("muted", oneLine(view.error.slice(0, CLIPPED_CHARACTERS)));
	const said = gist(view.state === "completed" ? view.text : newsOf(view.items, view.text));
	if (said !== "" || view.state === "completed") return style.fg("toolOutput", said);
	const call = view.items.findLast((item) => item.type === "toolCall");
	return call?.type === "toolCall" ? callLine(call.name, call.args, room, style) : style.fg("muted", task);
}

/** Silence and figures, the least telling left out first. */
function fittingFigures(view: TaskView, { withModel }: RowLayout, room: number, style: Style): string {
	const model = withModel && view.model ? oneLine(view.model) : undefined;
	const { turns = "", tokens = "", cost = "" } = view.usage ? usageWords([view.usage]) : {};
	for (const texts of [[turns, tokens, cost, model ?? ""], [turns, tokens, cost], [turns, cost], [cost], []]) {
		const parts = [silence(view, "any", style), ...texts.map((text) => style.fg("dim", text))];
		if (joinedWidth(parts) <= room) return joined(parts, style);
	}
	return "";
}

/** How long nothing has been heard of a child: `odd` when that may mean trouble. */
export function silence({ silentMs = 0 }: TaskView, which: "any" | "odd", style: Style): string {
	if (silentMs > SILENCE_ODD_MS) return style.fg("warning", `silent for ${duration(silentMs, true)}`);
	return which === "odd" || silentMs < SILENCE_SHOWN_MS ? "" : style.fg("dim", `${duration(silentMs, true)} ago`);
}

function timeOf({ elapsedMs, state }: TaskView): string {
	return elapsedMs === undefined ? "" : duration(elapsedMs, !isOver(state));
}

function agentName(agent: string): string {
	return oneLine(agent.slice(0, CLIPPED_CHARACTERS)) || "…";
}
