//! Runs below each other: the list of the panel, and the widget above the editor.

use super::columns::Columns;
use super::view::{ELSEWHERE, ShownRun, UNREAD, read_runs};
use super::workflow::{is_of, widget_activity, workflow_activity, workflow_texts};
use crate::present::ShownWorkflow;
use crate::present::counts::{counts, has_ended};
use crate::present::paint::{Page, Part, Span, TableRow, Widths, clipped};
use crate::present::usage_text;
use pi_events::Usage;

/// A narrower page shows no title.
const TITLE_FROM: usize = 34;
/// The maximum columns of the name of a run that has ended, in the widget.
const NAME_COLUMNS: usize = 40;
/// The command that opens the panel, in the widget. A row has it if this many columns remain for the activity and a gap.
/// Otherwise it has a line of its own.
const COMMAND: &str = "/subagents";
const ACTIVITY_COLUMNS: usize = 34;

/// The marks of a workflow, in the place of a number: its runs are hidden, or follow.
const FOLDED: &str = "+";
const UNFOLDED: &str = "-";
/// The mark of the chosen row, and the room that others leave for it.
const CHOSEN: &str = "▸ ";
const OTHER: &str = "  ";

/// The visible part of the list.
pub(crate) struct ListView<'a> {
    /// The keys of the runs with unread results.
    pub unread: &'a [String],
    /// The keys of the runs of other sessions, among runs of this one.
    pub others: &'a [String],
    /// The position of the chosen row.
    pub chosen: usize,
    /// True if the names of the columns are above the list.
    pub has_heading: bool,
    /// The position of the first visible row.
    pub from: usize,
    /// The number of visible rows.
    pub rows: usize,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A row of the panel's list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListRow<'a> {
    /// A workflow, whose runs follow unless it is folded.
    Workflow {
        workflow: &'a ShownWorkflow,
        /// None if it has no runs.
        is_folded: Option<bool>,
        /// Its run that waits for the answer to a question.
        asking: Option<&'a ShownRun>,
    },
    Run {
        run: &'a ShownRun,
        /// Its number, as commands take it. The list of runs may lack a run of a workflow.
        number: Option<usize>,
        /// True for a run below its workflow.
        is_nested: bool,
    },
}

/// Draws the number of runs in each state, and their usage.
pub(crate) fn draw_list_head(page: &mut Page, runs: &[&ShownRun], is_all: bool) {
    // A narrow page has room for the counts instead.
    let title = Part { from: TITLE_FROM, ..Span::new("toolTitle", "Sub-agents").bold().into() };
    let scope = Span::new("warning", if is_all { "all sessions" } else { "" });
    let states: Vec<_> = runs.iter().map(|run| run.state_or_outcome()).collect();
    let (ended, active): (Vec<_>, Vec<_>) = states.iter().copied().partition(|state| has_ended(state));
    let counted = [active, ended].into_iter().flat_map(|states| counts(&states, ""));
    let counted = counted.map(|span| {
        let is_bad = matches!(span.color, Some("error" | "warning"));
        let is_live = span.text.ends_with("running");
        // Good news gives way to bad news.
        let rank = if span.text.ends_with("completed") { 2 } else { u32::from(!is_bad && !is_live) };
        Part::from(Span { color: Some("muted"), ..span }).ranked(rank)
    });
    let mut total = Usage::default();
    for run in runs {
        total.add(&Usage { cache_read: 0, cache_write: 0, turns: 0, ..run.progress.usage.clone() });
    }
    let usage = usage_text(&total);
    let usage = [usage.tokens, usage.cost].into_iter().flatten().zip([4, 3]);
    let usage = usage.map(|(text, rank)| Part::from(Span::new("muted", text)).ranked(rank));
    page.line([title, scope.into()].into_iter().chain(counted).chain(usage));
}

