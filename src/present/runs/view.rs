//! A background run in JavaScript's form, and its texts in every drawing.

use serde::Deserialize;

use crate::present::cards::{call_spans, clock};
use crate::present::counts::is_active;
use crate::present::paint::{
    Color, Cut, LINE_CHARS, Span, beginning, brief, first_line, folded, gist, newest_words,
};
use crate::present::usage_text::context_text;
use crate::present::{Mark, RunStatus, StateLabel, UsageText, state_label, usage_text};
use crate::run::RetryNotice;
use pi_events::{ContextUse, Usage, run_usage};

pub(super) const UNREAD: &str = "waiting to be read";

/// The drawn fields of a `RunRecord`. With a field of another type the whole run is not drawn.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownRun {
    pub key: String,
    pub label: Option<String>,
    pub agent: String,
    pub task: String,
    pub model: Option<String>,
    state: String,
    outcome: Option<String>,
    position: Option<f64>,
    blocked_by: Option<String>,
    pub error: Option<String>,
    pub result: Option<String>,
    pub partial: Option<String>,
    pub last_tool: Option<String>,
    pub text: Option<String>,
    created_ms: f64,
    started_ms: Option<f64>,
    ended_ms: Option<f64>,
    /// The runtime before its last resumption.
    #[serde(default)]
    previous_run_ms: f64,
    #[serde(with = "run_usage")]
    pub usage: Usage,
    context: Option<ContextUse>,
    retry: Option<RetryNotice>,
    #[serde(default)]
    is_foreground: bool,
    /// The question that it has asked and whose answer it waits for.
    pending_question: Option<String>,
}

impl ShownRun {
    pub(super) fn is_live(&self) -> bool {
        self.state != "ended"
    }

    /// A state, or how it ended: of a run that lost its host that may not be known.
    pub(super) fn state(&self) -> &str {
        if self.is_live() { &self.state } else { self.outcome.as_deref().unwrap_or("interrupted") }
    }

    pub(super) fn label(&self, now_ms: i64) -> StateLabel {
        let status = RunStatus {
            state: self.state().to_owned(),
            pending_question: self.pending_question(),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
            position: self.position.map(|position| position as usize),
            blocked_by: self.blocked_by.clone(),
            retry: self.retry.clone(),
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
    pub(super) fn name(&self) -> String {
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
        #[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
        let end = self.ended_ms.unwrap_or(now_ms as f64);
        let ms = match self.started_ms {
            Some(started) => (end - started).max(0.0) + self.previous_run_ms,
            None => (end - self.created_ms).max(0.0),
        };
        clock(ms, self.is_live())
    }

    /// Returns its context use.
    pub(super) fn context(&self) -> Option<String> {
        self.context.map(context_text)
    }

    pub(super) fn usage_text(&self) -> UsageText {
        usage_text(&self.usage)
    }

    /// Returns the read and written tokens without the cache.
    pub(super) fn tokens(&self) -> String {
        let usage = Usage { cache_read: 0, cache_write: 0, ..self.usage.clone() };
        usage_text(&usage).tokens.unwrap_or_default()
    }

    pub(super) fn pending_question(&self) -> Option<String> {
        self.pending_question.as_deref().filter(|_| self.is_live()).map(brief)
    }

    /// Returns the reason of its failure.
    pub(super) fn failure(&self) -> Option<&str> {
        self.error.as_deref().filter(|error| !error.is_empty())
    }

    /// Returns its activity: its state, and its latest text or call.
    pub(super) fn activity(&self, is_unread: bool, now_ms: i64) -> Vec<Span> {
        if self.pending_question().is_some() {
            return self.latest();
        }
        let note = self.note(now_ms);
        let foreground = if self.is_foreground { "foreground" } else { "" };
        let labels = [foreground, &note, if is_unread { UNREAD } else { "" }];
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
        self.retry.is_some() && is_active(self.state())
    }

    /// Returns its question, its activity, its result, or its failure.
    fn latest(&self) -> Vec<Span> {
        if self.is_retried() {
            return Vec::new();
        }
        if let Some(title) = self.pending_question() {
            return vec![Span::new("warning", format!("asks: {title}"))];
        }
        if !self.is_live() {
            return vec![match self.failure() {
                Some(error) => Span::new("muted", brief(error)),
                None => Span::new("toolOutput", gist(self.result.as_deref().unwrap_or_default())),
            }];
        }
        let text = newest_words(self.text.as_deref().unwrap_or_default());
        // `text` has only text from after the newest call.
        match self.last_tool.as_deref().filter(|_| text.is_empty()) {
            Some(call) => call_spans("toolOutput", &brief(call)),
            None => vec![Span { cut: Cut::Start, ..Span::new("toolOutput", text) }],
        }
    }
}

/// Returns a name in at most `chars` characters.
pub(super) fn short(name: &str, chars: usize) -> String {
    let is_long = name.chars().count() > chars;
    if is_long { format!("{}…", beginning(name, chars - 1)) } else { name.to_owned() }
}
