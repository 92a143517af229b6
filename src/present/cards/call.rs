//! The card of a call. Collapsed it says how its run goes, or has a line for each of several tasks; expanded it shows all
//! that is known of them.

use std::collections::BTreeSet;

use super::files::files;
use super::state::{Call, Extent, Phase};
use super::task_rows::TaskList;
use super::tasks::{TaskView, clock, common_model};
use super::work::{self, ANSWER_LINES, Failure, Room, draw_failure, figures, sum};
use super::{draw_foreign, title};
use crate::present::Mark;
use crate::present::counts::counts;
use crate::present::paint::{INDENT, Limit, Page, Part, REST, Span, more_note};
use crate::run::{Caveat, ErrorCode, Mode};
use pi_events::Usage;
use sanitizer::figures::counted;

/// Rows that pi needs below a card: its borders, the working line, the editor, the footer.
const PI_ROWS: usize = 12;
/// The rows of an expanded card in a terminal of unknown height, and the most in a higher one.
const MAX_ROWS: usize = 43;
const MIN_ROWS: usize = 10;
/// Of one run at work, collapsed.
const RECENT: Room = Room { calls: 3, text: 2, shows_texts: false };
/// Lines that sum up several tasks under way, where a narrow terminal breaks them.
const SUMMARY_ROWS: usize = 3;

/// A narrower card shows its state instead of the name of the tool.
const TOOL_FROM: usize = 36;
/// A call that has run for less shows no keys, because it may be about to end.
const KEYS_FROM_MS: f64 = 5_000.0;

/// A card at one moment.
struct Card<'a> {
    call: &'a Call,
    list: TaskList<'a>,
    is_expanded: bool,
    rows: Option<usize>,
    elapsed_ms: Option<f64>,
    /// The keys that work while the call runs.
    keys: Vec<Span>,
}

impl Call {
    /// Draws the first line, and the task, or the planned tasks until an update knows more of them.
    pub(super) fn draw_head(&self, page: &mut Page, extent: &Extent) {
        Card::new(self, extent).draw_head(page);
    }

    /// Draws the lower part: the progress, or the result.
    pub(super) fn draw_body(&self, page: &mut Page, extent: &Extent) {
        if self.details.is_none() {
            draw_foreign(page, &self.text, self.has_failed, extent.is_expanded);
        } else {
            Card::new(self, extent).draw_body(page);
        }
    }
}

impl<'a> Card<'a> {
    fn new(call: &'a Call, extent: &Extent) -> Self {
        let now = extent.now_ms;
        let views = match (&call.details, &call.tasks) {
            (Some(details), _) if call.phase == Phase::Done => {
                let results = details.results.iter().enumerate();
                results.map(|(at, result)| TaskView::ended(result, call.plan.get(at), now)).collect()
            }
            (_, Some(tasks)) if call.phase != Phase::Done => {
                let age = call.since_update_ms(now);
                let tasks = tasks.iter().enumerate();
                tasks.map(|(at, task)| TaskView::live(task, call.plan.get(at), age, now)).collect()
            }
            _ if call.phase == Phase::Done => Vec::new(),
            _ => call.plan.iter().map(|plan| TaskView::planned(plan, now)).collect(),
        };
        let list = TaskList::new(call.mode, views);
        let elapsed_ms = call.elapsed_ms(now);
        let is_long = elapsed_ms.is_some_and(|elapsed| elapsed >= KEYS_FROM_MS);
        let keys = [(&extent.stop_key, "stop"), (&extent.background_key, "background")];
        let keys = keys.into_iter().filter(|(key, _)| call.is_running() && is_long && !key.is_empty());
        let keys = keys.map(|(key, action)| Span::new("muted", format!("{key} {action}"))).collect();
        Self { call, list, is_expanded: extent.is_expanded, rows: extent.rows, elapsed_ms, keys }
    }

    fn draw_head(&self, page: &mut Page) {
        let Self { call, list, .. } = self;
        let asked = call.plan.first();
        if call.mode == Mode::Single {
            let name = asked.map(|asked| asked.agent.as_str()).filter(|agent| !agent.is_empty());
            let title = match name.filter(|_| page.width() < TOOL_FROM) {
                Some(name) => title(self.mark(), name, ""),
                None => {
                    title(self.mark(), "subagent", name.unwrap_or(if self.has_ended() { "" } else { "…" }))
                }
            };
            // The body has the facts that a completed answer may contradict.
            let has_caveat = |view: &&TaskView| view.is_completed() && view.has_caveat();
            let first = list.views.first().filter(|view| !has_caveat(view));
            let note = first.filter(|_| call.phase != Phase::Pending);
            let note = Span::new(self.mark().color(), note.map(TaskView::note).unwrap_or_default());
            let clock = if self.is_high() { Span::default() } else { self.clock() };
            page.line([title, Part::from(clock).ranked(1), note.into()]);
            if let Some(asked) = asked {
                page.indented(INDENT, |page| self.draw_task(page, &asked.task));
            }
            return;
        }
        // While the call runs, the clock is in the last line, because this one may be out of sight (see `max_rows`).
        let clock = if self.has_ended() { self.clock() } else { Span::default() };
        let progress = Span::new("muted", self.progress());
        let title = match call.mode.as_str() {
            mode if page.width() < TOOL_FROM => title(self.mark(), mode, ""),
            mode => title(self.mark(), "subagent", mode),
        };
        let has_more = self.has_ended() && !self.is_expanded && !list.views.is_empty();
        let hint = if has_more { page.expand_hint() } else { Span::default() };
        page.line([title, progress.into(), Part::from(clock).ranked(1), Part::from(hint).ranked(2)]);
        if !self.has_ended() && !self.is_live() {
            list.draw(page);
        }
    }

