//! `/subagents log`.

use std::io;

use crate::present::clock::Clock;
use crate::present::report::{Mark, Report, ReportLine};
use crate::present::run_label::{name, state_and_time};
use crate::run::RunRecord;
use crate::transcript::{Transcript, TranscriptEntry};
use sanitizer::{figures, one_line};

/// Lines of a conversation that a log shows by default.
pub const DEFAULT_LOG_LINES: usize = 20;
/// Most lines of a conversation that a log shows.
pub const MAX_LOG_LINES: usize = 200;
/// Longest line; more than any screen has columns.
const MAX_LINE: usize = 1_000;
/// The number of characters of a tool's result that are shown.
const MAX_RESULT: usize = 160;

/// The newest `limit` lines of a conversation. A tool's result takes one line; a text takes all of its lines.
#[must_use]
pub fn log_report(
    run: &RunRecord,
    transcript: &io::Result<Transcript>,
    limit: usize,
    clock: &Clock,
) -> Report {
    let mut report = Report::new(format!("Log of {}: {}", name(run), state_and_time(run, clock)));
    let transcript = match transcript {
        Ok(transcript) if !transcript.entries.is_empty() => transcript,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Report::error(format!("the transcript{} cannot be read: {error}", path(run)));
        }
        _ => return report.with(ReportLine::new(Mark::Info, "", nothing(run))),
    };
    // Collected newest first, because a text may have more lines than are wanted.
    let mut newest_first: Vec<ReportLine> = Vec::new();
    let mut omitted = 0;
    for entry in transcript.entries.iter().rev() {
        let lines = lines_of(entry);
        let room = limit - newest_first.len();
        let hidden = lines.len().saturating_sub(room);
        omitted += hidden;
        if room == 0 {
            continue;
        }
        // A text without its beginning still shows whose it is.
        let head = lines[0].name.clone();
        let mut shown: Vec<ReportLine> = lines.into_iter().skip(hidden).collect();
        shown[0].name = head;
        newest_first.extend(shown.into_iter().rev());
    }
    if omitted > 0 || transcript.has_more {
        let known = (!transcript.has_more).then(|| figures::counted(omitted, "older line"));
        let count = known.unwrap_or_else(|| "older lines".to_owned());
        let hint = if limit < MAX_LOG_LINES {
            format!("`/subagents log {} {MAX_LOG_LINES}` shows more", run.run_id)
        } else {
            format!("the transcript{} has the whole text", path(run))
        };
        report.lines.push(ReportLine::new(Mark::Info, "", format!("{count} omitted; {hint}")));
    }
    report.lines.extend(newest_first.into_iter().rev());
    report
}

/// ` ~/sessions/1a2b3c4d/session.jsonl`, to follow other words.
fn path(run: &RunRecord) -> String {
    let path = run.transcript.as_ref().map(|path| one_line(&path.to_string_lossy(), MAX_LINE));
    path.map(|path| format!(" {path}")).unwrap_or_default()
}

fn nothing(run: &RunRecord) -> &'static str {
    if let Some(why) = run.lost_transcript() {
        why
    } else if run.is_live() {
        "no messages yet"
    } else {
        "no messages"
    }
}

fn lines_of(entry: &TranscriptEntry) -> Vec<ReportLine> {
    match entry {
        TranscriptEntry::User(text) => text_lines("user", text),
        TranscriptEntry::Assistant { text, error, .. } => {
            let mut lines = if text.is_empty() { Vec::new() } else { text_lines("assistant", text) };
            if let Some(error) = error {
                lines.push(ReportLine::new(Mark::Error, "error", one_line(error, MAX_LINE)));
            }
            if lines.is_empty() { text_lines("assistant", "") } else { lines }
        }
        TranscriptEntry::ToolCall { summary, .. } => {
            vec![ReportLine::new(Mark::None, "tool", summary.clone())]
        }
        TranscriptEntry::ToolResult { is_error, text, .. } => {
            let mark = if *is_error { Mark::Error } else { Mark::None };
            let shown = one_line(text, MAX_RESULT).into_string();
            let more = text.lines().count();
            let size =
                if more > 1 { format!(" [{}]", figures::counted(more, "line")) } else { String::new() };
            let text = if shown.is_empty() { "(nothing)".to_owned() } else { shown + &size };
            vec![ReportLine::new(mark, "result", text)]
        }
    }
}

/// A text line by line, without blank lines at its ends.
fn text_lines(name: &str, text: &str) -> Vec<ReportLine> {
    let mut lines: Vec<ReportLine> =
        text.trim().lines().map(|line| ReportLine::new(Mark::None, "", clipped(line))).collect();
    if lines.is_empty() {
        lines.push(ReportLine::new(Mark::None, "", "(nothing)"));
    }
    name.clone_into(&mut lines[0].name);
    lines
}

/// Cuts a line to the longest length and keeps its indentation.
fn clipped(line: &str) -> String {
    let line = line.trim_end().replace('\t', "    ");
    if line.chars().count() <= MAX_LINE {
        return line;
    }
    line.chars().take(MAX_LINE - 1).chain(['…']).collect()
}
