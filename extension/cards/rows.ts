/** One line per task: columns for what is compared, the rest as far as the terminal reaches. */

import { duration, figuresOf } from "../ui/figures.ts";
import { markdown } from "../ui/markdown.ts";
import { clip, fitting, type Line, lineWidth, oneLine, type Span, unstyled } from "../ui/spans.ts";
import type { Color } from "../ui/style.ts";
import { shortForm } from "../ui/tool-calls.ts";
import { textWidth } from "../ui/width.ts";
import { newsOf, SEPARATOR } from "./lines.ts";
import { isOver, mark, outcomeWords, standingWords, WARNING } from "./marks.ts";
import type { TaskView } from "./tasks.ts";

/** Columns of an agent's name at most; also what a name may take in a narrow terminal is a share of it. */
const AGENT_COLUMNS = 16;
const AGENT_SHARE = 3;
/** A terminal narrower than this shows a state's word in the place of the time. */
const TIME_COLUMN_FROM = 34;
/** A terminal narrower than this shows the task only where there is nothing else to show. */
const TASK_COLUMN_FROM = 90;
const TASK_SHARE = 4;
const TASK_COLUMNS = 32;
/** What is being done gets so much before figures of the run do. */
const ACTIVITY_COLUMNS = 24;
/** Fewer columns than this say nothing. */
const FEWEST_COLUMNS = 6;
const CLIPPED_CHARACTERS = 400;
/** Blank lines, and those around code. */
const NOTHING_SAID = /^\s*(?:$|```|~~~)/;
const COLUMN_GAP = 2;
/** Between what is joined with a separator. */
const GAP = SEPARATOR.text.length;
/** A shorter silence is no news; one that is longer than the second may mean trouble. */
const SILENCE_SHOWN_MS = 2_000;
export const SILENCE_ODD_MS = 10_000;

export interface RowLayout {
	width: number;
	numberColumns: number;
	agentColumns: number;
	timeColumns: number;
	taskColumns: number;
	/** Said once for all when it is the same for all. */
	withModel: boolean;
}

/** Columns for these rows; `numbered` for steps. */
export function rowLayout(views: readonly TaskView[], width: number, numbered: boolean): RowLayout {
	// A name that is still arriving must not move what stands below the others.
	const names = views.length > 1 && views[0]?.state === "planned" ? views.slice(0, -1) : views;
	const longest = Math.max(...names.map(({ agent }) => textWidth(agentName(agent))), 1);
	const times = views.map((view) => textWidth(timeOf(view)));
	return {
		width,
		numberColumns: numbered ? String(views.length).length : 0,
		agentColumns: Math.min(longest, AGENT_COLUMNS, Math.max(FEWEST_COLUMNS, Math.floor(width / AGENT_SHARE))),
		timeColumns: Math.max(0, ...times),
		taskColumns: width < TASK_COLUMN_FROM ? 0 : Math.min(TASK_COLUMNS, Math.floor(width / TASK_SHARE)),
		withModel: commonModel(views) === undefined,
	};
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
export function taskRow(view: TaskView, index: number, layout: RowLayout, current: boolean, parts: RowParts): Line {
	const { numberColumns, timeColumns, width } = layout;
	const narrow = width < TIME_COLUMN_FROM;
	const row: Span[] = [current ? { text: "→ ", color: "accent" } : { text: "  " }];
	if (numberColumns > 0) row.push({ text: `${index + 1}`.padStart(numberColumns), color: "muted" }, { text: " " });
	const { text, color } = view.result?.stopReason === "length" ? WARNING : mark(view.state);
	row.push({ text: `${text} `, color }, cell(agentName(view.agent), layout.agentColumns, "accent"));
	if (timeColumns > 0 && !narrow) row.push({ text: `  ${timeOf(view).padStart(timeColumns)}`, color: "muted" });
	const task = oneLine(view.task.slice(0, CLIPPED_CHARACTERS));
	if (layout.taskColumns > 0 && !parts.brief) row.push({ text: "  " }, cell(task, layout.taskColumns, "muted"));
	const room = width - lineWidth(row) - COLUMN_GAP;
	const rest = narrow ? clip(shortest(view), room) : details(view, layout, task, parts, room);
	return clip(rest.length > 0 ? [...row, { text: " ".repeat(COLUMN_GAP) }, ...rest] : trimmed(row), width);
}

/** What is most worth saying where there is room for nothing else. */
function shortest(view: TaskView): Line {
	const words = stateWords(view);
	return words.length > 0 ? words : said(timeOf(view) || undefined, "muted");
}

/** What stands behind the columns; the activity is cut so that the rest has room. */
function details(view: TaskView, layout: RowLayout, task: string, parts: RowParts, room: number): Line {
	const { brief, errorBelow } = parts;
	const words = stateWords(view);
	const activity = brief || errorBelow ? [] : activityOf(view, layout.taskColumns > 0 ? "" : task);
	// Why it failed is worth more than figures.
	const wish = view.error === undefined ? Math.min(lineWidth(activity), ACTIVITY_COLUMNS) : lineWidth(activity);
	// The figures of a run that is over stand at the end of what stands below.
	const figures =
		brief && view.result
			? []
			: fittingFigures(view, layout, room - joinedWidth([words, [{ text: " ".repeat(wish) }]]) - GAP);
	const left = room - joinedWidth([words, figures]) - GAP;
	const fits = left >= Math.min(FEWEST_COLUMNS, lineWidth(activity));
	return joined([words, fits ? clip(activity, left) : [], figures]);
}

function stateWords(view: TaskView): Line {
	const { state, result } = view;
	const color = mark(state).color;
	if (result) return said(outcomeWords(result), color);
	return isOver(state) ? said(outcomeWords({ outcome: state }), color) : said(standingWords(state, view), "muted");
}

function said(text: string | undefined, color: Color): Line {
	return text === undefined ? [] : [{ text, color }];
}

/** What the task does, has come to or waits with, in one line. */
function activityOf(view: TaskView, task: string): Line {
	if (view.error !== undefined) return [{ text: oneLine(view.error.slice(0, CLIPPED_CHARACTERS)), color: "muted" }];
	if (view.state === "completed") return answerLine(view.text);
	const news = answerLine(newsOf(view.items, view.text));
	if (news.length > 0) return news;
	const call = view.items.findLast((item) => item.type === "toolCall");
	if (call?.type === "toolCall") return shortForm(call.name, call.args);
	return task === "" ? [] : [{ text: task, color: "muted" }];
}

/** The start of what is said, which stays as it is while more is added: its first words, a heading only without any. */
export function answerLine(answer: string): Line {
	const lines = markdown(answer.slice(0, CLIPPED_CHARACTERS)).filter(({ line }) => !NOTHING_SAID.test(unstyled(line)));
	const said = lines.filter(({ heading }) => !heading);
	return (said.length > 0 ? said : lines).flatMap(({ line }, index) => (index === 0 ? line : [{ text: " " }, ...line]));
}

/** Silence and figures, the least telling left out first. */
function fittingFigures(view: TaskView, { withModel }: RowLayout, room: number): Line {
	const silence = silenceSpan(view.silentMs);
	const { turns, tokens, cost, model } = view.usage
		? figuresOf(view.usage, withModel ? view.model && oneLine(view.model) : undefined)
		: {};
	const choices = [[turns, tokens, cost, model], [turns, tokens, cost], [turns, cost], [cost], []];
	for (const texts of choices) {
		const line = joined([silence ? [silence] : [], ...texts.map((text) => said(text, "dim"))]);
		if (lineWidth(line) <= room) return line;
	}
	return [];
}

/** How long nothing has been heard of a child. */
export function silenceSpan(silentMs: number): Span | undefined {
	if (silentMs > SILENCE_ODD_MS) return { text: `silent for ${duration(silentMs, true)}`, color: "warning" };
	if (silentMs < SILENCE_SHOWN_MS) return undefined;
	return { text: `${duration(silentMs, true)} ago`, color: "dim" };
}

function timeOf({ elapsedMs, state }: TaskView): string {
	if (elapsedMs === undefined) return "";
	return duration(elapsedMs, !isOver(state));
}

function agentName(agent: string): string {
	return oneLine(agent.slice(0, CLIPPED_CHARACTERS)) || "…";
}

/** Text cut or filled to exactly `columns`. */
export function cell(text: string, columns: number, color: Color): Span {
	const kept = textWidth(text) <= columns ? text : `${fitting(text, columns - 1)}…`;
	return { text: kept + " ".repeat(Math.max(0, columns - textWidth(kept))), color };
}

function trimmed(row: readonly Span[]): Line {
	const kept = row.findLastIndex(({ text }) => text.trim() !== "");
	return row.slice(0, kept + 1).map((span, index) => (index < kept ? span : { ...span, text: span.text.trimEnd() }));
}

function joinedWidth(parts: readonly Line[]): number {
	return lineWidth(joined(parts));
}

function joined(parts: readonly Line[]): Line {
	return parts
		.filter((part) => part.length > 0)
		.flatMap((part, index) => (index === 0 ? [...part] : [SEPARATOR, ...part]));
}
