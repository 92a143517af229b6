//! One run: its details below the list, and the parts around its transcript.

use super::view::{ShownRun, short};
use serde_json::Value;

use crate::present::cards::call_spans;
use crate::present::paint::{
    INDENT, Limit, PREVIEW_CHARS, Page, Part, Span, beginning, brief, folded, more_note, plain,
};
use sanitizer::text_enum;

/// Lines of the task below the list.
const TASK_LINES: usize = 3;
/// More lines than the panel gives to a run's text.
const TEXT_LINES: usize = 16;
/// The answer of a tool is a file or a listing: its start identifies it.
const RESULT_LINES: usize = 6;

/// A run, as the panel shows it.
#[derive(Debug)]
pub struct RunDrawing(ShownRun);

text_enum! {
    /// A part of a run's drawing.
    pub enum RunPart {
        /// The head of its transcript.
        Head = "head",
        /// Its question, on one line. Nothing without a question.
        Question = "question",
        /// Below the list: its task, and its newest call.
        Task = "task",
        /// Below the list: its newest text, or its result.
        Latest = "latest",
        /// Below the list: its usage.
        Usage = "usage",
        /// Below its transcript: how it has ended. Nothing while it works.
        Outcome = "outcome",
        /// Below its transcript: all that it is saying.
        Current = "current",
    }
}

impl RunDrawing {
    /// Reads a run from JSON. `None` for foreign data.
    #[must_use]
    pub fn read(run: &str) -> Option<Self> {
        serde_json::from_str(run).ok().map(Self)
    }

    /// Returns its name for people.
    #[must_use]
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Draws a part of it.
    pub fn draw(&self, page: &mut Page, part: RunPart, now_ms: i64) {
        let run = &self.0;
        match part {
            RunPart::Head => draw_head(page, run, now_ms),
            RunPart::Question => draw_question(page, run),
            RunPart::Outcome => draw_outcome(page, run, now_ms),
            RunPart::Task => page.indented(INDENT, |page| draw_task(page, run)),
            RunPart::Latest => page.indented(INDENT, |page| draw_latest(page, run, now_ms)),
            RunPart::Usage => page.indented(INDENT, |page| draw_usage(page, run)),
            RunPart::Current => page.indented(INDENT, |page| {
                page.prose(run.text.as_deref().unwrap_or_default(), Limit::None);
            }),
        }
    }
}

/// Draws an entry of a transcript, given as JSON. A message has a blank line above it. Calls and their answers stay
/// together.
pub fn draw_entry(page: &mut Page, entry: &str) {
    let entry: Value = serde_json::from_str(entry).unwrap_or_default();
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    let (text, is_error) =
        (field("text").unwrap_or_default(), entry.get("isError") == Some(&Value::Bool(true)));
    match field("role").unwrap_or_default() {
        "user" => {
            page.blank();
            page.wrapped(&[Span::new("accent", "❯ ")], &[Span::block("accent", text)], Limit::None);
        }
        "assistant" => {
            page.blank();
            page.indented(INDENT, |page| {
                if is_error { page.text("error", text, Limit::None) } else { page.prose(text, Limit::None) }
            });
        }
        "toolCall" => {
            let call = folded(beginning(text, PREVIEW_CHARS));
            let call = if call.is_empty() { field("name").unwrap_or("…") } else { &call };
            page.indented(INDENT, |page| draw_call(page, call));
        }
        "toolResult" => page.indented(2 * INDENT, |page| draw_tool_result(page, text, is_error)),
        _ => page.indented(INDENT, |page| page.text("dim", &brief(text), Limit::Lines(1))),
    }
}

/// Draws the note above the oldest entry that is loaded. `file`: the transcript that has the older ones, if they cannot be
/// loaded.
pub fn draw_older_entries(page: &mut Page, file: Option<&str>) {
    page.indented(INDENT, |page| match file {
        None => page.spans(vec![Span::new("dim", "… older entries are being read")]),
        Some(file) => page.spans(vec![Span::new("dim", "… older entries are in "), Span::path("dim", file)]),
    });
}

fn draw_tool_result(page: &mut Page, text: &str, is_error: bool) {
    let text = plain(text);
    let lines: Vec<_> = text.trim_end().split('\n').collect();
    // One more line is no longer than saying so.
    let rest = lines.len().saturating_sub(RESULT_LINES);
    let shown = if rest > 1 { RESULT_LINES } else { lines.len() };
    let color = if is_error { "error" } else { "dim" };
    for line in &lines[..shown] {
        page.line([Span::new(color, line)]);
    }
    if rest > 1 {
        page.spans(more_note(format!("{rest} more lines")));
    }
}

fn draw_head(page: &mut Page, run: &ShownRun, now_ms: i64) {
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
    page.line([Part::new(title)].into_iter().chain(parts.map(Part::from)));
}

fn draw_task(page: &mut Page, run: &ShownRun) {
    page.text("muted", &folded(beginning(&run.task, PREVIEW_CHARS)), Limit::Lines(TASK_LINES));
    draw_question(page, run);
    if let Some(call) = run.last_tool.as_deref().filter(|_| run.is_live()) {
        draw_call(page, &folded(call));
    }
}

fn draw_latest(page: &mut Page, run: &ShownRun, now_ms: i64) {
    if run.is_live() {
        page.end_of_prose(run.text.as_deref().unwrap_or_default(), TEXT_LINES);
        return;
    }
    if let Some(error) = run.failure() {
        page.text(run.color(now_ms), beginning(error, PREVIEW_CHARS), Limit::None);
    }
    let result = run.result.as_deref().filter(|result| !result.is_empty()).or(run.partial.as_deref());
    page.prose(beginning(result.unwrap_or_default(), PREVIEW_CHARS), Limit::Lines(TEXT_LINES));
}

fn draw_usage(page: &mut Page, run: &ShownRun) {
    let usage = run.usage_text();
    let parts = [usage.turns, usage.tokens, usage.cost, run.context(), run.model.as_deref().map(folded)];
    page.figures(parts.into_iter().flatten().map(|text| Span::new("dim", text)), usize::MAX);
}

fn draw_outcome(page: &mut Page, run: &ShownRun, now_ms: i64) {
    if run.is_live() {
        return;
    }
    let mark = run.mark(now_ms);
    let note = run.note(now_ms);
    let text = format!("{} {}", mark.text, if note.is_empty() { "completed" } else { &note });
    page.blank();
    page.line([Span { text, ..mark }, Span::new("muted", run.elapsed(now_ms))]);
    if let Some(error) = run.failure() {
        page.indented(INDENT, |page| page.text(run.color(now_ms), error, Limit::None));
    }
}

/// A tool call in one line.
fn draw_call(page: &mut Page, call: &str) {
    let mut spans = vec![Span::new("dim", "→ ")];
    spans.append(&mut call_spans("toolOutput", call));
    page.spans(spans);
}

/// Draws a run's question, in a line of its own, with its run and agent: the name leaves room for the question.
fn draw_question(page: &mut Page, run: &ShownRun) {
    let Some(asked) = run.pending_question() else { return };
    let name = run.name();
    let agent = run.agent();
    let agent = if agent == name || agent.is_empty() { String::new() } else { format!(" ({agent})") };
    let chars = match page.width() {
        ..44 => 10,
        44..60 => 20,
        60..120 => 28,
        _ => 40,
    };
    page.spans(vec![
        Span::new("warning", "? "),
        Span::new("accent", format!("{}{agent}", short(&name, chars))),
        Span::new("muted", " asks: "),
        Span::new("toolOutput", asked),
    ]);
}
