//! The second view: a run's growing transcript, with its task, texts, tool calls and results.

use std::cell::LazyCell;

use serde::Deserialize;

use super::actions::Hint;
use super::keys::{PanelAction, scrolled};
use super::runs::Runs;
use super::window::{Screen, Window};
use crate::present::Clock;
use crate::present::cards::draw_artifacts;
use crate::present::paint::{INDENT, Limit, Page, Span, Theme, folded};
use crate::present::runs::{ShownRun, draw_older_entries, draw_outcome, draw_question};
use crate::transcript::{Transcript, TranscriptRole};

/// The number of entries read to follow the end. Older ones are read when the user scrolls to them.
const NEWEST_ENTRIES: usize = 80;
/// The maximum number of entries read. The transcript file has the others.
const MAX_ENTRIES: usize = 4_000;

/// A transcript, and the version of its file.
#[derive(Deserialize)]
struct Versioned {
    #[serde(flatten)]
    transcript: Transcript,
    version: String,
}

/// A read of a transcript.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) entries: usize,
    pub(super) tools: bool,
}

/// The view of one transcript.
#[derive(Debug)]
pub(super) struct TranscriptView {
    /// The last known state of the run. The run may be removed while the user reads.
    pub(super) run: ShownRun,
    pub(super) is_removed: bool,
    window: Window,
    with_tools: bool,
    version: Option<String>,
    problem: Option<String>,
    /// The number of newest entries to read.
    requested: usize,
    /// The step of the read that is under way.
    reading: Option<u32>,
    /// The file has older entries, but they cannot be read.
    is_exhausted: bool,
    height: usize,
    /// The newest text of the model in the file.
    newest: Option<String>,
    tail: Tail,
}

/// The laid out text that is not in the file yet.
#[derive(Debug, Default)]
struct Tail {
    text: String,
    /// The theme and the width of the lines.
    laid_out: (u32, usize),
    lines: Vec<String>,
}

impl TranscriptView {
    pub(super) fn new(run: ShownRun) -> Self {
        Self {
            run,
            is_removed: false,
            window: Window::default(),
            with_tools: true,
            version: None,
            problem: None,
            requested: NEWEST_ENTRIES,
            reading: None,
            is_exhausted: false,
            height: 1,
            newest: None,
            tail: Tail::default(),
        }
    }

    /// Requests the newest entries.
    fn want(&mut self, entries: usize) {
        self.requested = self.requested.max(entries);
    }

    /// Begins the requested read with the step `id`, unless one is under way.
    pub(super) fn begin_read(&mut self, id: u32) -> Option<Read> {
        if self.reading.is_some() || self.requested == 0 {
            return None;
        }
        self.reading = Some(id);
        Some(Read { entries: std::mem::take(&mut self.requested), tools: self.with_tools })
    }

    /// Returns true if its read has the step `id`.
    pub(super) fn reads_with(&self, id: u32) -> bool {
        self.reading == Some(id)
    }

    /// Allows the next read.
    pub(super) fn end_read(&mut self) {
        self.reading = None;
    }

    /// Takes the answer to a read.
    pub(super) fn take(&mut self, Read { entries, tools }: Read, answer: Result<&str, &str>) {
        let read = answer
            .map_err(str::to_owned)
            .and_then(|json| serde_json::from_str::<Versioned>(json).map_err(|error| error.to_string()));
        self.problem = None;
        match read {
            Err(problem) => self.problem = Some(folded(&problem)),
            // Requested before the tools were shown or hidden.
            Ok(_) if tools != self.with_tools => self.want(NEWEST_ENTRIES),
            Ok(read) => self.take_entries(read, entries),
        }
        self.request_older();
    }

    fn take_entries(&mut self, Versioned { transcript, version }: Versioned, asked: usize) {
        let before = self.window.len();
        if self.version.is_none() {
            self.window.clear();
            self.is_exhausted = false;
        } else if self.version.as_ref() == Some(&version) && asked <= before {
            return;
        }
        let newest = transcript.entries.iter().rev();
        let newest = newest.into_iter().find(|entry| entry.role() == TranscriptRole::Assistant);
        self.newest = newest.map(|entry| entry.parts().0.into_owned());
        self.window.take(transcript);
        if asked > NEWEST_ENTRIES {
            self.is_exhausted = self.window.len() <= before;
        }
        self.version = Some(version);
    }

    /// Requests older entries when the user scrolls to the top. The number doubles each time, so that reading everything
    /// costs at most twice the file.
    fn request_older(&mut self) {
        if self.window.is_at_top() && self.window.has_more && !self.is_exhausted {
            self.want(MAX_ENTRIES.min(self.window.len() * 2));
        }
    }

    /// Scrolls, or shows or hides tool calls. Returns false for other actions.
    pub(super) fn press(&mut self, action: PanelAction) -> bool {
        if let Some(by) = scrolled(action, self.height) {
            self.window.scroll(by);
        } else if action == PanelAction::Tools {
            self.with_tools = !self.with_tools;
            self.version = None;
            self.want(NEWEST_ENTRIES);
        } else {
            return false;
        }
        true
    }

