//! Runs below each other: the list of the panel, and the widget above the editor.

use super::columns::Columns;
use super::view::{ShownRun, UNREAD, short};
use crate::present::counts::{counts, has_ended};
use crate::present::drawing::{Drawing, Fit, Part, Row, Span};
use crate::present::usage_text;
use pi_events::Usage;

/// Characters of the name of a run that has ended, in the widget.
const NAME_CHARS: usize = 40;

/// The panel's list: its head, a line for each run below the names of the columns, and the details of the chosen run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunList {
    /// The number of runs in each state, and their usage.
    pub head: Vec<Span>,
    /// The names of the columns, then a line for each run.
    pub lines: Drawing,
}

/// Draws the panel's list.
#[must_use]
pub fn run_list(runs: &str, unread: &[String], chosen: Option<&str>, now_ms: i64) -> RunList {
    let runs: Vec<ShownRun> = read(runs);
    let states: Vec<_> = runs.iter().map(ShownRun::state).collect();
    let (ended, active): (Vec<_>, Vec<_>) = states.iter().copied().partition(|state| has_ended(state));
    let mut head: Vec<_> = [active, ended].iter().flat_map(|states| counts(states, "")).collect();
    for span in &mut head {
        span.color = Some("muted");
    }
    let mut total = Usage::default();
    for run in &runs {
        total.add(&Usage { cache_read: 0, cache_write: 0, turns: 0, ..run.usage.clone() });
    }
    let usage = usage_text(&total);
    head.extend([usage.tokens, usage.cost].into_iter().flatten().map(|text| Span::new("dim", text)));
    let columns = Columns::of(&runs, true);
    let digits = runs.len().to_string().len();
    let mut lines = vec![columns.heading(digits)];
    for (index, run) in runs.iter().enumerate() {
        let is_chosen = chosen == Some(run.key.as_str());
        let number = format!("{:>digits$} ", index + 1);
        let mut line = columns.line(index, run, unread.contains(&run.key), now_ms);
        if let Fit::Line { lead, cells, .. } = &mut line.fit {
            lead.push(Span::new("muted", number));
            cells[0].span.color = Some(if is_chosen { "accent" } else { "toolOutput" });
        }
        lines.push(line);
    }
    RunList { head, lines }
}

/// Draws the widget: a line for each run, the newest active ones first, then the ended ones; and a line that counts the others.
#[must_use]
pub fn run_widget(live: &str, unread: &str, max: usize, now_ms: i64) -> Drawing {
    let (live, unread): (Vec<ShownRun>, Vec<ShownRun>) = (read(live), read(unread));
    let working = &live[..max.min(live.len())];
    let columns = Columns::of(working, false);
    let mut rows: Drawing =
        working.iter().enumerate().map(|(index, run)| columns.line(index, run, false, now_ms)).collect();
    rows.extend(unread.iter().take(max - rows.len()).map(|run| {
        let mark = run.mark(now_ms);
        let color = run.color(now_ms);
        let name = vec![mark, Span::new("toolOutput", format!(" {}", short(&run.name(), NAME_CHARS)))];
        let parts = [Span::new(color, run.note(now_ms)), Span::new("muted", UNREAD)];
        Row::line([Part::new(name)].into_iter().chain(parts.map(Part::from)))
    }));
    let hidden = live.len() + unread.len() - rows.len();
    if hidden > 0 {
        rows.push(Row::line([Span::new("dim", format!("+{hidden} more · /subagents shows all"))]));
    }
    rows
}

/// Most of the time all of them can be read at once.
fn read(runs: &str) -> Vec<ShownRun> {
    serde_json::from_str(runs).unwrap_or_else(|_| {
        let runs: Vec<serde_json::Value> = serde_json::from_str(runs).unwrap_or_default();
        runs.into_iter().filter_map(|run| serde_json::from_value(run).ok()).collect()
    })
}
