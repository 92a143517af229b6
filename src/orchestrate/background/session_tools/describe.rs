//! Lists runs and reads their conversations.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::call::{HistoryWanted, ListWanted, MAX_LIMIT, SessionAnswer};
use crate::orchestrate::background::commands::{self, NO_TRANSCRIPT, with_child_session};
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::service::BackgroundService;
use crate::present::{Clock, Mark, Report, ReportLine, list_report, log_report, refused_report};
use crate::run::{RunOutcome, RunRecord};
use crate::transcript::{TranscriptEntry, Wanted};
use sanitizer::figures::counted;
use sanitizer::{TruncateLimits, one_line, truncate};

/// Longest first line of a task, in characters.
const TASK_CHARS: usize = 160;
/// Longest name of a tool, in characters: the child's model writes it.
const NAME_CHARS: usize = 80;
/// One text of a conversation, and all of them together.
const TEXT: TruncateLimits = TruncateLimits { max_bytes: 8 * 1024, max_lines: usize::MAX };
const ALL_TEXTS: usize = 48 * 1024;
const MINUTE_MS: i64 = 60_000;

pub(super) async fn list(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    wanted: &ListWanted,
    clock: &Clock,
) -> SessionAnswer {
    let mut runs = service.runs(Some(view.session().to_owned())).await;
    if let Some(minutes) = wanted.active_minutes {
        let since = clock.now_ms().saturating_sub(MINUTE_MS.saturating_mul(minutes.into()));
        runs.retain(|run| run.is_live() || updated(run) >= since);
    }
    let home = view.scope.context.home.as_deref();
    let shown = runs.len().min(wanted.limit());
    let mut described = Vec::new();
    for run in &runs[..shown] {
        described.push(self::described(service, &with_child_session(run).await, home));
    }
    let more = runs.len() - shown;
    let value = without_nulls(json!({ "sessions": described, "more": (more > 0).then_some(more) }));
    if let (true, Some(minutes)) = (runs.is_empty(), wanted.active_minutes) {
        let minutes = counted(usize::try_from(minutes).unwrap_or(usize::MAX), "minute");
        let text = format!("no run of this session was active in the last {minutes}");
        return SessionAnswer::new(
            value,
            Report::new("Runs: none").with(ReportLine::new(Mark::Info, "", text)),
        );
    }
    SessionAnswer::new(value, list_report(&runs[..shown], more, Some(view.session()), clock))
}

pub(super) async fn history(
    service: &BackgroundService,
    view: &ConversationView,
    run: &RunRecord,
    wanted: &HistoryWanted,
    clock: &Clock,
) -> SessionAnswer {
    let read = Wanted { entries: wanted.limit, tools: wanted.tools, skip: wanted.offset };
    let run = &with_child_session(run).await;
    let transcript = commands::read(view, run, read).await;
    let report = log_report(run, &transcript, wanted.limit, clock);
    let home = view.scope.context.home.as_deref();
    let transcript = match transcript {
        Ok(transcript) => transcript,
        Err(_) if run.transcript.is_none() => {
            return refused(run, run.lost_transcript().unwrap_or(NO_TRANSCRIPT));
        }
        Err(error) => return refused(run, &error.to_string()),
    };
    let mut room = ALL_TEXTS;
    let mut newest_first = Vec::new();
    for entry in transcript.entries.iter().rev() {
        let (message, bytes) = message(entry);
        let Some(rest) = room.checked_sub(bytes) else { break };
        room = rest;
        newest_first.push(message);
    }
    let has_omitted = transcript.has_more || newest_first.len() < transcript.entries.len();
    newest_first.reverse();
    let file = run.transcript.as_deref().map(|path| shown_path(path, home));
    let next = (has_omitted && !newest_first.is_empty()).then(|| wanted.offset + newest_first.len());
    let note = next.map(|next| {
        let file = file.as_deref().unwrap_or("its session file");
        format!(
            "older messages were omitted: `offset: {next}` continues, `limit` is at most {MAX_LIMIT}, and \
             {file} has all of them"
        )
    });
    let is_beyond = newest_first.is_empty() && wanted.offset > 0;
    let note = note.or_else(|| is_beyond.then(|| "there are no older messages".to_owned()));
    let value = json!({ "run": described(service, run, home), "messages": newest_first, "note": note });
    SessionAnswer::new(without_nulls(value), report)
}

fn refused(run: &RunRecord, why: &str) -> SessionAnswer {
    SessionAnswer::refused(refused_report(run, "read", why))
}

/// A run as a model reads it.
fn described(service: &BackgroundService, run: &RunRecord, home: Option<&Path>) -> Value {
    let hosted = service.registry.get(&run.key);
    without_nulls(json!({
        "sessionKey": run.session_key,
        "runId": run.run_id,
        "agent": run.agent,
        "label": run.label,
        "task": one_line(run.task.trim().lines().next().unwrap_or_default(), TASK_CHARS).into_string(),
        "state": run.outcome.map_or(run.state(), RunOutcome::as_str),
        "question": hosted.and_then(|live| live.question.text()),
        "foreground": run.is_foreground.then_some(true),
        "started": run.started_ms.and_then(timestamp),
        "updated": timestamp(updated(run)),
        "model": run.model,
        "tokens": run.progress.usage.tokens(),
        "transcript": run.transcript.as_deref().map(|path| shown_path(path, home)),
    }))
}

/// Returns the time of a run's last event.
fn updated(run: &RunRecord) -> i64 {
    run.ended_ms.or(run.progress.updated_ms).or(run.started_ms).unwrap_or(run.created_ms)
}

/// An entry of a conversation, and the bytes of its words.
fn message(entry: &TranscriptEntry) -> (Value, usize) {
    let shortened = |text: &str| truncate(text, TEXT, None).text;
    let role = entry.role().as_str();
    let (name, text, error) = match entry {
        TranscriptEntry::User(text) => (None, shortened(text), None),
        TranscriptEntry::Assistant { text, error, .. } => {
            (None, shortened(text), error.as_deref().map(shortened))
        }
        TranscriptEntry::ToolCall { name, summary } => (Some(name), shortened(summary), None),
        TranscriptEntry::ToolResult { name, is_error: true, text } => {
            (Some(name), String::new(), Some(shortened(text)))
        }
        TranscriptEntry::ToolResult { name, text, .. } => (Some(name), shortened(text), None),
    };
    let name = name.map(|name| one_line(name, NAME_CHARS).into_string());
    let bytes = [name.as_ref(), Some(&text), error.as_ref()].into_iter().flatten().map(String::len).sum();
    (without_nulls(json!({ "role": role, "name": name, "text": text, "error": error })), bytes)
}

/// An object without the fields that have no value.
fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, field| !field.is_null());
    }
    value
}

/// `2026-07-03T14:05:09Z`.
fn timestamp(ms: i64) -> Option<String> {
    OffsetDateTime::from_unix_timestamp(ms.div_euclid(1_000)).ok()?.format(&Rfc3339).ok()
}

/// A path with `~` for the user's home, which pi's tools understand.
pub(super) fn shown_path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => Path::new("~").join(rest).to_string_lossy().into_owned(),
        None => path.to_string_lossy().into_owned(),
    }
}