    /// Takes the current state of the run.
    pub(super) fn refresh(&mut self, runs: &Runs) {
        let known = runs.run(&self.run.key);
        self.is_removed = known.is_none();
        let Some(run) = known else { return };
        // The file of a run that has ended does not change, and is not read again.
        let grows = self.run.is_live() || run.is_live() || run.times_resumed != self.run.times_resumed;
        self.run = run.clone();
        if grows {
            self.want(NEWEST_ENTRIES);
        }
    }

    /// Returns the keys of the view, around the keys for its run.
    pub(super) fn hints(&self, of_run: Vec<Hint>) -> Vec<Hint> {
        let tools = (PanelAction::Tools, if self.with_tools { "without tools" } else { "with tools" });
        if self.window.is_following() {
            [of_run, vec![tools, (PanelAction::Up, "scroll")]].concat()
        } else {
            [vec![(PanelAction::Bottom, "follow")], of_run, vec![tools]].concat()
        }
    }

    /// Returns at most `rows` lines.
    pub(super) fn draw(
        &mut self,
        theme: Theme,
        version: u32,
        width: usize,
        rows: usize,
        now_ms: i64,
    ) -> Vec<String> {
        let asked = Page::draw(theme, width, |page| draw_question(page, &self.run));
        self.height = rows.saturating_sub(asked.len());
        let mut kept = std::mem::take(&mut self.tail);
        let (run, newest) = (&self.run, self.newest.as_deref());
        let tail = LazyCell::new(|| kept.draw(theme, (version, width), run, newest, now_ms));
        let mut lines = if self.window.len() == 0 {
            let mut lines = Page::draw(theme, width, |page| {
                page.blank();
                self.draw_without_entries(page, &tail, now_ms);
            });
            lines.truncate(self.height);
            lines
        } else {
            self.window.visible(&Screen { theme, version, width, rows: self.height, tail: &tail })
        };
        drop(tail);
        self.tail = kept;
        self.request_older();
        let is_blank = lines.first().is_some_and(String::is_empty);
        if self.window.len() > 0 && self.window.is_at_top() && self.window.has_more && is_blank {
            // The line above the oldest entry is blank, which leaves room for the note about older entries.
            let file = self.run.transcript.as_deref().map(|file| file.display().to_string());
            let file = file.unwrap_or_else(|| "the child's session file".to_owned());
            let file = self.is_exhausted.then_some(file.as_str());
            lines.splice(..1, Page::draw(theme, width, |page| draw_older_entries(page, file)));
        }
        lines.extend(asked);
        lines
    }

    fn draw_without_entries(&self, page: &mut Page, tail: &[String], now_ms: i64) {
        let run = &self.run;
        if let Some(archived_ms) = run.archived_ms {
            let archived = Clock::system().at(archived_ms);
            let result = [&run.result, &run.partial].into_iter().flatten().find(|text| !text.is_empty());
            page.indented(INDENT, |page| {
                let text = format!("The transcript was archived {archived}. The result:");
                page.text("muted", &text, Limit::None);
                page.blank();
                page.prose(result.map_or("(nothing)", String::as_str), Limit::Lines(usize::MAX));
                for artifacts in &run.artifacts {
                    draw_artifacts(page, &artifacts.as_result(&run.run_id, run.settled_of(artifacts)), true);
                }
            });
        } else if let Some(problem) = &self.problem {
            page.indented(INDENT, |page| page.text("warning", problem, Limit::None));
            draw_outcome(page, run, now_ms);
        } else if self.version.is_none() {
            page.indented(INDENT, |page| page.spans(vec![Span::new("muted", "Reading …")]));
        } else {
            page.indented(INDENT, |page| page.text("muted", &run.task, Limit::None));
            page.blank();
            let waits = if run.is_live() { "No text yet." } else { "No text." };
            // It is not moved to the right.
            page.indented(INDENT, |page| page.spans(vec![Span::new("muted", waits)]));
            page.push_lines(tail.iter().cloned());
        }
    }
}

impl Tail {
    /// Returns the lines of the text that is not in the file yet, or of the run's outcome.
    fn draw(
        &mut self,
        theme: Theme,
        laid_out: (u32, usize),
        run: &ShownRun,
        newest: Option<&str>,
        now_ms: i64,
    ) -> Vec<String> {
        let (_, width) = laid_out;
        if !run.is_live() {
            return Page::draw(theme, width, |page| draw_outcome(page, run, now_ms));
        }
        let text = run.progress.text.as_deref().unwrap_or_default().trim();
        if text.is_empty() || newest.is_some_and(|newest| newest.contains(text)) {
            return Vec::new();
        }
        if self.laid_out != laid_out || self.text != text {
            let lines = Page::draw(theme, width, |page| {
                page.blank();
                page.indented(INDENT, |page| page.prose(text, Limit::None));
            });
            *self = Self { text: text.to_owned(), laid_out, lines };
        }
        self.lines.clone()
    }
}