    fn draw_body(&self, page: &mut Page) {
        let Self { call, list, .. } = self;
        let Some(view) = list.views.first() else {
            if self.has_ended() {
                let failure = self.error().unwrap_or(Failure { code: None, message: &call.text });
                page.indented(INDENT, |page| draw_failure(page, failure, None, "", self.is_expanded));
            }
            return;
        };
        if !self.has_ended() && !self.is_live() {
            return;
        }
        if call.mode != Mode::Single {
            match (self.is_expanded, self.is_live()) {
                (false, _) => list.draw(page),
                (true, true) => {
                    let room = self.max_rows() - 1 - SUMMARY_ROWS;
                    list.draw_live(page, room.saturating_sub(self.key_rows() + self.undo_notes().len()));
                }
                (true, false) => list.draw_ended(page),
            }
        }
        page.indented(INDENT, |page| {
            match view.result {
                _ if call.mode != Mode::Single => self.draw_sum(page),
                Some(_) => self.draw_ended(page, view),
                None => self.draw_live(page, view),
            }
            for note in self.undo_notes() {
                page.text("muted", note, Limit::None);
            }
            page.figures(self.keys.iter().cloned(), self.key_rows());
        });
    }

    /// Returns the number of lines with keys.
    fn key_rows(&self) -> usize {
        usize::from(!self.keys.is_empty())
    }

