//! The work and the result of a run: its calls and texts, an answer or the reason why there is none, changed files, paths.

use super::files::files;
use super::stored::{CallFailure, Check, EndedTask, Isolation, Item, count};
use crate::present::drawing::{
    Drawing, PREVIEW_CHARS, Part, Row, Span, beginning, folded, hint, more_note, plain, short_path,
};
use crate::present::usage_text;
use crate::present::usage_text::context_text;
use pi_events::{ContextUse, Usage};
use sanitizer::{figures, quoted_if_unusual, quoted_within, redacted_counts};

pub(super) const ANSWER_LINES: u32 = 6;
const ERROR_LINES: u32 = 6;
pub(super) const PARTIAL_LINES: u32 = 3;

/// The reason why a call did not simply succeed.
#[derive(Clone, Copy, Default)]
pub(super) struct Failure<'a> {
    pub code: Option<&'a str>,
    pub message: &'a str,
}

impl<'a> From<&'a CallFailure> for Failure<'a> {
    fn from(CallFailure { code, message }: &'a CallFailure) -> Self {
        Self { code: Some(code), message }
    }
}

/// Returns all details of an ended run. A problem of a successful run is a note.
pub(super) fn ended(
    result: &EndedTask,
    output: &str,
    failed: bool,
    failure: Option<Failure>,
    is_expanded: bool,
) -> Drawing {
    let items = result.display_items.as_deref().unwrap_or_default();
    let mut rows = if is_expanded { calls(items, usize::MAX, None) } else { Drawing::new() };
    if failed {
        rows.extend(failure_rows(failure.unwrap_or_default(), Some(result), output, is_expanded));
    } else {
        rows.extend(answer(output, ANSWER_LINES, is_expanded));
        rows.extend(failure.map(|failure| Row::text("warning", failure.message)));
    }
    rows.extend(result.check.as_ref().map(check));
    rows.extend(files([result], is_expanded));
    rows.extend(next_step(result));
    rows.push(Row::parts(figures(&result.usage, result.context, result.model.as_deref())));
    if is_expanded || result.outcome == "interrupted" {
        rows.extend(details(result));
    }
    rows
}

/// An answer as Markdown, or the start of it.
pub(super) fn answer(text: &str, limit: u32, is_expanded: bool) -> Drawing {
    if is_expanded {
        return vec![Row::blank(), Row::prose(text), Row::blank()];
    }
    // An answer can be 50 KB: no more of it is laid out than may be shown.
    let source = beginning(text, PREVIEW_CHARS);
    if source.len() < text.len() {
        return vec![Row::prose(source).limited(limit, Vec::new()), Row::spans(hint("more"))];
    }
    vec![Row::prose(text).limited(limit, hint("{rest} more lines"))]
}

/// Returns the reason why there is no answer, and the part of the answer that exists.
pub(super) fn failure_rows(
    failure: Failure,
    result: Option<&EndedTask>,
    output: &str,
    is_expanded: bool,
) -> Drawing {
    let items = result.and_then(|result| result.display_items.as_deref()).unwrap_or_default();
    // Someone asked for an abort or set the budget, so these show no code and no alarm.
    let is_wanted = result.is_some_and(|result| matches!(result.outcome.as_str(), "aborted" | "budget"));
    let mut rows = Drawing::new();
    if let Some(code) = failure.code.filter(|code| !code.is_empty() && !is_wanted) {
        rows.push(Row::line([Span::new("error", folded(code)).bold()]));
    }
    let reason = Row::text(if is_wanted { "warning" } else { "error" }, failure.message);
    rows.push(if is_expanded { reason } else { reason.limited(ERROR_LINES, Vec::new()) });
    // An expanded card has the texts that led to calls above, with the calls.
    let partial = if is_expanded { new_text(items, output) } else { output };
    if !partial.is_empty() {
        rows.extend(answer(partial, PARTIAL_LINES, is_expanded));
    }
    let calls = items.iter().filter(|item| matches!(item, Item::Call(_))).count();
    if calls > 0 && !is_expanded {
        rows.push(Row::spans(hint(figures::counted(calls, "call"))));
    }
    rows
}

