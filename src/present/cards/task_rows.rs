//! The tasks of a call: one line each, and in an expanded card what each has done below it.

use super::tasks::{TaskView, common_model};
use super::work::{self, Failure, Room, call_spans, new_text};
use crate::present::counts::{counts, has_ended, is_active};
use crate::present::paint::{
    Cell, INDENT, Limit, PREVIEW_CHARS, Page, Part, Span, TableRow, Widths, beginning, brief, first_line,
    folded, gist, more_note, share,
};
use crate::present::usage_text;
use crate::run::Mode;
use pi_events::{DisplayItem, short_form};

/// Columns of an agent's name at most, and the share of a narrow terminal that it may take.
const AGENT_COLUMNS: usize = 16;
const AGENT_SHARE: usize = 3;
/// From this width on, half of a narrow terminal has room for a name and leaves room for a state.
const AGENT_HALF_FROM: usize = 26;
/// A time has fewer.
const TIME_COLUMNS: usize = 8;
/// A terminal narrower than this shows a state's word in the place of the time.
const TIME_FROM: usize = 34;
/// A narrower terminal shows the task only where there is nothing else to show, or where it tells tasks of one agent apart.
const TASK_FROM: usize = 90;
const TASK_FROM_IF_REPEATED: usize = 44;
/// From this width on, the other tasks of such a call show theirs, too, so that all rows have the same columns.
const TASK_FROM_NEXT_TO_REPEATED: usize = 72;
const TASK_SHARE: usize = 4;
const TASK_COLUMNS: usize = 32;
/// The same in a terminal that has room for it.
const WIDE_TASK_COLUMNS: usize = 60;
/// The number of columns that the current activity gets before the figures of the run get any.
const ACTIVITY_COLUMNS: usize = 24;
/// The reason of a failure has precedence over figures.
const ALL_COLUMNS: usize = 10_000;
/// An error that does not fit into its row is shown below it.
const ERROR_LINES: usize = 2;
/// The number of tasks with a row, in any terminal.
const TASK_ROWS: usize = 10;
const BLOCK_INDENT: usize = 4;
/// With less room than this, an active task has only its row.
const MIN_BLOCK_ROWS: usize = 2;

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

    /// Draws one row per task, and a line for the tasks without one.
    pub(super) fn draw(&self, page: &mut Page) {
        let shown = self.chosen(TASK_ROWS);
        let rows: Vec<TableRow> = shown.iter().map(|&index| self.row(page, index, false)).collect();
        let widths = Widths::of(&rows);
        for row in &rows {
            page.row(row, &widths);
        }
        self.draw_hidden(page, &shown);
    }

    /// Draws the rows of running tasks in `room` lines, and below the active ones their work.
    pub(super) fn draw_live(&self, page: &mut Page, room: usize) {
        // If not all have a row, one line says so.
        let max = if self.views.len() > TASK_ROWS { room.saturating_sub(1) } else { room };
        let shown = self.chosen(TASK_ROWS.min(max));
        let has_hidden = shown.len() < self.views.len();
        let at_work = shown.iter().filter(|&&index| is_active(self.views[index].state)).count();
        let share = room.saturating_sub(shown.len() + usize::from(has_hidden)) / at_work.max(1);
        let has_block = |index: usize| is_active(self.views[index].state) && share >= MIN_BLOCK_ROWS;
        let rows: Vec<TableRow> =
            shown.iter().map(|&index| self.row(page, index, has_block(index))).collect();
        let widths = Widths::of(&rows);
        for (&index, row) in shown.iter().zip(&rows) {
            page.row(row, &widths);
            if has_block(index) {
                page.indented(BLOCK_INDENT, |page| draw_live_block(page, &self.views[index], share));
            }
        }
        self.draw_hidden(page, &shown);
    }

    /// Draws all details of each task, once the call has ended.
    pub(super) fn draw_ended(&self, page: &mut Page) {
        let rows: Vec<TableRow> = (0..self.views.len()).map(|index| self.row(page, index, true)).collect();
        let widths = Widths::of(&rows);
        for (view, row) in self.views.iter().zip(&rows) {
            page.row(row, &widths);
            if let Some(result) = view.result {
                let failed = !view.is_completed();
                let failure = failed
                    .then(|| Failure { code: None, message: view.error.as_deref().unwrap_or_default() });
                page.indented(BLOCK_INDENT, |page| {
                    work::draw_task(page, view.task, true, Limit::None);
                    work::draw_ended(page, result, view.text, failed, failure, true);
                });
            }
            page.blank();
        }
    }

    /// The row of a task. If its work is shown below, the row omits it.
    fn row(&self, page: &Page, index: usize, has_work_below: bool) -> TableRow {
        let view = &self.views[index];
        let width = page.width();
        let arrow = if self.current() == Some(index) { "→ " } else { "  " };
        let mut lead = vec![Span::new("accent", arrow)];
        if self.mode == Mode::Chain {
            let digits = self.views.len().to_string().len();
            lead.push(Span::new("muted", format!("{:>digits$} ", index + 1)));
        }
        lead.push(Span::new(view.mark().color(), format!("{} ", view.mark().sign())));
        let is_repeated =
            |view: &TaskView| self.views.iter().filter(|other| other.agent == view.agent).count() > 1;
        let has_task = width
            >= match () {
                () if is_repeated(view) => TASK_FROM_IF_REPEATED,
                () if self.views.iter().any(is_repeated) => TASK_FROM_NEXT_TO_REPEATED,
                () => TASK_FROM,
            };
        let agent = brief(view.agent);
        let agent = if agent.is_empty() { "…".to_owned() } else { agent };
        // A name that is still arriving must not move the cells below.
        let is_growing = index > 0 && index + 1 == self.views.len() && self.views[0].state == "planned";
        let agent_share = if width >= AGENT_HALF_FROM { 2 } else { AGENT_SHARE };
        let agent_columns = if is_growing { 1 } else { share(width, agent_share, AGENT_COLUMNS) };
        let mut cells =
            vec![Cell { span: Span::new("accent", agent), max_columns: agent_columns, ..Cell::default() }];
        if width >= TIME_FROM {
            let span = Span::new("muted", view.time());
            cells.push(Cell { span, max_columns: TIME_COLUMNS, is_right: true, ..Cell::default() });
        }
        if has_task && !has_work_below {
            let span = Span::new("muted", &self.names[index]);
            let max_columns = share(width, TASK_SHARE, WIDE_TASK_COLUMNS);
            cells.push(Cell { span, max_columns, ..Cell::default() });
        }
        let parts = self.parts(width, view, (!has_task).then_some(&self.names[index]), has_work_below);
        TableRow { lead, cells, parts, ..TableRow::default() }
    }

    /// Returns the parts after the columns: the state, the activity and the usage of the task. `task` is its name, if that
    /// has no column of its own.
    fn parts(
        &self,
        width: usize,
        view: &TaskView<'a>,
        task: Option<&String>,
        has_work_below: bool,
    ) -> Vec<Part> {
        let note_color = if has_ended(view.state) || view.is_retried { view.mark().color() } else { "muted" };
        let mut parts = vec![Part::from(Span::new(note_color, view.note()))];
        let is_wide = width >= TIME_FROM;
        // If there is no room for more, the state is the most important part.
        if !is_wide && view.note().is_empty() {
            parts.push(Span::new("muted", view.time()).into());
        }
        if !has_work_below {
            let activity = activity(view);
            let is_task = activity.is_empty() && !view.is_completed();
            let task = || task.map(|task| Span::new("muted", task)).into_iter().collect();
            let has_failed = view.result.is_some() && view.state != "aborted" && rank(view) == 1;
            parts.push(Part {
                min_columns: Some(if view.error.is_some() { ALL_COLUMNS } else { ACTIVITY_COLUMNS }),
                below: (has_failed && view.error.is_some()).then_some(ERROR_LINES),
                from: TIME_FROM,
                ..Part::new(if is_task { task() } else { activity })
            });
        }
        // The figures of an ended run are at the end of the lower part.
        if !is_wide || (has_work_below && view.result.is_some()) {
            return parts;
        }
        parts.push(Part::from(view.silence(true)).ranked(1));
        let usage = view.usage.as_ref().map(usage_text).unwrap_or_default();
        let model = view.model.filter(|_| !self.has_one_model).map(folded);
        // The least telling goes first.
        for (rank, text) in [(3, usage.turns), (4, usage.tokens), (2, usage.cost), (5, model)] {
            parts.extend(text.map(|text| Part::from(Span::new("muted", text)).ranked(rank)));
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
    fn draw_hidden(&self, page: &mut Page, shown: &[usize]) {
        let states: Vec<&str> = (0..self.views.len())
            .filter(|index| !shown.contains(index))
            .map(|index| self.views[index].counted_state())
            .collect();
        let counted: Vec<String> = counts(&states, "more ").into_iter().map(|span| span.text).collect();
        if !states.is_empty() {
            page.indented(INDENT, |page| page.spans(more_note(counted.join(", "))));
        }
    }
}

/// The first line of each task; where those are alike, the words in which the tasks begin to differ.
fn names(views: &[TaskView]) -> Vec<String> {
    let first: Vec<String> = views.iter().map(|view| first_line(view.task)).collect();
    let half = TASK_COLUMNS / 2;
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
    if let Some(error) = &view.error {
        return vec![Span::new("muted", brief(error))];
    }
    let is_completed = view.is_completed();
    let latest = if is_completed { view.text } else { new_text(view.items, view.text) };
    let latest = gist(latest, !is_completed);
    if !latest.is_empty() {
        return vec![Span::new("toolOutput", latest)];
    }
    if is_completed {
        return Vec::new();
    }
    let call = view.items.iter().rev().find_map(|item| match item {
        DisplayItem::ToolCall { name, args, .. } => Some(short_form(name, args)),
        DisplayItem::Text { .. } => None,
    });
    call.map(|call| call_spans("muted", &call)).unwrap_or_default()
}

/// Draws at most `room` lines of one task: the task, the newest calls, the end of its text.
fn draw_live_block(page: &mut Page, view: &TaskView, room: usize) {
    work::draw_task(page, view.task, false, Limit::None);
    let text = (room / 4).max(1);
    // One line says how many calls came before.
    let calls = room.saturating_sub(usize::from(!work::is_blank(view.task)) + text + 1);
    work::draw_work(page, view.items, view.text, Room { calls, text, shows_texts: false });
}