    /// Returns the notes for a call that can be undone, each once.
    fn undo_notes(&self) -> Vec<&str> {
        let mut notes: Vec<&str> = Vec::new();
        for note in self.list.views.iter().filter_map(|view| view.undo_note) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    /// One run under way.
    fn draw_live(&self, page: &mut Page, view: &TaskView) {
        let expanded = Room { calls: self.share(0.5), text: self.share(0.2), shows_texts: true };
        work::draw_work(page, view.items, view.text, if self.is_expanded { expanded } else { RECENT });
        let mut parts = if self.is_high() { vec![self.clock()] } else { Vec::new() };
        parts.extend(view.usage.iter().flat_map(|usage| figures(usage, view.context, view.model)));
        parts.push(view.silence(false));
        page.figures(parts, usize::MAX);
    }

    /// A run that has ended.
    fn draw_ended(&self, page: &mut Page, view: &TaskView) {
        let Some(result) = view.result else { return };
        let has_failed =
            self.call.has_failed || self.error().is_some_and(|error| error.code != Some(TRUNCATED));
        let text = self.call.text.as_str();
        // The text of a call without an answer has only notes for the model.
        let output = result.output.as_deref().unwrap_or_default();
        if view.continues() {
            let text = if result.has_later_end {
                "it has ended in the background: its result is below"
            } else {
                "it works in the background: its result arrives as a message"
            };
            page.text("muted", text, Limit::None);
        }
        let failure = Failure { code: None, message: result.error.as_deref().unwrap_or(text) };
        let reason = self.error().or(has_failed.then_some(failure));
        work::draw_ended(page, result, output, has_failed, reason, self.is_expanded);
    }

    /// Draws the results and totals of several tasks.
    fn draw_sum(&self, page: &mut Page) {
        let views = &self.list.views;
        if !self.is_live() {
            let is_whole = views.iter().all(TaskView::is_completed);
            // The answer of a chain is the answer of its last step. Each parallel task has its own.
            let answer =
                views.last().filter(|_| self.call.mode == Mode::Chain && is_whole && !self.is_expanded);
            if let Some(last) = answer.filter(|last| !last.text.is_empty()) {
                work::draw_answer(page, last.text, ANSWER_LINES, false);
            }
            if let Some(cut) = self.error().filter(|error| error.code == Some(TRUNCATED)) {
                page.text("warning", cut.message, Limit::None);
            }
            if !self.is_expanded {
                let results = || views.iter().filter_map(|view| view.result);
                let caveats: BTreeSet<Caveat> = results().flat_map(|result| result.caveats.clone()).collect();
                work::draw_caveats(page, &Vec::from_iter(caveats));
                files(page, results(), false);
                results().for_each(|result| work::draw_next_step(page, result));
                work::draw_model_notes(page, results());
            }
        }
        self.draw_summary(page);
    }

    /// Counts, clock and what all of them spent.
    fn draw_summary(&self, page: &mut Page) {
        let views = &self.list.views;
        let states: Vec<&str> = views.iter().map(TaskView::counted_state).collect();
        let mut spans = counts(&states, "");
        if !self.has_ended() {
            spans.push(self.clock());
        }
        let usage: Usage = sum(views.iter().filter_map(|view| view.usage.as_ref()));
        spans.extend(figures(&usage, None, common_model(views)));
        page.figures(spans, if self.has_ended() { usize::MAX } else { SUMMARY_ROWS });
    }

    fn mark(&self) -> Mark {
        let views = &self.list.views;
        let is_one = self.call.mode == Mode::Single;
        let shown = if is_one { &views[..views.len().min(1)] } else { &views[..] };
        let first = shown.first();
        match self.call.phase {
            Phase::Pending => return Mark::Queued,
            Phase::Running => {
                return first.filter(|_| is_one && self.is_live()).map_or(Mark::Running, TaskView::mark);
            }
            Phase::Done => {}
        }
        let is_plain = |view: &&TaskView| view.is_completed() && view.mark() == Mark::Ok;
        if let Some(view) = first.filter(|view| is_one && !is_plain(view)) {
            return view.mark();
        }
        if shown.iter().any(|view| view.state == "aborted") {
            return Mark::Warning;
        }
        let is_refused = if is_one {
            self.error().is_some_and(|error| error.code != Some(TRUNCATED))
        } else {
            first.is_none()
        };
        if self.call.has_failed || is_refused {
            return Mark::Error;
        }
        let continues = shown.iter().any(TaskView::continues);
        let is_whole = self.error().is_none() && shown.iter().all(|view| is_plain(&view) || view.continues());
        match (is_whole, continues) {
            (true, true) => Mark::Started,
            (true, false) => Mark::Ok,
            (false, _) => Mark::Warning,
        }
    }

    /// Returns the number of tasks, and how many of them have completed or which step is the current one.
    fn progress(&self) -> String {
        let views = &self.list.views;
        let count = views.len();
        let done = views.iter().filter(|view| view.is_completed()).count();
        if count == 0 {
            return String::new();
        }
        if self.call.mode != Mode::Chain {
            let is_short = self.has_ended() && done < count;
            return if is_short { format!("{done} of {count} completed") } else { counted(count, "task") };
        }
        match views.iter().position(|view| !view.is_completed()) {
            Some(at) if views[at].continues() => format!("step {} of {count}", at + 1),
            Some(at) if self.call.phase != Phase::Pending => {
                let word = if self.has_ended() { "stopped at step" } else { "step" };
                format!("{word} {} of {count}", at + 1)
            }
            _ => counted(count, "step"),
        }
    }

    fn draw_task(&self, page: &mut Page, task: &str) {
        let is_limited = self.is_expanded && !self.has_ended();
        let note = || more_note(format!("{REST} more lines of the task"));
        let limit = if is_limited { Limit::Noted(self.share(0.3), note()) } else { Limit::None };
        work::draw_task(page, task, self.is_expanded, limit);
    }

    /// Returns the duration of the call.
    fn clock(&self) -> Span {
        let time = self.elapsed_ms.map(|elapsed| clock(elapsed, !self.has_ended()));
        Span::new("muted", time.unwrap_or_default())
    }

    /// Returns the maximum number of lines of an expanded card while its run continues. To redraw a line that is out of
    /// sight, pi before 1.x clears the screen and the scrollback. The omitted lines are shown once the run has ended.
    fn max_rows(&self) -> usize {
        self.rows.map_or(MAX_ROWS, |rows| rows.saturating_sub(PI_ROWS)).clamp(MIN_ROWS, MAX_ROWS)
    }

    /// Lines of an expanded card that its task, its calls or its text get.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a part of a few rows"
    )]
    fn share(&self, part: f64) -> usize {
        (((self.max_rows() - 3 - self.key_rows()) as f64 * part) as usize).max(1)
    }

    /// An expanded card can be higher than the terminal; then its clock would tick out of sight.
    fn is_high(&self) -> bool {
        self.is_expanded && self.is_live()
    }

    fn has_ended(&self) -> bool {
        self.call.phase == Phase::Done
    }

    /// Updates tell how it goes.
    fn is_live(&self) -> bool {
        !self.has_ended() && self.call.tasks.is_some()
    }

    fn error(&self) -> Option<Failure<'a>> {
        self.call.details.as_ref().and_then(|details| details.error.as_ref()).map(Failure::from)
    }
}

/// Code of an answer that came in part.
const TRUNCATED: &str = ErrorCode::SubagentOutputTruncated.as_str();
