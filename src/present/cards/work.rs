//! The work and the result of a run: its calls and texts, an answer or the reason why there is none, changed files, paths.

use std::collections::BTreeSet;

use super::files::files;
use crate::present::Mark;
use crate::present::paint::{
    Color, Limit, PREVIEW_CHARS, Page, REST, Span, beginning, folded, more_note, plain, short_path,
};
use crate::present::state_label::reason;
use crate::present::usage_text;
use crate::present::usage_text::context_text;
use crate::run::{CallError, Caveat, CheckReport, RunOutcome, SingleResult, UNCHANGED};
use pi_events::{ContextUse, DisplayItem, Usage, current_text, short_form};
use sanitizer::{figures, quoted_if_unusual, redacted_counts};

pub(super) const ANSWER_LINES: usize = 6;
const ERROR_LINES: usize = 6;
pub(super) const PARTIAL_LINES: usize = 3;

/// The reason why a call did not simply succeed.
#[derive(Clone, Copy, Default)]
pub(super) struct Failure<'a> {
    pub code: Option<&'a str>,
    pub message: &'a str,
}

impl<'a> From<&'a CallError> for Failure<'a> {
    fn from(CallError { code, message }: &'a CallError) -> Self {
        Self { code: Some(code.as_str()), message }
    }
}

/// Draws all details of an ended run. A problem of a successful run is a note.
pub(super) fn draw_ended(
    page: &mut Page,
    result: &SingleResult,
    output: &str,
    failed: bool,
    failure: Option<Failure>,
    is_expanded: bool,
) {
    let items = &result.display_items;
    if is_expanded {
        draw_calls(page, items, usize::MAX, None);
    }
    if failed {
        draw_failure(page, failure.unwrap_or_default(), Some(result), output, is_expanded);
        draw_caveats(page, &result.caveats);
    } else {
        // Before the answer, which may contradict them.
        draw_caveats(page, &result.caveats);
        draw_answer(page, output, ANSWER_LINES, is_expanded);
        if let Some(failure) = failure {
            page.text("warning", failure.message, Limit::None);
        }
    }
    draw_artifacts(page, result, is_expanded);
    draw_model_notes(page, [result]);
    page.figures(figures(&result.usage, result.context, result.model.as_deref()), usize::MAX);
    if is_expanded || result.outcome == RunOutcome::Interrupted {
        draw_details(page, result);
    }
}

/// An answer as Markdown, or the start of it.
pub(super) fn draw_answer(page: &mut Page, text: &str, limit: usize, is_expanded: bool) {
    if is_expanded {
        page.blank();
        page.prose(text, Limit::None);
        page.blank();
        return;
    }
    // An answer can be 50 KB: no more of it is laid out than may be shown.
    let source = beginning(text, PREVIEW_CHARS);
    if source.len() < text.len() {
        page.prose(source, Limit::Lines(limit));
        page.spans(page.hint("more"));
    } else {
        page.prose(text, Limit::Noted(limit, page.hint(format!("{REST} more lines"))));
    }
}

/// Draws the reason why there is no answer, and the part of the answer that exists.
pub(super) fn draw_failure(
    page: &mut Page,
    failure: Failure,
    result: Option<&SingleResult>,
    output: &str,
    is_expanded: bool,
) {
    let items = result.map_or(&[][..], |result| &result.display_items);
    // Someone asked for an abort or set the budget, so these show no alarm.
    let is_wanted =
        result.is_some_and(|result| matches!(result.outcome, RunOutcome::Aborted | RunOutcome::Budget));
    let limit = if is_expanded { Limit::None } else { Limit::Lines(ERROR_LINES) };
    let color = if is_wanted { "warning" } else { "error" };
    let outcome = result.map_or("", |result| result.outcome.as_str());
    // The line of the check says the same.
    let check = result.and_then(|result| result.check.as_ref());
    if !check.is_some_and(|check| check.is_error(failure.message)) {
        page.text(color, &reason(outcome, failure.message), limit);
    }
    // An expanded card has the texts that led to calls above, with the calls.
    let partial = if is_expanded { new_text(items, output) } else { output };
    if !partial.is_empty() {
        draw_partial(page, partial, is_expanded);
    }
    let calls = items.iter().filter(|item| is_call(item)).count();
    if calls > 0 && !is_expanded {
        page.spans(page.hint(figures::counted(calls, "call")));
    }
}

/// Draws the facts that an answer may contradict, a line for each.
pub(crate) fn draw_caveats(page: &mut Page, caveats: &[Caveat]) {
    for caveat in caveats {
        page.wrapped(&[], &[Span::new("warning", caveat.message())], Limit::None);
    }
}

/// Draws the notes about models that took the place of an agent's, each once.
pub(super) fn draw_model_notes<'a>(page: &mut Page, results: impl IntoIterator<Item = &'a SingleResult>) {
    let notes: BTreeSet<&str> =
        results.into_iter().filter_map(|result| result.model_note.as_deref()).collect();
    for note in notes {
        page.wrapped(&[], &[Span::new("muted", folded(note))], Limit::None);
    }
}

