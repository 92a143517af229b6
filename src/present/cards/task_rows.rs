//! The tasks of a call: one line each, and in an expanded card what each has done below it.

use super::stored::Item;
use super::tasks::{TaskView, common_model};
use super::work::{self, Failure, Room, call_spans, new_text};
use crate::present::counts::{counts, has_ended, is_active};
use crate::present::drawing::{
    Cell, Drawing, INDENT, PREVIEW_CHARS, Part, Row, Span, beginning, first_line, folded, gist, indented,
    more_note,
};
use crate::present::usage_text;
use crate::run::Mode;

/// Columns of an agent's name at most, and the share of a narrow terminal that it may take.
const AGENT_COLUMNS: u32 = 16;
const AGENT_SHARE: u32 = 3;
/// A time has fewer.
const TIME_COLUMNS: u32 = 8;
/// A terminal narrower than this shows a state's word in the place of the time.
const TIME_FROM: u32 = 34;
/// A narrower terminal shows the task only where there is nothing else to show, or where it tells tasks of one agent apart.
const TASK_FROM: u32 = 90;
const TASK_FROM_IF_REPEATED: u32 = 44;
const TASK_SHARE: u32 = 4;
const TASK_COLUMNS: u32 = 32;
/// The number of columns that the current activity gets before the figures of the run get any.
const ACTIVITY_COLUMNS: u32 = 24;
/// The reason of a failure has precedence over figures.
const ALL_COLUMNS: u32 = 10_000;
/// An error that does not fit into its row is shown below it.
const ERROR_LINES: u32 = 2;
/// The number of tasks with a row, in any terminal.
const TASK_ROWS: usize = 10;
const BLOCK_INDENT: u32 = 4;
/// With less room than this, an active task has only its row.
const MIN_BLOCK_ROWS: usize = 2;
/// The number of characters of a text that are read for one line.
const LINE_CHARS: usize = 400;

/// The tasks of a call in input order; the steps of a chain are numbered and come one after the other.
pub(super) struct TaskList<'a> {
    pub mode: Mode,
    pub views: Vec<TaskView<'a>>,
    /// The texts that distinguish the tasks.
    names: Vec<String>,
    /// True if all tasks have the same model. Otherwise each row shows its own.
    has_one_model: bool,
}

impl<'a> TaskList<'a> {
    pub(super) fn new(mode: Mode, views: Vec<TaskView<'a>>) -> Self {
        Self { mode, names: names(&views), has_one_model: common_model(&views).is_some(), views }
    }

    /// Returns one row per task, and a line for the tasks without one.
    pub(super) fn rows(&self) -> Drawing {
        let shown = self.chosen(TASK_ROWS);
        let rows = shown.iter().map(|&index| self.row(index, false));
        rows.chain(self.hidden(&shown)).collect()
    }

    /// Returns the rows of running tasks in `room` lines, and below the active ones their work.
    pub(super) fn live_blocks(&self, room: usize) -> Drawing {
        // If not all have a row, one line says so.
        let max = if self.views.len() > TASK_ROWS { room.saturating_sub(1) } else { room };
        let shown = self.chosen(TASK_ROWS.min(max));
        let hidden = self.hidden(&shown);
        let at_work = shown.iter().filter(|&&index| is_active(self.views[index].state)).count();
        let remaining = room.saturating_sub(shown.len() + usize::from(hidden.is_some()));
        let share = remaining / at_work.max(1);
        let mut rows = Drawing::new();
        for &index in &shown {
            let view = &self.views[index];
            let has_block = is_active(view.state) && share >= MIN_BLOCK_ROWS;
            rows.push(self.row(index, has_block));
            if has_block {
                rows.extend(indented(live_block(view, share), BLOCK_INDENT));
            }
        }
        rows.extend(hidden);
        rows
    }

