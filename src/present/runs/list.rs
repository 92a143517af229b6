//! Runs below each other: the list of the panel, and the widget above the editor.

use super::columns::{Columns, activity};
use super::view::{ELSEWHERE, ShownRun, UNREAD, read_runs, short};
use crate::present::counts::{counts, has_ended};
use crate::present::paint::{Page, Part, Span, TableRow, Widths};
use crate::present::usage_text;
use pi_events::Usage;

/// Characters of the name of a run that has ended, in the widget.
const NAME_CHARS: usize = 40;

/// The mark of the chosen run, and the room that others leave for it.
const CHOSEN: &str = "▸ ";
const OTHER: &str = "  ";

/// The visible part of the list.
pub(in crate::present) struct ListView<'a> {
    /// The keys of the runs with unread results.
    pub unread: &'a [String],
    /// The keys of the runs of other sessions, among runs of this one.
    pub others: &'a [String],
    /// The position of the chosen run.
    pub chosen: usize,
    /// True if the names of the columns are above the list.
    pub has_heading: bool,
    /// The position of the first visible run.
    pub from: usize,
    /// The number of visible runs.
    pub rows: usize,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Draws the number of runs in each state, and their usage.
pub(in crate::present) fn draw_list_head(page: &mut Page, runs: &[ShownRun], is_all: bool) {
    let title = Span::new("toolTitle", "Sub-agents").bold();
    let scope = Span::new("warning", if is_all { "all sessions" } else { "" });
    let states: Vec<_> = runs.iter().map(ShownRun::state_or_outcome).collect();
    let (ended, active): (Vec<_>, Vec<_>) = states.iter().copied().partition(|state| has_ended(state));
    let counted = [active, ended].into_iter().flat_map(|states| counts(&states, ""));
    let counted = counted.map(|span| Span { color: Some("muted"), ..span });
    let mut total = Usage::default();
    for run in runs {
        total.add(&Usage { cache_read: 0, cache_write: 0, turns: 0, ..run.progress.usage.clone() });
    }
    let usage = usage_text(&total);
    let usage = [usage.tokens, usage.cost].into_iter().flatten().map(|text| Span::new("dim", text));
    page.line([title, scope].into_iter().chain(counted).chain(usage));
}

/// Draws the names of the columns, and a line for each visible run.
pub(in crate::present) fn draw_list(page: &mut Page, runs: &[ShownRun], view: &ListView) {
    let columns = Columns::of(runs, true, page.width().saturating_sub(CHOSEN.chars().count()));
    let digits = runs.len().to_string().len();
    let mut rows = vec![columns.heading(Span::new("dim", format!("{OTHER}  {:>digits$} ", "#")))];
    rows.extend(runs.iter().enumerate().map(|(index, run)| {
        let is_chosen = index == view.chosen;
        let color = if is_chosen { "accent" } else { "toolOutput" };
        let mut line = columns.line(index, run, color, view.now_ms);
        line.lead.insert(0, Span::new("accent", if is_chosen { CHOSEN } else { OTHER }));
        line.lead.push(Span::new("muted", format!("{:>digits$} ", index + 1)));
        line
    }));
    let widths = Widths::of(&rows);
    if view.has_heading {
        page.row(&rows[0], &widths);
    }
    let visible = runs.iter().zip(&mut rows[1..]).skip(view.from).take(view.rows);
    for (run, row) in visible {
        let note = match &run.key {
            key if view.unread.contains(key) => UNREAD,
            key if view.others.contains(key) => ELSEWHERE,
            _ => "",
        };
        row.parts.push(activity(run, note, view.now_ms));
        page.row(row, &widths);
    }
}

/// Draws the widget: a line for each run, the newest active ones first, then the ended ones; and a line that counts the others.
pub fn draw_widget(page: &mut Page, live: &str, unread: &str, max: usize, now_ms: i64) {
    let (live, unread) = (read_runs(live), read_runs(unread));
    let working = &live[..max.min(live.len())];
    let columns = Columns::of(working, false, page.width());
    let row = |(index, run)| {
        let parts = vec![activity(run, "", now_ms)];
        TableRow { parts, ..columns.line(index, run, "accent", now_ms) }
    };
    let rows: Vec<TableRow> = working.iter().enumerate().map(row).collect();
    let widths = Widths::of(&rows);
    for row in &rows {
        page.row(row, &widths);
    }
    let waiting = &unread[..unread.len().min(max - rows.len())];
    for run in waiting {
        let mark = run.mark(now_ms);
        let name = vec![mark, Span::new("toolOutput", format!(" {}", short(&run.name(), NAME_CHARS)))];
        let parts = [Span::new(run.color(now_ms), run.note(now_ms)), Span::new("muted", UNREAD)];
        page.line([Part::new(name)].into_iter().chain(parts.map(Part::from)));
    }
    let hidden = live.len() + unread.len() - working.len() - waiting.len();
    if hidden > 0 {
        page.line([Span::new("dim", format!("+{hidden} more · /subagents shows all"))]);
    }
}