/// Draws the check of the work, the changed files, and the command that applies or undoes them.
pub(crate) fn draw_artifacts(page: &mut Page, result: &SingleResult, is_expanded: bool) {
    if let Some(check) = &result.check {
        draw_check(page, check, is_expanded);
    }
    let is_said = |caveat: &Caveat| matches!(caveat, Caveat::NoWrite | Caveat::Unchanged);
    if result.outcome == RunOutcome::Completed && result.is_unchanged() && !result.caveats.iter().any(is_said)
    {
        page.wrapped(&[], &[Span::new("muted", UNCHANGED)], Limit::None);
    }
    files(page, [result], is_expanded);
    draw_next_step(page, result);
}

/// Draws the unfinished text of a run that did not complete.
pub(super) fn draw_partial(page: &mut Page, text: &str, is_expanded: bool) {
    draw_partial_label(page);
    draw_answer(page, text, PARTIAL_LINES, is_expanded);
}

/// Draws the label above an unfinished text.
pub(crate) fn draw_partial_label(page: &mut Page) {
    page.line([Span::new("muted", "last said:")]);
}

/// Draws the result of the check of the work, and its command, which may be long.
fn draw_check(page: &mut Page, check: &CheckReport, is_expanded: bool) {
    let (color, state) = if check.passed {
        ("success", "check passed".to_owned())
    } else {
        ("error", format!("check failed ({})", folded(&check.ended)))
    };
    let command = folded(beginning(&check.command, PREVIEW_CHARS));
    let spans = vec![Span::new(color, state), Span::new("muted", format!(": {command}"))];
    if is_expanded { page.wrapped(&[], &spans, Limit::None) } else { page.spans(spans) }
}

/// Draws the commands for an ended run: the one that continues an unfinished run, and the ones for its changes.
pub(super) fn draw_next_step(page: &mut Page, result: &SingleResult) {
    let Some(id) = result.run_id.as_deref().map(folded).filter(|id| !id.is_empty()) else { return };
    let is_done =
        matches!(result.outcome, RunOutcome::Completed | RunOutcome::Background | RunOutcome::Skipped);
    if !is_done && result.session_file.is_some() {
        draw_resume(page, &result.agent, &id, result.has_later_end);
    }
    let branch = result.isolation.as_ref().map(|isolation| isolation.branch.as_ref());
    let (location, action) = match branch {
        Some(Some(branch)) => {
            let branch = quoted_if_unusual(branch);
            let hint = if result.settled.is_some() { "" } else { ", not in your files" };
            (format!("on branch {branch}{hint}: "), "apply")
        }
        None if result.changes.as_ref().is_some_and(|changes| !changes.is_empty()) => {
            ("in your files: ".to_owned(), "undo")
        }
        _ => return,
    };
    let location = Span::new("muted", location);
    match result.settled {
        Some(settled) => {
            page.wrapped(&[], &[location, Span::new("success", settled.as_str())], Limit::None);
        }
        None => page.offer(&location, ["diff", action].map(|action| format!("/subagents {action} {id}"))),
    }
}

/// Draws the command that continues an unfinished run, unless it was already resumed.
pub(super) fn draw_resume(page: &mut Page, agent: &str, id: &str, is_resumed: bool) {
    if is_resumed {
        page.line([Span::new("success", "resumed")]);
        return;
    }
    let agent = format!("to continue {}: ", quoted_if_unusual(agent));
    page.offer(&Span::new("muted", agent), [format!("/subagents resume {id}")]);
}

/// Turns, tokens, cost, context and model, each only when there is something to say.
pub(super) fn figures(usage: &Usage, context: Option<ContextUse>, model: Option<&str>) -> Vec<Span> {
    let text = usage_text(usage);
    let model = model.filter(|model| !model.is_empty()).map(|model| quoted_if_unusual(model).into_owned());
    let texts = [text.turns, text.tokens, text.cost, context.map(context_text)];
    let texts = texts.into_iter().flatten().map(|text| Span::new("muted", text));
    // A narrow terminal drops the provider before the name.
    texts.chain(model.map(|model| Span::path("muted", &model))).collect()
}

/// Usages of several runs together.
pub(super) fn sum<'a>(usages: impl IntoIterator<Item = &'a Usage>) -> Usage {
    let mut all = Usage::default();
    for usage in usages {
        all.add(usage);
    }
    all
}

/// Draws attempts, files, redactions, and notes.
fn draw_details(page: &mut Page, result: &SingleResult) {
    let detail = |label: &str, text: String| [Span::new("muted", format!("{label} {text}"))];
    if result.attempts > 1 {
        page.line(detail("attempts", result.attempts.to_string()));
    }
    for (label, path) in [("session", &result.session_file), ("full answer", &result.full_output_file)] {
        draw_path(page, label, path.as_deref().unwrap_or_default());
    }
    let redacted = redacted(result);
    if let Some((values, rules)) = &redacted {
        page.wrapped(&[], &detail("redacted", format!("{values}: {}", folded(rules))), Limit::None);
    }
    // Without a card, a note says the same.
    let note = redacted.map(|(values, rules)| format!("{values} redacted: {rules}"));
    let is_drawn = |text: &&String| [note.as_ref(), result.model_note.as_ref()].contains(&Some(*text));
    for diagnostic in result.diagnostics.iter().filter(|text| !is_drawn(text)) {
        page.wrapped(&[], &detail("note", folded(diagnostic)), Limit::None);
    }
}

