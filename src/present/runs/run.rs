//! One run: its details below the list, and the parts around its transcript.

use super::view::{ShownRun, brief, call_spans, short};
use serde_json::Value;

use crate::present::drawing::{Drawing, Fit, INDENT, PREVIEW_CHARS, Part, Row, Span};
use crate::present::drawing::{beginning, folded, indented, more_note, plain};

/// Lines of the task, and of the usage, below the list.
const TASK_LINES: u32 = 3;
/// More lines than the panel gives to a run's text.
const TEXT_LINES: u32 = 16;
/// The answer of a tool is a file or a listing: its start identifies it.
const RESULT_LINES: usize = 6;

/// A run, as the panel shows it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunDrawing {
    /// Its name for people.
    pub name: String,
    /// The head of its transcript.
    pub head: Drawing,
    /// Its question.
    pub question: Drawing,
    /// Below the list: its task, and its newest call.
    pub task: Drawing,
    /// Below the list: its newest text, or its result.
    pub latest: Drawing,
    /// Below the list: its usage.
    pub usage: Drawing,
    /// Below its transcript: how it has ended.
    pub outcome: Drawing,
    /// Below its transcript: all that it is saying.
    pub current: Drawing,
}

/// Draws a run, given as JSON; nothing for foreign data.
#[must_use]
pub fn run_drawing(run: &str, now: i64) -> RunDrawing {
    let Ok(run) = serde_json::from_str::<ShownRun>(run) else { return RunDrawing::default() };
    let question: Drawing =
        run.pending_question().map(|asked| question_row(&run, &asked)).into_iter().collect();
    RunDrawing {
        name: run.name(),
        head: vec![head(&run, now)],
        task: task(&run, &question),
        latest: latest(&run, now),
        usage: vec![usage_row(&run).indented(INDENT)],
        outcome: outcome(&run, now),
        current: indented(vec![Row::prose(run.text.as_deref().unwrap_or_default())], INDENT),
        question,
    }
}

/// Draws an entry of a transcript, given as JSON. A message has a blank line above it. Calls and their answers stay
/// together.
#[must_use]
pub fn entry_drawing(entry: &str) -> Drawing {
    let entry: Value = serde_json::from_str(entry).unwrap_or_default();
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    let (text, is_error) =
        (field("text").unwrap_or_default(), entry.get("isError") == Some(&Value::Bool(true)));
    let with_blank = |row: Row| vec![Row::blank(), row];
    match field("role").unwrap_or_default() {
        "user" => {
            let lead = vec![Span::new("accent", "❯ ")];
            let spans = vec![Span::block("accent", text)];
            with_blank(Fit::Text { lead, label: None, spans, max_rows: None, more: Vec::new() }.into())
        }
        "assistant" if is_error => with_blank(Row::text("error", text).indented(INDENT)),
        "assistant" => with_blank(Row::prose(text).indented(INDENT)),
        "toolCall" => {
            let call = folded(beginning(text, PREVIEW_CHARS));
            let call = if call.is_empty() { field("name").unwrap_or("…") } else { &call };
            vec![call_row(call).indented(INDENT)]
        }
        "toolResult" => indented(result_rows(text, is_error), 2 * INDENT),
        _ => vec![Row::text("dim", &brief(text)).limited(1, Vec::new()).indented(INDENT)],
    }
}

fn result_rows(text: &str, is_error: bool) -> Drawing {
    let text = plain(text);
    let lines: Vec<_> = text.trim_end().split('\n').collect();
    // One more line is no longer than saying so.
    let rest = lines.len().saturating_sub(RESULT_LINES);
    let shown = if rest > 1 { RESULT_LINES } else { lines.len() };
    let color = if is_error { "error" } else { "dim" };
    let mut rows: Drawing = lines[..shown].iter().map(|line| Row::line([Span::new(color, line)])).collect();
    rows.extend((rest > 1).then(|| Row::spans(more_note(format!("{rest} more lines")))));
    rows
}