/// Draws the names of the columns, and a line for each visible row.
pub(crate) fn draw_list(page: &mut Page, rows: &[ListRow], view: &ListView) {
    let texts = |row: &ListRow| match row {
        ListRow::Workflow { workflow, asking, .. } => workflow_texts(workflow, asking.is_some()),
        ListRow::Run { run, is_nested, .. } => run.texts(*is_nested, view.now_ms),
    };
    let texts: Vec<_> = rows.iter().map(texts).collect();
    let columns = Columns::of(&texts, true, page.width().saturating_sub(CHOSEN.chars().count()));
    let number = |row: &ListRow| match row {
        ListRow::Workflow { is_folded, .. } => {
            is_folded.map_or("", |is_folded| if is_folded { FOLDED } else { UNFOLDED }).to_owned()
        }
        ListRow::Run { number, .. } => number.map(|number| number.to_string()).unwrap_or_default(),
    };
    let digits = rows.iter().map(|row| number(row).len()).max().unwrap_or_default();
    let mut lines = vec![columns.heading(Span::new("dim", format!("{OTHER}  {:>digits$} ", "#")))];
    lines.extend(rows.iter().enumerate().map(|(index, row)| {
        let is_chosen = index == view.chosen;
        let mut line = columns.line(index, &texts[index], if is_chosen { "accent" } else { "toolOutput" });
        line.lead.insert(0, Span::new("accent", if is_chosen { CHOSEN } else { OTHER }));
        line.lead.push(Span::new("muted", format!("{:>digits$} ", number(row))));
        line
    }));
    let widths = Widths::of(&lines);
    if view.has_heading {
        page.row(&lines[0], &widths);
    }
    let visible = rows.iter().zip(&mut lines[1..]).skip(view.from).take(view.rows);
    for (row, line) in visible {
        let activity = match row {
            ListRow::Workflow { workflow, .. } => workflow_activity(workflow),
            ListRow::Run { run, is_nested, .. } => {
                let note = match &run.key {
                    key if view.unread.contains(key) => UNREAD,
                    key if view.others.contains(key) && !is_nested => ELSEWHERE,
                    _ => "",
                };
                run.activity(note, *is_nested, view.now_ms)
            }
        };
        line.parts.push(columns.activity_part(activity));
        page.row(line, &widths);
    }
}

/// Draws the widget: a line for each running workflow, which stands for its runs, and for each other run, the newest active ones first,
/// then the ended ones; and a line that counts the others.
pub fn draw_widget(page: &mut Page, live: &str, unread: &str, workflows: &str, max: usize, now_ms: i64) {
    let (mut live, unread) = (read_runs(live), read_runs(unread));
    let workflows: Vec<ShownWorkflow> = serde_json::from_str(workflows).unwrap_or_default();
    let shown = &workflows[..max.min(workflows.len())];
    let rows =
        shown.iter().map(|workflow| (workflow_texts(workflow, false), widget_activity(workflow, &live)));
    let (mut texts, mut activities): (Vec<_>, Vec<_>) = rows.unzip();
    live.retain(|run| workflows.iter().all(|workflow| !is_of(run, workflow)));
    let working = &live[..(max - shown.len()).min(live.len())];
    texts.extend(working.iter().map(|run| run.texts(false, now_ms)));
    activities.extend(working.iter().map(|run| run.activity("", false, now_ms)));
    let columns = Columns::of(&texts, false, page.width());
    let row = |(index, activity)| {
        let parts = vec![columns.activity_part(activity)];
        TableRow { parts, ..columns.line(index, &texts[index], "accent") }
    };
    let mut rows: Vec<TableRow> = activities.into_iter().enumerate().map(row).collect();
    let widths = Widths::of(&rows);
    let hidden =
        workflows.len() + live.len() + unread.len() - rows.len() - unread.len().min(max - rows.len());
    let room = rows.first().map(|row| page.room(row, &widths));
    let has_line = hidden > 0 || room.is_some_and(|room| room < ACTIVITY_COLUMNS + COMMAND.len());
    let hint = Span::new("muted", if has_line { "" } else { COMMAND });
    if let Some(first) = rows.first_mut() {
        first.aside = hint.clone();
    }
    for row in &rows {
        page.row(row, &widths);
    }
    let waiting = &unread[..unread.len().min(max - rows.len())];
    for (index, run) in waiting.iter().enumerate() {
        let mark = run.mark(now_ms);
        let name = vec![mark, Span::new("toolOutput", format!(" {}", clipped(&run.name(), NAME_COLUMNS)))];
        let parts = [Span::new(run.color(now_ms), run.note(now_ms)), Span::new("muted", UNREAD)];
        let hint = if rows.is_empty() && index == 0 { hint.clone() } else { Span::default() };
        let hint = Part::from(hint).ranked(1);
        page.line([Part::new(name)].into_iter().chain(parts.map(Part::from)).chain([hint]));
    }
    if hidden > 0 {
        page.line([Span::new("muted", format!("+{hidden} more · {COMMAND} shows all"))]);
    } else if has_line {
        page.line([Span::new("muted", COMMAND)]);
    }
}