/// Returns the result of the check of the work.
fn check(check: &Check) -> Row {
    let (color, state) = if check.passed { ("success", "passed") } else { ("error", "failed") };
    let command = Span::new("muted", format!("check {} ", quoted_within(&check.command, PREVIEW_CHARS)));
    let ended = if check.passed { String::new() } else { format!(": {}", folded(&check.ended)) };
    Row::line([command, Span::new(color, format!("{state}{ended}"))])
}

/// Returns the place of a run's changes, and the command that applies or undoes them.
pub(super) fn next_step(result: &EndedTask) -> Option<Row> {
    let id = result.run_id.as_deref().map(folded).filter(|id| !id.is_empty())?;
    let (location, action) = match &result.isolation {
        Some(Isolation { branch }) => {
            let branch = quoted_if_unusual(branch.as_deref()?);
            (format!("on branch {branch}, not in your files: "), "apply")
        }
        None if result.changes.as_ref().is_some_and(|changes| !changes.is_empty()) => {
            ("in your files: ".to_owned(), "undo")
        }
        None => return None,
    };
    let command = Span::new("accent", format!("/subagents {action} {id}"));
    Some(Row::wrapped(vec![Span::new("muted", location), command]))
}

/// Turns, tokens, cost, context and model, each only when there is something to say.
pub(super) fn figures(usage: &Usage, context: Option<ContextUse>, model: Option<&str>) -> Vec<Span> {
    let text = usage_text(usage);
    let model = model.filter(|model| !model.is_empty()).map(|model| quoted_if_unusual(model).into_owned());
    let texts = [text.turns, text.tokens, text.cost, context.map(context_text), model];
    texts.into_iter().flatten().map(|text| Span::new("dim", text)).collect()
}

/// Usages of several runs together.
pub(super) fn sum<'a>(usages: impl IntoIterator<Item = &'a Usage>) -> Usage {
    let mut all = Usage::default();
    for usage in usages {
        all.add(usage);
    }
    all
}

pub(super) fn usage_row(usage: &Usage, model: Option<&str>) -> Row {
    Row::parts(figures(usage, None, model))
}

/// Returns attempts, files, redactions, and notes.
fn details(result: &EndedTask) -> Drawing {
    let mut rows = Drawing::new();
    if result.attempts > 1.0 {
        let attempts = result.attempts.to_string();
        rows.push(Row::spans(vec![Span::new("muted", "attempts "), Span::new("dim", attempts)]));
    }
    let places = [("session", &result.session_file), ("full answer", &result.full_output_file)];
    for (label, path) in places {
        rows.extend(path.as_deref().filter(|path| !path.is_empty()).map(|path| path_row(label, path)));
    }
    let redacted = redacted(result);
    rows.extend(redacted.iter().map(|(values, rules)| {
        Row::wrapped(vec![
            Span::new("muted", "redacted "),
            Span::new("dim", format!("{values}: {}", folded(rules))),
        ])
    }));
    // Without a card, a note says the same.
    let note = redacted.map(|(values, rules)| format!("{values} redacted: {rules}"));
    rows.extend(
        result
            .diagnostics
            .iter()
            .flatten()
            .filter(|diagnostic| Some(*diagnostic) != note.as_ref())
            .map(|note| Row::wrapped(vec![Span::new("muted", "note "), Span::new("dim", folded(note))])),
    );
    rows
}

/// Returns the number of redacted values, and the rules.
fn redacted(result: &EndedTask) -> Option<(String, String)> {
    let rules = result.redacted.iter().flatten();
    redacted_counts(
        rules.map(|rule| (rule.rule.as_str(), usize::try_from(count(rule.count)).unwrap_or(usize::MAX))),
    )
}

