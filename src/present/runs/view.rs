//! The texts of a background run, for every drawing.

use std::borrow::Cow;
use std::ops::Deref;
use std::time::Duration;

use super::columns::RowTexts;
use crate::present::cards::{call_spans, clock};
use crate::present::counts::is_active;
use crate::present::paint::{
    Color, Cut, LINE_CHARS, Span, beginning, brief, first_line, folded, gist, newest_words,
};
use crate::present::run_label::changes;
use crate::present::state_label::reason;
use crate::present::usage_text::context_text;
use crate::present::{Mark, RunStatus, StateLabel, UsageText, state_label, usage_text};
use crate::run::{LiveSnapshot, RunOutcome, RunRecord};
use pi_events::Usage;

pub(super) const UNREAD: &str = "waiting to be read";
pub(super) const ELSEWHERE: &str = "another session";

/// A run as it is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownRun(pub(crate) RunRecord);

impl Deref for ShownRun {
    type Target = RunRecord;

    fn deref(&self) -> &RunRecord {
        &self.0
    }
}

/// Reads runs from JSON, without the ones of another form.
pub(crate) fn read_runs(json: &str) -> Vec<ShownRun> {
    let all: Result<(Vec<RunRecord>, Vec<LiveSnapshot>), _> =
        serde_json::from_str(json).and_then(|runs| Ok((runs, serde_json::from_str(json)?)));
    if let Ok((runs, progress)) = all {
        let joined = |(run, progress)| ShownRun(RunRecord { progress, ..run });
        return runs.into_iter().zip(progress).map(joined).collect();
    }
    let runs: Vec<serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
    runs.iter().filter_map(|run| RunRecord::from_json(&run.to_string()).ok().map(ShownRun)).collect()
}

