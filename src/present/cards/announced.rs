//! The message that tells a conversation how its background runs ended, as it is drawn.

use std::time::Duration;

use serde::Deserialize;

use super::stored::read;
use super::work::{ANSWER_LINES, PARTIAL_LINES, answer, path_row, usage_row};
use crate::present::announcement::AnnouncedRun;
use crate::present::drawing::{Drawing, INDENT, Part, Row, Span, first_line, folded, indented};
use crate::present::{ANNOUNCEMENT, Mark, RunStatus, now_ms, state_label};
use sanitizer::figures;

/// The minimum columns of a mark and a name in a narrow terminal.
const MIN_NAME_COLUMNS: u32 = 14;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Announcement {
    #[serde(rename = "deliveryIds")]
    _delivery_ids: Vec<String>,
    #[serde(rename = "runIds")]
    _run_ids: Vec<String>,
    runs: Vec<AnnouncedRun>,
    #[serde(default)]
    questions: Vec<AskedQuestion>,
}

/// The question of a run to the conversation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AskedQuestion {
    agent: String,
    label: Option<String>,
    task: Option<String>,
    question: String,
    options: Vec<String>,
}

/// Draws one block for each run: its name, its outcome, its text. `None` for data of another release or program.
#[must_use]
pub fn announcement_drawing(details: &str, is_expanded: bool) -> Option<Drawing> {
    let announcement: Announcement = read(details, ANNOUNCEMENT)?;
    let runs = announcement.runs;
    let questions = announcement.questions;
    // A message that announces several runs has less of each.
    let limit = if runs.len() > 1 { PARTIAL_LINES } else { ANSWER_LINES };
    let mut rows = Drawing::new();
    for run in &runs {
        if !rows.is_empty() {
            rows.push(Row::blank());
        }
        rows.push(run.head());
        rows.extend(indented(run.body(limit, is_expanded), INDENT));
    }
    for question in &questions {
        if !rows.is_empty() {
            rows.push(Row::blank());
        }
        rows.push(question.head());
        rows.extend(indented(question.body(limit, is_expanded), INDENT));
    }
    (!rows.is_empty()).then_some(rows)
}