/// Returns the place of a file, on one line.
pub(super) fn path_row(label: &str, path: &str) -> Row {
    let path = Span::path("dim", &short_path(&folded(path)));
    Row::spans(vec![Span::new("muted", format!("{label} ")), path])
}

/// The last `limit` calls, with the texts among them: all that led to these calls, or only the text at `text_at`.
pub(super) fn calls(items: &[Item], limit: usize, text_at: Option<usize>) -> Drawing {
    let places: Vec<usize> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| matches!(item, Item::Call(_)))
        .map(|(at, _)| at)
        .collect();
    let hidden = places.len().saturating_sub(limit);
    // After the last hidden call: with the text that led to the first one shown.
    let from = if hidden == 0 { 0 } else { places[hidden - 1] + 1 };
    // Text after the last call is the answer, which is shown below on its own.
    let end = places.last().map_or(0, |last| last + 1);
    let mut rows = Drawing::new();
    if hidden > 0 {
        rows.push(Row::spans(more_note(figures::counted(hidden, "earlier call"))));
    }
    rows.extend(items[..end].iter().enumerate().filter_map(|(at, item)| match item {
        Item::Call(call) => (at >= from).then(|| Row::spans(call_spans(call))),
        Item::Text(text) => {
            let is_shown = text_at.map_or(at >= from, |text_at| at == text_at);
            is_shown.then(|| Row::line([Span::new("dim", folded(beginning(text, PREVIEW_CHARS)))]))
        }
    }));
    rows
}

/// Returns a tool call, with its name apart from its arguments. If it is too long, the path at its end is shortened.
pub(super) fn call_spans(call: &str) -> Vec<Span> {
    let call = folded(call);
    let (name, given) = call.split_at(call.find(' ').map_or(0, |end| end + 1));
    let start = given.rfind(' ').map_or(0, |end| end + 1);
    let (before, path) = given.split_at(start);
    // A shell command is not a path.
    let has_path = path.contains(['/', '\\']) && !call.starts_with('$');
    let mut spans = vec![Span::new("muted", name)];
    if has_path {
        spans.extend([Span::new("toolOutput", before), Span::path("toolOutput", path)]);
    } else {
        spans.push(Span::new("toolOutput", given));
    }
    spans
}

/// Lines that calls and text get.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub calls: usize,
    pub text: u32,
    /// Shows each call with the text before it.
    pub shows_texts: bool,
}

/// Returns a run's newest calls, and the end of its text.
pub(super) fn work(items: &[Item], text: &str, room: Room) -> Drawing {
    let new_text = new_text(items, text);
    let last = items.iter().rposition(|item| matches!(item, Item::Text(_))).filter(|_| new_text.is_empty());
    // The index of no item, so no text is shown.
    let text_at = if room.shows_texts { None } else { Some(last.unwrap_or(usize::MAX)) };
    let mut rows = if room.calls == 0 { Drawing::new() } else { calls(items, room.calls, text_at) };
    if !new_text.is_empty() {
        rows.push(Row::end_of_prose(new_text, room.text));
    }
    rows
}

/// Returns a run's newest text; nothing while it makes the calls that followed its last text.
pub(super) fn new_text<'a>(items: &[Item], text: &'a str) -> &'a str {
    let text = text.trim();
    let last = items.iter().rev().find_map(|item| match item {
        Item::Text(text) => Some(text.trim()),
        Item::Call(_) => None,
    });
    let is_old = matches!(items.last(), Some(Item::Call(_))) && last == Some(text);
    if is_old { "" } else { text }
}

/// A task in full, or the start of its first lines.
pub(super) fn task(text: &str, is_expanded: bool) -> Option<Row> {
    let is_blank = plain(text).trim().is_empty();
    let row = if is_expanded {
        Row::text("muted", text)
    } else {
        Row::line([Part::from(Span::new("muted", folded(beginning(text, PREVIEW_CHARS))))])
    };
    (!is_blank).then_some(row)
}