    /// Returns all details of each task, once the call has ended.
    pub(super) fn final_blocks(&self) -> Drawing {
        let mut rows = Drawing::new();
        for (index, view) in self.views.iter().enumerate() {
            rows.push(self.row(index, true));
            if let Some(result) = view.result {
                let failed = !view.is_completed();
                let failure = failed.then(|| Failure { code: None, message: view.error.unwrap_or_default() });
                let mut block: Drawing = work::task(view.task, true).into_iter().collect();
                block.extend(work::ended(result, view.text, failed, failure, true));
                rows.extend(indented(block, BLOCK_INDENT));
            }
            rows.push(Row::blank());
        }
        rows
    }

    /// The row of a task. If its work is shown below, the row omits it.
    fn row(&self, index: usize, has_work_below: bool) -> Row {
        let view = &self.views[index];
        let arrow = if self.current() == Some(index) { "→ " } else { "  " };
        let mut lead = vec![Span::new("accent", arrow)];
        if self.mode == Mode::Chain {
            let digits = self.views.len().to_string().len();
            lead.push(Span::new("muted", format!("{:>digits$} ", index + 1)));
        }
        lead.push(Span::new(view.mark().color(), format!("{} ", view.mark().sign())));
        let is_repeated = self.views.iter().filter(|other| other.agent == view.agent).count() > 1;
        let task_from = if is_repeated { TASK_FROM_IF_REPEATED } else { TASK_FROM };
        let agent = folded(beginning(view.agent, LINE_CHARS));
        let agent = if agent.is_empty() { "…".to_owned() } else { agent };
        let mut cells = vec![
            Cell {
                span: Span::new("accent", agent),
                max_columns: AGENT_COLUMNS,
                share: Some(AGENT_SHARE),
                // A name that is still arriving must not move the cells below.
                is_growing: index > 0 && index + 1 == self.views.len() && self.views[0].state == "planned",
                ..Cell::default()
            },
            Cell {
                span: Span::new("muted", view.time()),
                max_columns: TIME_COLUMNS,
                from: Some(TIME_FROM),
                is_right: true,
                ..Cell::default()
            },
        ];
        if !has_work_below {
            cells.push(Cell {
                span: Span::new("muted", &self.names[index]),
                max_columns: TASK_COLUMNS,
                share: Some(TASK_SHARE),
                from: Some(task_from),
                ..Cell::default()
            });
        }
        let parts = self.details(view, &self.names[index], task_from, has_work_below);
        Row::columns(lead, cells, parts)
    }

    /// Returns the parts after the columns: the state, the activity and the usage of the task.
    fn details(&self, view: &TaskView<'a>, name: &str, task_from: u32, has_work_below: bool) -> Vec<Part> {
        let note_color = if has_ended(view.state) || view.is_retried { view.mark().color() } else { "muted" };
        let mut parts = vec![Part::from(Span::new(note_color, view.note()))];
        // If there is no room for more, the state is the most important part.
        if view.note().is_empty() {
            parts.push(Part { until: Some(TIME_FROM), ..Span::new("muted", view.time()).into() });
        }
        let wide = |part: Part| Part { from: Some(part.from.unwrap_or_default().max(TIME_FROM)), ..part };
        if !has_work_below {
            let activity = activity(view);
            let is_task = activity.is_empty() && !view.is_completed();
            let spans = if is_task { vec![Span::new("muted", name)] } else { activity };
            let has_failed = view.result.is_some() && view.state != "aborted" && rank(view) == 1;
            parts.push(wide(Part {
                min_columns: Some(if view.error.is_some() { ALL_COLUMNS } else { ACTIVITY_COLUMNS }),
                below: (has_failed && view.error.is_some()).then_some(ERROR_LINES),
                // The task has a column of its own from there on.
                until: is_task.then_some(task_from),
                ..Part::new(spans)
            }));
        }
        parts.push(wide(Part::from(view.silence(true)).ranked(1)));
        // The figures of an ended run are at the end of the lower part.
        if has_work_below && view.result.is_some() {
            return parts;
        }
        let usage = view.usage.as_ref().map(usage_text).unwrap_or_default();
        let model = view.model.filter(|_| !self.has_one_model).map(folded);
        // The least telling goes first.
        for (rank, text) in [(3, usage.turns), (4, usage.tokens), (2, usage.cost), (5, model)] {
            parts.extend(text.map(|text| wide(Part::from(Span::new("dim", text)).ranked(rank))));
        }
        parts
    }