impl ShownRun {
    /// Returns its state, or its outcome.
    pub(super) fn state_or_outcome(&self) -> &'static str {
        self.outcome.map_or(self.state.as_str(), RunOutcome::as_str)
    }

    pub(super) fn label(&self, now_ms: i64) -> StateLabel {
        let status = RunStatus {
            state: self.state_or_outcome().to_owned(),
            pending_question: self.pending_question(),
            position: self.progress.position,
            blocked_by: self.progress.blocked_by.clone(),
            retry: self.progress.retry.clone(),
            caveat: self.caveats.first().copied(),
            ..RunStatus::default()
        };
        state_label(&status, now_ms)
    }

    /// Returns its outcome, or the reason why it waits. Empty for a running or successful run.
    pub(super) fn note(&self, now_ms: i64) -> String {
        folded(&self.label(now_ms).note.unwrap_or_default())
    }

    /// Returns its mark, and the colour of its note.
    pub(super) fn mark(&self, now_ms: i64) -> Span {
        let mark: Mark = self.label(now_ms).mark;
        Span::new(mark.color(), mark.sign())
    }

    pub(super) fn color(&self, now_ms: i64) -> Color {
        self.mark(now_ms).color.unwrap_or("muted")
    }

    /// Returns its name for people: its label, otherwise the first line of its task.
    pub(crate) fn name(&self) -> String {
        let label = self.label.as_deref().filter(|label| !label.is_empty());
        let task = Some(self.task.as_str()).filter(|task| !task.is_empty());
        let name = first_line(beginning(label.or(task).unwrap_or(&self.agent), LINE_CHARS));
        if name.is_empty() { "…".to_owned() } else { name }
    }

    pub(super) fn agent(&self) -> String {
        brief(&self.agent)
    }

    /// The model without its provider.
    pub(super) fn model(&self) -> String {
        let model = self.model.as_deref().unwrap_or_default();
        brief(model.split_once('/').map_or(model, |(_, name)| name))
    }

    /// Returns the runtime of all its parts; while it is queued, the time that it has waited.
    pub(super) fn elapsed(&self, now_ms: i64) -> String {
        let waited = || Duration::from_millis(u64::try_from(now_ms - self.created_ms).unwrap_or_default());
        let elapsed = self.runtime(now_ms).unwrap_or_else(waited);
        clock(elapsed.as_secs_f64() * 1_000.0, self.is_live())
    }

    /// Returns its context use.
    pub(super) fn context(&self) -> Option<String> {
        self.progress.context.map(context_text)
    }

    pub(super) fn usage_text(&self) -> UsageText {
        usage_text(&self.progress.usage)
    }

    /// Returns the read and written tokens without the cache.
    pub(super) fn tokens(&self) -> String {
        let usage = Usage { cache_read: 0, cache_write: 0, ..self.progress.usage.clone() };
        usage_text(&usage).tokens.unwrap_or_default()
    }

    pub(crate) fn pending_question(&self) -> Option<String> {
        self.progress.pending_question.as_deref().filter(|_| self.is_live()).map(brief)
    }

    /// Returns true if it waits for the answer to a question.
    pub(crate) fn asks(&self) -> bool {
        self.pending_question().is_some()
    }

    /// Returns the reason of its failure.
    pub(super) fn failure(&self) -> Option<Cow<'_, str>> {
        let error = self.error.as_deref().map(|error| reason(self.state_or_outcome(), error));
        error.filter(|error| !error.is_empty())
    }

    /// Returns its texts in the columns of a list. Below its workflow it has the name of its key.
    pub(super) fn texts(&self, is_nested: bool, now_ms: i64) -> RowTexts {
        let key = self.workflow.as_ref().map(|place| brief(&place.key)).filter(|_| is_nested);
        RowTexts {
            mark: self.mark(now_ms),
            name: key.map_or_else(|| self.name(), |key| format!("  {key}")),
            agent: self.agent(),
            model: self.model(),
            elapsed: self.elapsed(now_ms),
            tokens: self.tokens(),
            cost: self.usage_text().cost.unwrap_or_default(),
        }
    }

    /// Returns its activity: the state of its changes, its state, a note, and its latest text or call.
    pub(super) fn activity(&self, more: &str, is_nested: bool, now_ms: i64) -> Vec<Span> {
        if self.pending_question().is_some() {
            return self.latest();
        }
        let note = self.note(now_ms);
        let workflow = self.workflow.as_ref().map(|workflow| brief(workflow.workflow_name()));
        let foreground = match workflow.as_deref() {
            // The row above has its name.
            _ if is_nested => "",
            Some(name) => name,
            _ if self.is_foreground && self.is_live() && more != ELSEWHERE => "foreground",
            _ => "",
        };
        let labels = [foreground, changes(self).unwrap_or_default(), &note, more];
        let labels: Vec<_> = labels.into_iter().filter(|word| !word.is_empty()).collect();
        let color = if self.is_live() && !self.is_retried() { "muted" } else { self.color(now_ms) };
        let mut spans = vec![Span::new(color, labels.join(", "))];
        let mut latest = self.latest();
        if let Some(first) =
            latest.iter_mut().find(|span| !span.text.is_empty()).filter(|_| !labels.is_empty())
        {
            spans.push(Span { text: ": ".to_owned(), cut: Cut::End, ..first.clone() });
        }
        spans.append(&mut latest);
        spans
    }

    fn is_retried(&self) -> bool {
        self.progress.retry.is_some() && is_active(self.state_or_outcome())
    }

    /// Returns its question, its activity, its result, or its failure.
    pub(super) fn latest(&self) -> Vec<Span> {
        if self.is_retried() {
            return Vec::new();
        }
        if let Some(title) = self.pending_question() {
            return vec![Span::new("warning", format!("asks: {title}"))];
        }
        if !self.is_live() {
            return vec![match self.failure() {
                Some(error) => Span::new("muted", brief(&error)),
                None => Span::new("toolOutput", gist(self.result.as_deref().unwrap_or_default(), false)),
            }];
        }
        let text = newest_words(self.progress.text.as_deref().unwrap_or_default());
        // `text` has only text from after the newest call.
        match self.progress.last_tool.as_deref().filter(|_| text.is_empty()) {
            Some(call) => call_spans("toolOutput", &brief(call)),
            None => vec![Span { cut: Cut::Start, ..Span::new("toolOutput", text) }],
        }
    }
}
