//! One run: its details below the list, and the parts around its transcript.

use super::view::ShownRun;
use crate::present::Mark;
use crate::present::cards::{call_spans, draw_artifacts, draw_caveats, draw_partial_label};
use crate::present::paint::{
    INDENT, Limit, PREVIEW_CHARS, Page, Part, REST, Span, beginning, clipped, folded, more_note, plain,
};
use crate::transcript::{TranscriptEntry, TranscriptRole};

/// Lines of the task below the list.
const TASK_LINES: usize = 3;
/// Lines of an error below the list.
const ERROR_LINES: usize = 6;
/// The answer of a tool is a file or a listing: its start identifies it.
const RESULT_LINES: usize = 6;

/// Draws an entry of a transcript. A message has a blank line above it. Calls and their answers stay together.
pub(crate) fn draw_entry(page: &mut Page, entry: &TranscriptEntry) {
    let (text, name, is_error) = entry.parts();
    match entry.role() {
        TranscriptRole::User => {
            page.blank();
            page.wrapped(&[Span::new("accent", "❯ ")], &[Span::block("accent", &text)], Limit::None);
        }
        TranscriptRole::Assistant => {
            page.blank();
            page.indented(INDENT, |page| {
                if is_error { page.text("error", &text, Limit::None) } else { page.prose(&text, Limit::None) }
            });
        }
        TranscriptRole::ToolCall => {
            let call = folded(beginning(&text, PREVIEW_CHARS));
            let call = if call.is_empty() { name.unwrap_or("…") } else { &call };
            page.indented(INDENT, |page| draw_call(page, call));
        }
        TranscriptRole::ToolResult => {
            page.indented(2 * INDENT, |page| draw_tool_result(page, &text, is_error));
        }
    }
}

/// Draws the note above the oldest entry that is loaded. `file`: the transcript that has the older ones, if they cannot be
/// loaded.
pub(crate) fn draw_older_entries(page: &mut Page, file: Option<&str>) {
    page.indented(INDENT, |page| match file {
        None => page.spans(vec![Span::new("muted", "… older entries are being read")]),
        Some(file) => {
            page.spans(vec![Span::new("muted", "… older entries are in "), Span::path("muted", file)]);
        }
    });
}

fn draw_tool_result(page: &mut Page, text: &str, is_error: bool) {
    let text = plain(text);
    let lines: Vec<_> = text.trim_end().split('\n').collect();
    // One more line is no longer than saying so.
    let rest = lines.len().saturating_sub(RESULT_LINES);
    let shown = if rest > 1 { RESULT_LINES } else { lines.len() };
    let color = if is_error { "error" } else { "toolOutput" };
    let sign = if is_error { format!("{} ", Mark::Error.sign()) } else { String::new() };
    for (at, line) in lines[..shown].iter().enumerate() {
        let sign = Span::new(color, if at == 0 { &sign } else { "" });
        page.line([Part::new(vec![sign, Span::new(color, line)])]);
    }
    if rest > 1 {
        page.spans(more_note(format!("{rest} more lines")));
    }
}

/// The columns that the name keeps in the head of a transcript before a figure gives way.
const HEAD_NAME_COLUMNS: usize = 24;

/// Draws the head of its transcript.
pub(crate) fn draw_head(page: &mut Page, run: &ShownRun, now_ms: i64) {
    let mark = run.mark(now_ms);
    let name = run.name();
    let agent = folded(&run.agent);
    let color = if run.is_live() { "muted" } else { run.color(now_ms) };
    let usage = run.usage_text();
    let title = vec![Span { text: format!("{} ", mark.text), ..mark }, Span::new("toolTitle", &name).bold()];
    let parts = [
        (0, Span::new("muted", if agent == name { "" } else { &agent })),
        (0, Span::new("muted", run.elapsed(now_ms))),
        (0, Span::new(color, run.note(now_ms))),
        (2, Span::new("muted", run.model())),
        (3, Span::new("muted", usage.tokens.unwrap_or_default())),
        (1, Span::new("muted", usage.cost.unwrap_or_default())),
        (4, Span::new("muted", run.context().unwrap_or_default())),
    ];
    // The task of a run without a label is its name, and may be as long as the line.
    let title = Part { min_columns: Some(HEAD_NAME_COLUMNS), ..Part::new(title) };
    page.line([title].into_iter().chain(parts.map(|(rank, span)| Part::from(span).ranked(rank))));
}