    /// The step that a chain under way is at.
    fn current(&self) -> Option<usize> {
        let step = self.views.iter().position(|view| !has_ended(view.state))?;
        (self.mode == Mode::Chain && self.views[step].state != "planned").then_some(step)
    }

    /// Returns the tasks with a row if not all have one: running, failed, next, done; in input order.
    fn chosen(&self, limit: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.views.len()).collect();
        order.sort_by_key(|&index| rank(&self.views[index]));
        order.truncate(limit);
        order.sort_unstable();
        order
    }

    /// Says how many tasks have no row.
    fn hidden(&self, shown: &[usize]) -> Option<Row> {
        let states: Vec<&str> = (0..self.views.len())
            .filter(|index| !shown.contains(index))
            .map(|index| self.views[index].state)
            .collect();
        let counted: Vec<String> = counts(&states, "more ").into_iter().map(|span| span.text).collect();
        (!states.is_empty()).then(|| Row::spans(more_note(counted.join(", "))).indented(INDENT))
    }
}

/// The first line of each task; where those are alike, the words in which the tasks begin to differ.
fn names(views: &[TaskView]) -> Vec<String> {
    let first: Vec<String> = views.iter().map(|view| first_line(view.task)).collect();
    let half = TASK_COLUMNS as usize / 2;
    let mut starts: Vec<&str> = first.iter().map(|line| beginning(line, half)).collect();
    starts.sort_unstable();
    starts.dedup();
    if starts.len() == first.len() {
        return first;
    }
    let tasks: Vec<String> = views.iter().map(|view| folded(beginning(view.task, PREVIEW_CHARS))).collect();
    let split: Vec<Vec<&str>> = tasks.iter().map(|task| task.split(' ').collect()).collect();
    let Some(some) = split.first() else { return first };
    let differ = (0..some.len()).find(|&at| split.iter().any(|others| others.get(at) != some.get(at)));
    match differ {
        Some(differ @ 2..) => split
            .iter()
            .map(|others| format!("… {}", others.get(differ..).unwrap_or_default().join(" ")))
            .collect(),
        _ => first,
    }
}

fn rank(view: &TaskView) -> u32 {
    match view.state {
        "completed" | "skipped" => 3,
        state if is_active(state) => 0,
        state if has_ended(state) => 1,
        _ => 2,
    }
}

/// Returns the activity or the result of the task, on one line.
fn activity(view: &TaskView) -> Vec<Span> {
    if let Some(error) = view.error {
        return vec![Span::new("muted", folded(beginning(error, LINE_CHARS)))];
    }
    let latest = gist(if view.is_completed() { view.text } else { new_text(view.items, view.text) });
    if !latest.is_empty() {
        return vec![Span::new("toolOutput", latest)];
    }
    if view.is_completed() {
        return Vec::new();
    }
    let call = view.items.iter().rev().find_map(|item| match item {
        Item::Call(call) => Some(call),
        Item::Text(_) => None,
    });
    call.map(|call| call_spans(call)).unwrap_or_default()
}

/// Returns at most `room` lines of one task: the task, the newest calls, the end of its text.
fn live_block(view: &TaskView, room: usize) -> Drawing {
    let mut rows: Drawing = work::task(view.task, false).into_iter().collect();
    let text = (room / 4).max(1);
    // One line says how many calls came before.
    let calls = room.saturating_sub(rows.len() + text + 1);
    let text = u32::try_from(text).unwrap_or(u32::MAX);
    rows.extend(work::work(view.items, view.text, Room { calls, text, shows_texts: false }));
    rows
}