/// Returns the number of redacted values, and the rules.
fn redacted(result: &SingleResult) -> Option<(String, String)> {
    redacted_counts(result.redacted.iter().map(|values| (&*values.rule, values.count)))
}

/// Draws the place of a file on one line, if it is known.
pub(super) fn draw_path(page: &mut Page, label: &str, path: &str) {
    if !path.is_empty() {
        let path = Span::path("muted", &short_path(&folded(path)));
        page.spans(vec![Span::new("muted", format!("{label} ")), path]);
    }
}

/// Draws the last `limit` calls, with the texts among them: all that led to these calls, or only the text at `text_at`.
fn draw_calls(page: &mut Page, items: &[DisplayItem], limit: usize, text_at: Option<usize>) {
    let places: Vec<usize> =
        items.iter().enumerate().filter(|(_, item)| is_call(item)).map(|(at, _)| at).collect();
    let hidden = places.len().saturating_sub(limit);
    // After the last hidden call: with the text that led to the first one shown.
    let from = if hidden == 0 { 0 } else { places[hidden - 1] + 1 };
    // Text after the last call is the answer, which is shown below on its own.
    let end = places.last().map_or(0, |last| last + 1);
    if hidden > 0 {
        page.spans(more_note(figures::counted(hidden, "earlier call")));
    }
    for (at, item) in items[..end].iter().enumerate() {
        match item {
            DisplayItem::ToolCall { name, args, is_error, .. } if at >= from => {
                page.spans(marked_call(&short_form(name, args), *is_error));
            }
            DisplayItem::Text { text } if text_at.map_or(at >= from, |text_at| at == text_at) => {
                page.line([Span::new("muted", folded(beginning(text, PREVIEW_CHARS)))]);
            }
            _ => {}
        }
    }
}

/// Returns a tool call of a card, with a mark if it has failed.
pub(super) fn marked_call(call: &str, has_failed: bool) -> Vec<Span> {
    let mark = has_failed.then(|| Span::new("error", format!("{} ", Mark::Error.sign())));
    mark.into_iter().chain(call_spans("muted", call)).collect()
}

/// Returns a tool call, with its name in a colour of its own. If it is too long, the path at its end is shortened.
pub(crate) fn call_spans(name_color: Color, call: &str) -> Vec<Span> {
    let call = folded(call);
    let (name, given) = call.split_at(call.find(' ').map_or(0, |end| end + 1));
    let (before, path) = given.split_at(given.rfind(' ').map_or(0, |end| end + 1));
    let name = Span::new(name_color, name);
    // A shell command is not a path.
    if path.contains(['/', '\\']) && !call.starts_with('$') {
        return vec![name, Span::new("toolOutput", before), Span::path("toolOutput", path)];
    }
    vec![name, Span::new("toolOutput", given)]
}

fn is_call(item: &DisplayItem) -> bool {
    matches!(item, DisplayItem::ToolCall { .. })
}

/// Lines that calls and text get.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub calls: usize,
    pub text: usize,
    /// Shows each call with the text before it.
    pub shows_texts: bool,
}

/// Draws a run's newest calls, and the end of its text.
pub(super) fn draw_work(page: &mut Page, items: &[DisplayItem], text: &str, room: Room) {
    let new_text = new_text(items, text);
    let last = items.iter().rposition(|item| !is_call(item)).filter(|_| new_text.is_empty());
    // The index of no item, so no text is shown.
    let text_at = if room.shows_texts { None } else { Some(last.unwrap_or(usize::MAX)) };
    if room.calls > 0 {
        draw_calls(page, items, room.calls, text_at);
    }
    page.end_of_prose(new_text, room.text);
}

/// Returns a run's newest text; nothing while it makes the calls that followed its last text.
pub(super) fn new_text<'a>(items: &[DisplayItem], text: &'a str) -> &'a str {
    let items = items.iter().map(|item| match item {
        DisplayItem::Text { text } => Some(&**text),
        DisplayItem::ToolCall { .. } => None,
    });
    current_text(text, items)
}

/// Draws a task within `limit`, or the start of its first lines.
pub(super) fn draw_task(page: &mut Page, text: &str, is_expanded: bool, limit: Limit) {
    if is_blank(text) {
        return;
    }
    if is_expanded {
        page.text("muted", text, limit);
    } else {
        page.line([Span::new("muted", folded(beginning(text, PREVIEW_CHARS)))]);
    }
}

/// Returns true if a text has no words.
pub(super) fn is_blank(text: &str) -> bool {
    plain(text).trim().is_empty()
}