fn head(run: &ShownRun, now_ms: i64) -> Row {
    let mark = run.mark(now_ms);
    let name = run.name();
    let agent = folded(&run.agent);
    let color = if run.is_live() { "muted" } else { run.color(now_ms) };
    let usage = run.usage_text();
    let title = vec![Span { text: format!("{} ", mark.text), ..mark }, Span::new("toolTitle", &name).bold()];
    let parts = [
        Span::new("muted", if agent == name { "" } else { &agent }),
        Span::new("muted", run.elapsed(now_ms)),
        Span::new(color, run.note(now_ms)),
        Span::new("dim", run.model()),
        Span::new("dim", usage.tokens.unwrap_or_default()),
        Span::new("dim", usage.cost.unwrap_or_default()),
        Span::new("dim", run.context().unwrap_or_default()),
    ];
    Row::line([Part::new(title)].into_iter().chain(parts.map(Part::from)))
}

fn task(run: &ShownRun, question: &Drawing) -> Drawing {
    let task = Row::text("muted", &folded(beginning(&run.task, PREVIEW_CHARS)));
    let call = run.last_tool.as_deref().filter(|_| run.is_live()).map(|call| call_row(&folded(call)));
    let rows = [task.limited(TASK_LINES, Vec::new())].into_iter().chain(question.clone()).chain(call);
    indented(rows.collect(), INDENT)
}

fn latest(run: &ShownRun, now_ms: i64) -> Drawing {
    if run.is_live() {
        let end = Row::end_of_prose(run.text.as_deref().unwrap_or_default(), TEXT_LINES);
        return vec![end.indented(INDENT)];
    }
    let result = run.result.as_deref().filter(|result| !result.is_empty()).or(run.partial.as_deref());
    let result =
        result.map(|text| Row::prose(beginning(text, PREVIEW_CHARS)).limited(TEXT_LINES, Vec::new()));
    let failed = run.failure().map(|error| Row::text(run.color(now_ms), beginning(error, PREVIEW_CHARS)));
    indented(failed.into_iter().chain(result).collect(), INDENT)
}

fn usage_row(run: &ShownRun) -> Row {
    let usage = run.usage_text();
    let parts = [usage.turns, usage.tokens, usage.cost, run.context(), run.model.as_deref().map(folded)];
    let parts = parts.into_iter().flatten().filter(|text| !text.is_empty());
    Row::parts(parts.map(|text| Span::new("dim", text)))
}

fn outcome(run: &ShownRun, now_ms: i64) -> Drawing {
    if run.is_live() {
        return Drawing::new();
    }
    let mark = run.mark(now_ms);
    let note = run.note(now_ms);
    let text = format!("{} {}", mark.text, if note.is_empty() { "completed" } else { &note });
    let line = Row::line([Span { text, ..mark }, Span::new("muted", run.elapsed(now_ms))]);
    let error = run.failure().map(|error| Row::text(run.color(now_ms), error).indented(INDENT));
    [Row::blank(), line].into_iter().chain(error).collect()
}

/// A tool call in one line.
fn call_row(call: &str) -> Row {
    let mut spans = vec![Span::new("dim", "→ ")];
    spans.append(&mut call_spans(call));
    Row::spans(spans)
}

/// Draws a run's question, in a line of its own, with its run and agent: the name leaves room for the question.
fn question_row(run: &ShownRun, asked: &str) -> Row {
    let name = run.name();
    let agent = run.agent();
    let agent = if agent == name || agent.is_empty() { String::new() } else { format!(" ({agent})") };
    let variants =
        [(None, Some(44), 10), (Some(44), Some(60), 20), (Some(60), Some(120), 28), (Some(120), None, 40)];
    Row::line(variants.map(|(from, until, chars)| {
        let name = Span::new("accent", format!("{}{agent}", short(&name, chars)));
        let pending_question = [Span::new("muted", " asks: "), Span::new("toolOutput", asked)];
        let spans = [Span::new("warning", "? "), name].into_iter().chain(pending_question).collect();
        Part { from, until, ..Part::new(spans) }
    }))
}
