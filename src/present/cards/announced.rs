//! The message that tells a conversation how its background runs ended, as it is drawn.

use std::time::Duration;

use serde::Deserialize;

use super::state::SettledRuns;
use super::stored::read;
use super::work::{
    ANSWER_LINES, PARTIAL_LINES, draw_answer, draw_artifacts, draw_caveats, draw_partial, draw_path,
    draw_resume, figures,
};
use crate::present::announcement::AnnouncedRun;
use crate::present::paint::{INDENT, Limit, Page, Part, Span, first_line, folded};
use crate::present::state_label::reason;
use crate::present::{ANNOUNCEMENT, Mark, RunQuestion, RunStatus, StateLabel, now_ms, state_label};
use crate::run::Caveat;
use sanitizer::figures::duration;

/// The minimum columns of a mark and a name in a narrow terminal.
const MIN_NAME_COLUMNS: usize = 14;

/// A message about several runs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    #[serde(rename = "deliveryIds")]
    _delivery_ids: Vec<String>,
    #[serde(rename = "runIds")]
    _run_ids: Vec<String>,
    runs: Vec<AnnouncedRun>,
    #[serde(default)]
    questions: Vec<RunQuestion>,
}

impl Announcement {
    /// Reads the details of a message. `None` for data of another release or program, and for a message about nothing.
    #[must_use]
    pub fn read(details: &str) -> Option<Self> {
        read(details, ANNOUNCEMENT).filter(|read: &Self| !read.runs.is_empty() || !read.questions.is_empty())
    }

    /// Draws one block for each run: its name, its outcome, its text.
    pub fn draw(&self, page: &mut Page, is_expanded: bool, settled: &SettledRuns) {
        // A message that announces several runs has less of each.
        let limit = if self.runs.len() > 1 { PARTIAL_LINES } else { ANSWER_LINES };
        for run in &self.runs {
            page.gap();
            run.draw_head(page);
            page.indented(INDENT, |page| run.draw_body(page, limit, is_expanded, settled));
        }
        for question in &self.questions {
            page.gap();
            question.draw(page, limit, is_expanded);
        }
    }
}