/// Returns the name for a run without a label: its task.
fn name_of(label: Option<&str>, task: Option<&str>) -> String {
    let names =
        [folded(label.unwrap_or_default()), first_line(task.unwrap_or_default()), "subagent".to_owned()];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

impl AskedQuestion {
    fn head(&self) -> Row {
        let name = name_of(self.label.as_deref(), self.task.as_deref());
        let run = Part {
            min_columns: Some(MIN_NAME_COLUMNS),
            ..Part::new(vec![Span::new("warning", "?"), Span::new("toolTitle", format!(" {name}")).bold()])
        };
        let note = Span::new("warning", "asks the conversation");
        Row::line([run, Span::new("accent", folded(&self.agent)).into(), note.into()])
    }

    fn body(&self, limit: u32, is_expanded: bool) -> Drawing {
        let mut rows = answer(&self.question, limit, is_expanded);
        rows.extend(
            self.options
                .iter()
                .map(|option| Row::line([Span::new("muted", format!("- {}", folded(option)))])),
        );
        rows
    }
}

impl AnnouncedRun {
    fn head(&self) -> Row {
        let label =
            state_label(&RunStatus { state: self.state().to_owned(), ..RunStatus::default() }, now_ms());
        let name = name_of(self.label.as_deref(), self.task.as_deref());
        let mark = label.mark;
        let run = Part {
            min_columns: Some(MIN_NAME_COLUMNS),
            ..Part::new(vec![
                Span::new(mark.color(), mark.sign()),
                Span::new("toolTitle", format!(" {name}")).bold(),
            ])
        };
        let lasted = self.started_ms.zip(self.ended_ms).map(|(started, ended)| {
            let last = u64::try_from(ended.saturating_sub(started)).unwrap_or_default();
            Duration::from_millis(last.saturating_add(self.previous_run_ms.unwrap_or_default()))
        });
        let time = lasted.map(figures::duration).unwrap_or_default();
        Row::line([
            run,
            Span::new("accent", folded(&self.agent)).into(),
            Part::from(Span::new("muted", time)).ranked(1),
            Span::new(mark.color(), folded(label.note.as_deref().unwrap_or_default())).into(),
        ])
    }

    fn body(&self, limit: u32, is_expanded: bool) -> Drawing {
        let is_success = self.status.as_deref() == Some("success");
        let status = RunStatus { state: self.state().to_owned(), ..RunStatus::default() };
        let is_alarm = state_label(&status, now_ms()).mark == Mark::Error;
        let mut rows = Drawing::new();
        if let Some(error) = self.error.as_deref().filter(|error| !error.is_empty() && !is_success) {
            let color = if is_alarm { "error" } else { "warning" };
            rows.push(Row::text(color, error).limited(ANSWER_LINES, Vec::new()));
        }
        let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        match (non_empty(&self.result), non_empty(&self.partial)) {
            (Some(result), _) => rows.extend(answer(&result, limit, is_expanded)),
            (None, _) if is_success => rows.push(Row::line([Span::new("dim", "… no answer")])),
            (None, Some(partial)) => rows.extend(answer(&partial, PARTIAL_LINES, is_expanded)),
            (None, None) => {}
        }
        if self.outcome.as_deref() == Some("interrupted") {
            let resume = format!("`/subagents resume {}` continues it", folded(&self.run_id));
            rows.push(Row::line([Span::new("muted", resume)]));
        }
        let figures = usage_row(&self.usage, self.model.as_deref());
        if !is_expanded {
            rows.push(figures);
            return rows;
        }
        rows.extend(self.notes.iter().flatten().map(|note| Row::text("muted", note)));
        rows.push(figures);
        rows.push(Row::line([Span::new("dim", folded(&self.session_key))]));
        let is_archived = self.archive_at_ms.is_some_and(|at| at <= now_ms());
        // An archived transcript has another name, which the command finds.
        if is_archived {
            let log = format!("/subagents log {}", folded(&self.run_id));
            rows.push(Row::line([Span::new("dim", log)]));
        } else {
            rows.extend(
                self.transcript
                    .as_deref()
                    .filter(|path| !path.is_empty())
                    .map(|path| path_row("session", path)),
            );
        }
        rows
    }

    /// Returns its outcome, as `state_label` knows it.
    fn state(&self) -> &str {
        match (self.status.as_deref(), self.outcome.as_deref()) {
            (Some("success"), _) => "completed",
            (_, Some(outcome)) if !outcome.is_empty() => outcome,
            (Some("timeout"), _) => "hard_timeout",
            (Some("error"), _) => "failed",
            (status, _) => status.unwrap_or("ended"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::announcement_details;
    use crate::run::{Cleanup, RunOutcome, RunRecord};

    #[test]
    fn an_archived_transcript_is_replaced_by_the_command_that_reads_it() {
        let ended = RunRecord {
            run_id: "1a2b3c4d".to_owned(),
            outcome: Some(RunOutcome::Completed),
            transcript: Some("/runs/session.jsonl".into()),
            ended_ms: Some(1),
            ..RunRecord::default()
        };
        let deleted = RunRecord { cleanup: Cleanup::Delete, ..ended.clone() };
        let due = RunRecord { archive_at_ms: Some(2), ..ended.clone() };
        let retained = RunRecord { archive_at_ms: Some(i64::MAX >> 12), ..ended.clone() };
        for (run, has_path) in [(ended, true), (retained, true), (due, false), (deleted, false)] {
            let details = announcement_details(&["d".to_owned()], &[run]).to_string();
            let drawn = format!("{:?}", announcement_drawing(&details, true).expect("the details are valid"));
            assert_eq!(drawn.contains("session.jsonl"), has_path, "{drawn}");
            assert_eq!(drawn.contains("/subagents log 1a2b3c4d"), !has_path, "{drawn}");
        }
    }
}