/// Draws its task, its question, and its newest call.
pub(crate) fn draw_task(page: &mut Page, run: &ShownRun, has_task: bool) {
    if has_task {
        page.text("muted", &folded(beginning(&run.task, PREVIEW_CHARS)), Limit::Lines(TASK_LINES));
    }
    draw_question(page, run);
    if let Some(call) = run.progress.last_tool.as_deref().filter(|_| run.is_live()) {
        draw_call(page, &folded(call));
    }
}

/// Draws the reasons why a run did not simply succeed.
pub(crate) fn draw_failure(page: &mut Page, run: &ShownRun, now_ms: i64) {
    if run.is_live() {
        return;
    }
    let checks = || run.artifacts.iter().filter_map(|artifacts| artifacts.check.as_ref());
    // The line of the check says the same.
    if let Some(error) = run.failure().filter(|error| !checks().any(|check| check.is_error(error))) {
        page.text(run.color(now_ms), beginning(&error, PREVIEW_CHARS), Limit::Lines(ERROR_LINES));
    }
    draw_caveats(page, &run.caveats);
}

/// Draws its newest text, or its result, in at most `max` lines. The end of running text matters most.
pub(crate) fn draw_latest(page: &mut Page, run: &ShownRun, max: usize) {
    if run.is_live() {
        page.end_of_prose(run.progress.text.as_deref().unwrap_or_default(), max);
        return;
    }
    let result = run.result.as_deref().filter(|result| !result.is_empty());
    let partial = run.partial.as_deref().filter(|partial| result.is_none() && !partial.is_empty());
    let label_lines = usize::from(partial.is_some());
    let Some(max) = max.checked_sub(label_lines + 1) else { return };
    if partial.is_some() {
        draw_partial_label(page);
    }
    // The last line says that there are more.
    let text = result.or(partial).unwrap_or_default();
    let shown = beginning(text, PREVIEW_CHARS);
    if shown.len() < text.len() {
        page.prose(shown, Limit::Lines(max));
        page.spans(more_note("more"));
    } else {
        page.prose(text, Limit::Noted(max, more_note(format!("{REST} more lines"))));
    }
}

/// Draws the artifacts of an ended run.
pub(crate) fn draw_run_artifacts(page: &mut Page, run: &ShownRun) {
    for artifacts in run.artifacts.iter().filter(|_| !run.is_live()) {
        draw_artifacts(page, &artifacts.as_result(&run.run_id, run.settled_of(artifacts)), false);
    }
}

/// Draws its usage.
pub(crate) fn draw_usage(page: &mut Page, run: &ShownRun) {
    let usage = run.usage_text();
    let parts = [usage.turns, usage.tokens, usage.cost, run.context(), run.model.as_deref().map(folded)];
    page.figures(parts.into_iter().flatten().map(|text| Span::new("muted", text)), usize::MAX);
}

/// Draws how it has ended. Nothing while it works.
pub(crate) fn draw_outcome(page: &mut Page, run: &ShownRun, now_ms: i64) {
    if run.is_live() {
        return;
    }
    let mark = run.mark(now_ms);
    let note = run.note(now_ms);
    let text = format!("{} {}", mark.text, if note.is_empty() { "completed" } else { &note });
    page.blank();
    page.line([Span { text, ..mark }, Span::new("muted", run.elapsed(now_ms))]);
    if let Some(error) = run.failure() {
        page.indented(INDENT, |page| page.text(run.color(now_ms), &error, Limit::None));
    }
    page.indented(INDENT, |page| draw_caveats(page, &run.caveats));
}

/// A tool call in one line.
fn draw_call(page: &mut Page, call: &str) {
    let mut spans = vec![Span::new("dim", "→ ")];
    spans.append(&mut call_spans("toolOutput", call));
    page.spans(spans);
}

/// Draws a run's question, in a line of its own, with its run and agent: the name leaves room for the question.
pub(crate) fn draw_question(page: &mut Page, run: &ShownRun) {
    let Some(asked) = run.pending_question() else { return };
    let name = run.name();
    let agent = run.agent();
    let agent = if agent == name || agent.is_empty() { String::new() } else { format!(" ({agent})") };
    let columns = match page.width() {
        ..44 => 10,
        44..60 => 20,
        60..120 => 28,
        _ => 40,
    };
    page.spans(vec![
        Span::new("warning", "? "),
        Span::new("accent", format!("{}{agent}", clipped(&name, columns))),
        Span::new("muted", " asks: "),
        Span::new("toolOutput", asked),
    ]);
}