/// Returns the name for a run without a label: its task.
fn name_of(label: Option<&str>, task: Option<&str>) -> String {
    let names =
        [folded(label.unwrap_or_default()), first_line(task.unwrap_or_default()), "subagent".to_owned()];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

/// Draws a mark with the name of a run, its agent, and more.
fn draw_head(page: &mut Page, mark: Mark, name: &str, agent: &str, more: impl IntoIterator<Item = Part>) {
    let run = Part {
        min_columns: Some(MIN_NAME_COLUMNS),
        ..Part::new(vec![
            Span::new(mark.color(), mark.sign()),
            Span::new("toolTitle", format!(" {name}")).bold(),
        ])
    };
    page.line([run, Span::new("accent", folded(agent)).into()].into_iter().chain(more));
}

impl RunQuestion {
    fn draw(&self, page: &mut Page, limit: usize, is_expanded: bool) {
        let name = name_of(self.label.as_deref(), Some(&self.task));
        let note = Span::new("warning", "asks the conversation");
        draw_head(page, Mark::Asking, &name, &self.agent, [note.into()]);
        page.indented(INDENT, |page| {
            draw_answer(page, &self.question, limit, is_expanded);
            for option in &self.options {
                page.line([Span::new("muted", format!("- {}", folded(option)))]);
            }
        });
    }
}

impl AnnouncedRun {
    fn label(&self) -> StateLabel {
        let (state, caveat) = (self.state().to_owned(), self.caveats().first().copied());
        state_label(&RunStatus { state, caveat, ..RunStatus::default() }, now_ms())
    }

    fn draw_head(&self, page: &mut Page) {
        let StateLabel { mark, note, .. } = self.label();
        // The lines below have the facts that a completed answer may contradict.
        let is_below = self.state() == "completed" && !self.caveats.is_empty();
        let note = note.filter(|_| !is_below);
        let name = name_of(self.label.as_deref(), self.task.as_deref());
        let lasted = self.started_ms.zip(self.ended_ms).map(|(started, ended)| {
            let last = u64::try_from(ended.saturating_sub(started)).unwrap_or_default();
            Duration::from_millis(last.saturating_add(self.previous_run_ms.unwrap_or_default()))
        });
        let time = lasted.map(duration).unwrap_or_default();
        let time = Part::from(Span::new("muted", time)).ranked(1);
        let note = Span::new(mark.color(), folded(note.as_deref().unwrap_or_default()));
        draw_head(page, mark, &name, &self.agent, [time, note.into()]);
    }

    fn draw_body(&self, page: &mut Page, limit: usize, is_expanded: bool, settled: &SettledRuns) {
        let is_success = self.status.as_deref() == Some("success");
        let error = self.error.as_deref().map(|error| reason(self.state(), error));
        // The line of the check says the same.
        let is_check = |error: &str| {
            self.artifacts
                .iter()
                .filter_map(|artifacts| artifacts.check.as_ref())
                .any(|check| check.is_error(error))
        };
        if let Some(error) = error.filter(|error| !error.is_empty() && !is_success && !is_check(error)) {
            let color = if self.label().mark == Mark::Error { "error" } else { "warning" };
            page.text(color, &error, Limit::Lines(ANSWER_LINES));
        }
        draw_caveats(page, &self.caveats());
        let non_empty = |text: &'_ Option<String>| text.clone().filter(|text| !text.is_empty());
        match (non_empty(&self.result), non_empty(&self.partial)) {
            (Some(result), _) => draw_answer(page, &result, limit, is_expanded),
            (None, _) if is_success => page.line([Span::new("muted", "… no answer")]),
            (None, Some(partial)) => draw_partial(page, &partial, is_expanded),
            (None, None) => {}
        }
        for artifacts in &self.artifacts {
            let settled = settled.of(artifacts.id(&self.run_id));
            draw_artifacts(page, &artifacts.as_result(&self.run_id, settled), is_expanded);
        }
        if self.can_resume() {
            let is_resumed = settled.is_resumed(&self.run_id, self.times_resumed.unwrap_or_default());
            draw_resume(page, &self.agent, &folded(&self.run_id), is_resumed);
        }
        if is_expanded {
            for note in self.notes.iter().flatten() {
                page.text("muted", note, Limit::None);
            }
        }
        page.figures(figures(&self.usage, None, self.model.as_deref()), usize::MAX);
        if !is_expanded {
            return;
        }
        page.line([Span::new("muted", folded(&self.session_key))]);
        // An archived transcript has another name, which the command finds.
        if self.is_archived() {
            page.line([Span::new("muted", format!("/subagents log {}", folded(&self.run_id)))]);
        } else {
            draw_path(page, "session", self.transcript.as_deref().unwrap_or_default());
        }
    }

    fn is_archived(&self) -> bool {
        self.archive_at_ms.is_some_and(|at| at <= now_ms())
    }

    /// Returns true if `resume` continues it. A run that pi has interrupted can start again without a transcript.
    fn can_resume(&self) -> bool {
        match self.state() {
            "interrupted" => true,
            "completed" | "skipped" => false,
            _ => self.transcript.is_some() && !self.is_archived(),
        }
    }

    /// Returns the facts that its answer may contradict, without those that only a later release knows.
    fn caveats(&self) -> Vec<Caveat> {
        self.caveats.iter().filter_map(|caveat| Caveat::parse(caveat)).collect()
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
    use crate::run::{Cleanup, IsolationReport, RunArtifacts, RunOutcome, RunRecord};

    #[test]
    fn a_message_draws_the_facts_and_not_the_words_for_the_model() {
        let isolation =
            IsolationReport { branch: Some("subagent/1a2b3c4d".into()), ..IsolationReport::default() };
        let run = RunRecord {
            run_id: "1a2b3c4d".to_owned(),
            task: "build".to_owned(),
            outcome: Some(RunOutcome::Completed),
            result: Some("Done.".to_owned()),
            caveats: vec![Caveat::Refused],
            artifacts: vec![RunArtifacts {
                changes: vec!["a.ts".into()],
                isolation: Some(isolation),
                ..RunArtifacts::default()
            }],
            ..RunRecord::default()
        };
        let drawn = |run: &RunRecord, settled: &str| {
            let details = announcement_details(&["d".to_owned()], std::slice::from_ref(run)).to_string();
            let read = Announcement::read(&details).expect("the details are valid");
            super::super::tests::lines(|page| read.draw(page, false, &SettledRuns::read(settled)))
        };
        let lines = drawn(&run, "{}");
        assert_eq!(
            lines,
            [
                "⚠ build",
                "  the sandbox refused a shell command (docs/sandbox.md)",
                "  Done.",
                "  changed a.ts",
                "  on branch subagent/1a2b3c4d, not in your files: /subagents diff 1a2b3c4d · /subagents apply 1a2b3c4d",
            ]
        );
        let applied = drawn(&run, r#"{"1a2b3c4d":"applied","later":"of a later release"}"#);
        assert_eq!(applied.last().map(String::as_str), Some("  on branch subagent/1a2b3c4d: applied"));
        // Each step of a chain has its own branch, and commands take the id of the step.
        let step = RunArtifacts {
            run_id: Some("0badcafe".to_owned()),
            isolation: Some(IsolationReport {
                branch: Some("subagent/0badcafe".into()),
                ..IsolationReport::default()
            }),
            ..RunArtifacts::default()
        };
        let chain = RunRecord { artifacts: [run.artifacts.clone(), vec![step]].concat(), ..run.clone() };
        let applied = drawn(&chain, r#"{"0badcafe":"discarded"}"#);
        let offer = "  on branch subagent/1a2b3c4d, not in your files: /subagents diff 1a2b3c4d · /subagents apply 1a2b3c4d";
        assert_eq!(applied[4..], [offer, "  on branch subagent/0badcafe: discarded"]);
        let stopped = RunRecord {
            outcome: Some(RunOutcome::Aborted),
            error: Some("stopped on request".to_owned()),
            result: None,
            partial: Some("Half.".to_owned()),
            caveats: Vec::new(),
            artifacts: Vec::new(),
            ..run
        };
        assert_eq!(drawn(&stopped, "{}"), ["⚠ build · stopped", "  last said:", "  Half."]);
        let with_transcript = RunRecord {
            agent: "worker".to_owned(),
            transcript: Some("/runs/session.jsonl".into()),
            ..stopped.clone()
        };
        for outcome in [RunOutcome::Aborted, RunOutcome::Failed, RunOutcome::Budget, RunOutcome::Interrupted]
        {
            let run = RunRecord { outcome: Some(outcome), ..with_transcript.clone() };
            let resume = "  to continue worker: /subagents resume 1a2b3c4d".to_owned();
            assert!(drawn(&run, "{}").contains(&resume), "{outcome}: {:?}", drawn(&run, "{}"));
        }
        let again = |times_resumed| RunRecord { times_resumed, ..with_transcript.clone() };
        for (times, is_resumed) in [(0, true), (1, false)] {
            let lines = drawn(&again(times), r#"{"1a2b3c4d":{"timesResumed":1}}"#);
            assert_eq!(lines.last().map(String::as_str) == Some("  resumed"), is_resumed, "{lines:?}");
        }
        let archived = RunRecord { archive_at_ms: Some(2), ..with_transcript };
        assert!(!drawn(&archived, "{}").join("\n").contains("resume"), "an archived run cannot be resumed");
    }

    #[test]
    fn the_time_of_a_resumed_run_includes_its_earlier_parts() {
        for (previous_run_ms, time) in [(0, "5.0s"), (60_000, "1m05s")] {
            let run = RunRecord {
                task: "build".to_owned(),
                outcome: Some(RunOutcome::Completed),
                previous_run_ms,
                started_ms: Some(1_000),
                ended_ms: Some(6_000),
                ..RunRecord::default()
            };
            let details = announcement_details(&["d".to_owned()], &[run]).to_string();
            let read = Announcement::read(&details).expect("the details are valid");
            let lines = super::super::tests::lines(|page| read.draw(page, false, &SettledRuns::default()));
            assert_eq!(lines.first(), Some(&format!("✓ build · {time}")));
        }
    }

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
            let read = Announcement::read(&details).expect("the details are valid");
            let drawn =
                super::super::tests::lines(|page| read.draw(page, true, &SettledRuns::default())).join("\n");
            assert_eq!(drawn.contains("session.jsonl"), has_path, "{drawn}");
            assert_eq!(drawn.contains("/subagents log 1a2b3c4d"), !has_path, "{drawn}");
        }
    }
}
