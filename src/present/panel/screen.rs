//! The whole panel: a stack of views, controlled by keys, events and the answers of its host.

use std::collections::{HashMap, VecDeque};

use super::actions::{
    Confirmed, Effect, Hint, Named, change_effect, change_hints, effect, hints, quoted, workflow_effect,
    workflow_hints,
};
use super::foot::{Confirmation, Foot};
use super::keys::{KeyNames, PanelAction};
use super::list::List;
use super::report::{Answer, ReportView};
use super::runs::Runs;
use super::transcript::{Read, TranscriptView};
use crate::present::paint::{Page, Span, Theme};
use crate::present::runs::{ListRow, draw_head};
use sanitizer::text_enum;

/// Screens with fewer rows than this show only the view.
const RULES_FROM_ROWS: usize = 16;
/// The columns at both sides. pi's own lines begin in the second column.
const MARGIN: usize = 1;

text_enum! {
    /// The name of a [`PanelStep`].
    pub enum PanelStepName {
        /// [`PanelStep::Close`].
        Close = "close",
        /// [`PanelStep::Answer`].
        Answer = "answer",
        /// [`PanelStep::Type`].
        Type = "type",
        /// [`PanelStep::Command`].
        Command = "command",
        /// [`PanelStep::Runs`].
        Runs = "runs",
        /// [`PanelStep::Transcript`].
        Transcript = "transcript",
    }
}

/// A request to the host. An answer goes to [`Panel::answer`] with the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PanelStep {
    /// Leaves the screen.
    Close,
    /// Opens the question of a run.
    Answer {
        /// The id of the run.
        run_id: String,
    },
    /// Asks for a line of text, for [`Panel::submit`].
    Type {
        /// The text before the input.
        label: String,
    },
    /// Runs a command of `/subagents`.
    Command {
        /// The id of the answer.
        id: u32,
        /// The command.
        line: String,
    },
    /// Reads the runs and the workflows, as `{ runs, workflows }`.
    Runs {
        /// The id of the answer.
        id: u32,
        /// True for the runs of all sessions.
        is_all: bool,
    },
    /// Reads a transcript.
    Transcript {
        /// The id of the answer, and of the rest after it.
        id: u32,
        /// The key of the run.
        key: String,
        /// The number of entries.
        entries: usize,
        /// True if tool calls count as entries.
        tools: bool,
    },
}

/// An answer that the panel waits for.
#[derive(Debug)]
enum Pending {
    /// Of a command that shows its result on the last line.
    Command {
        name: &'static str,
    },
    /// Of a command that opens its report.
    Report {
        name: &'static str,
        line: String,
        /// The key of the run whose changes it shows or moves.
        changes_of: Option<String>,
        /// True if it moves them. Its report then replaces the one on top.
        moves: bool,
    },
    /// Of a command that loads a report again.
    Again {
        line: String,
    },
    Runs {
        is_all: bool,
    },
    Transcript {
        read: Read,
    },
}

#[derive(Debug)]
enum View {
    Transcript(Box<TranscriptView>),
    Report(ReportView),
}

/// The appearance of the panel.
#[derive(Clone, Copy, Debug)]
pub struct PanelView<'a> {
    /// The height of the screen.
    pub rows: usize,
    /// Changes whenever the theme does.
    pub theme: u32,
    /// The names of the keys.
    pub keys: KeyNames<'a>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// The panel. After each call, its host carries out the steps of [`Panel::next_step`].
#[derive(Debug)]
pub struct Panel {
    runs: Runs,
    list: List,
    /// The views above the list.
    views: Vec<View>,
    foot: Foot,
    /// True if the host can open questions.
    can_answer: bool,
    /// The run whose transcript opens as soon as the run is known.
    requested: Option<String>,
    /// The run that gets the typed message.
    addressee: Option<Named>,
    /// True while a report is requested. One at a time: keys can arrive faster than answers.
    is_asking: bool,
    pending: HashMap<u32, Pending>,
    steps: VecDeque<PanelStep>,
    last_id: u32,
}

impl Panel {
    /// Opens the panel, with the transcript of the run `requested`.
    #[must_use]
    pub fn new(requested: Option<String>, can_answer: bool) -> Self {
        let mut runs = Runs::default();
        runs.read();
        Self {
            runs,
            list: List::default(),
            views: Vec::new(),
            foot: Foot::default(),
            can_answer,
            requested,
            addressee: None,
            is_asking: false,
            pending: HashMap::new(),
            steps: VecDeque::new(),
            last_id: 0,
        }
    }

    /// Returns the next request to the host.
    pub fn next_step(&mut self) -> Option<PanelStep> {
        if let Some(step) = self.steps.pop_front() {
            return Some(step);
        }
        if self.runs.begin_read() {
            let is_all = self.runs.is_all;
            let id = self.wait_for(Pending::Runs { is_all });
            return Some(PanelStep::Runs { id, is_all });
        }
        let id = self.last_id + 1;
        let mut transcripts = self.views.iter_mut().filter_map(View::transcript);
        let (key, read) = transcripts.find_map(|view| Some((view.run.key.clone(), view.begin_read(id)?)))?;
        let id = self.wait_for(Pending::Transcript { read });
        Some(PanelStep::Transcript { id, key, entries: read.entries, tools: read.tools })
    }

    fn wait_for(&mut self, pending: Pending) -> u32 {
        self.last_id += 1;
        self.pending.insert(self.last_id, pending);
        self.last_id
    }

    /// Takes the runs of the session as JSON, and the keys of the runs with unread results.
    pub fn set_runs(&mut self, runs: &str, unread: Vec<String>, now_ms: i64) {
        self.runs.set_own(runs, unread);
        if let Some(run) = self.requested.take_if(|key| self.runs.is_own(key))
            && let Some(run) = self.runs.run(&run).cloned()
        {
            self.open(View::Transcript(Box::new(TranscriptView::new(run))));
        }
        self.tick(now_ms);
    }

    /// Updates the views. Called once a second.
    pub fn tick(&mut self, now_ms: i64) {
        self.runs.read_if_due(now_ms);
        self.refresh();
    }

    fn refresh(&mut self) {
        for view in self.views.iter_mut().filter_map(View::transcript) {
            view.refresh(&self.runs);
        }
    }

    fn open(&mut self, view: View) {
        self.foot.clear();
        self.views.push(view);
    }

    /// Takes the answer to a step: JSON, or an error's message.
    pub fn answer(&mut self, id: u32, answer: Result<&str, &str>, now_ms: i64) {
        match self.pending.remove(&id) {
            Some(Pending::Runs { is_all }) => self.runs.take_stored(answer, is_all, now_ms),
            Some(Pending::Transcript { read }) => {
                if let Some(view) = self.reader(id) {
                    view.take(read, answer);
                }
            }
            Some(Pending::Command { name }) => {
                let answer = Answer::read(name, answer);
                if answer.is_on_card {
                    self.foot.clear();
                } else {
                    self.foot.show(if answer.is_error { "error" } else { "success" }, answer.summary());
                }
                self.runs.read();
            }
            Some(Pending::Report { name, line, changes_of, moves }) => {
                self.is_asking = false;
                let starts_at_end = matches!(name, "log" | "info");
                let answer = Answer::read(name, answer);
                // After a refusal the same key would fail again. The difference below has it.
                let changes_of = changes_of.filter(|_| !(moves && answer.is_error));
                if moves {
                    if !answer.is_error {
                        // The difference, or the report of the action before.
                        self.views.pop_if(|view| matches!(view, View::Report(_)));
                    }
                    self.runs.read();
                }
                // A command that moves changes must not run again.
                let line = Some(line).filter(|_| !moves);
                let view = ReportView::new(answer, line, starts_at_end, changes_of);
                self.open(View::Report(view));
            }
            Some(Pending::Again { line }) => {
                let name = line.split(' ').next().unwrap_or_default();
                let mut reports = self.views.iter_mut().filter_map(View::report);
                if let Some(report) = reports.find(|report| report.command() == Some(&line)) {
                    report.replace(Answer::read(name, answer));
                }
            }
            None => {}
        }
    }

    /// Allows the next read of a transcript, some time after the answer to the step `id`.
    pub fn rested(&mut self, id: u32) {
        if let Some(view) = self.reader(id) {
            view.end_read();
        }
    }

    /// Returns the view that reads with the step `id`. Two views can show the same run.
    fn reader(&mut self, id: u32) -> Option<&mut TranscriptView> {
        self.views.iter_mut().filter_map(View::transcript).find(|view| view.reads_with(id))
    }

    /// Does the action of a key; `None` is another key.
    pub fn press(&mut self, action: Option<PanelAction>) {
        if let Some(Confirmation { action: asked, command, run, .. }) = self.foot.press() {
            if action == Some(asked) {
                self.confirmed(command, run);
            }
            if matches!(action, Some(PanelAction::Back)) || action == Some(asked) {
                return;
            }
        }
        let Some(action) = action else { return };
        if self.press_view(action) {
            return;
        }
        match action {
            PanelAction::Back if self.views.is_empty() => self.steps.push_back(PanelStep::Close),
            PanelAction::Back | PanelAction::Left => {
                self.views.pop();
            }
            PanelAction::Keys => self.open(View::Report(ReportView::keys())),
            _ => {}
        }
    }

    /// Scrolls the view, as the keys do.
    pub fn scroll(&mut self, lines: i32) {
        let action = if lines < 0 { PanelAction::Up } else { PanelAction::Down };
        for _ in 0..lines.unsigned_abs() {
            self.press_view(action);
        }
    }

    /// Sends a typed message.
    pub fn submit(&mut self, text: &str) {
        let text = text.trim();
        if let Some(run) = self.addressee.take().filter(|_| !text.is_empty()) {
            self.command("send", &run, text);
        }
    }

    /// Returns true if the view on top has this action.
    fn press_view(&mut self, action: PanelAction) -> bool {
        let run = match self.views.last_mut() {
            Some(View::Report(report)) => {
                let changes_of = report.changes_of().map(str::to_owned);
                let again = report.command().filter(|_| action == PanelAction::Again && changes_of.is_none());
                let command = again.map(str::to_owned);
                if let Some(run) = changes_of.and_then(|key| self.runs.run(&key).cloned())
                    && let Some(effect) = change_effect(action, &run)
                {
                    let named = Named::run(&run);
                    self.carry_out(action, named, effect);
                    return true;
                }
                if let Some(line) = command {
                    let id = self.wait_for(Pending::Again { line: line.clone() });
                    self.steps.push_back(PanelStep::Command { id, line });
                    return true;
                }
                return report.press(action);
            }
            Some(View::Transcript(view)) => {
                if view.press(action) {
                    return true;
                }
                Some(view.run.clone()).filter(|_| !view.is_removed)
            }
            None if self.list.press(action, &mut self.runs) => return true,
            None if action == PanelAction::All => {
                self.runs.toggle_all();
                return true;
            }
            None => {
                let row = self.list.current(&self.runs).map(|(_, row)| self.runs.drawn(row));
                let run = match row {
                    Some(ListRow::Workflow { workflow, asking, .. }) => {
                        let asking = asking.filter(|_| self.can_answer);
                        let effect = workflow_effect(action, workflow, asking.is_some());
                        let named = match asking {
                            Some(run) if action == PanelAction::Answer => Named::run(run),
                            _ => Named::workflow(workflow),
                        };
                        let is_effect = effect.is_some();
                        if let Some(effect) = effect {
                            self.carry_out(action, named, effect);
                        }
                        return is_effect;
                    }
                    Some(ListRow::Run { run, .. }) => Some(run.clone()),
                    None => None,
                };
                if action == PanelAction::Open
                    && let Some(run) = run
                {
                    self.requested.take_if(|requested| *requested == run.key);
                    self.open(View::Transcript(Box::new(TranscriptView::new(run))));
                    return true;
                }
                run
            }
        };
        let effect = run.as_ref().and_then(|run| Some((run, effect(action, run, self.can_answer)?)));
        if let Some((run, effect)) = effect {
            self.carry_out(action, Named::run(run), effect);
            return true;
        }
        false
    }

    fn carry_out(&mut self, action: PanelAction, of: Named, effect: Effect) {
        match effect {
            Effect::Answer => self.steps.push_back(PanelStep::Answer { run_id: of.run_id }),
            Effect::Confirm(command) => {
                self.foot.ask(Confirmation { action, command, run: of });
            }
            Effect::Command(name) => self.command(name, &of, ""),
            Effect::Report(name, rest) if !self.is_asking => {
                let line = line(&[name, &of.word, rest]);
                let changes_of = (name == "diff").then_some(of.word);
                self.report(name, line, changes_of, false);
            }
            // One report at a time.
            Effect::Report(..) | Effect::None => {}
            Effect::Message(label) => {
                self.addressee = Some(of);
                self.steps.push_back(PanelStep::Type { label });
            }
            Effect::Notice(color, text) => self.foot.show(color, text),
        }
    }

    /// Runs a command and opens its report.
    fn report(&mut self, name: &'static str, line: String, changes_of: Option<String>, moves: bool) {
        self.is_asking = true;
        self.foot.show("muted", format!("{name} …"));
        let id = self.wait_for(Pending::Report { name, line: line.clone(), changes_of, moves });
        self.steps.push_back(PanelStep::Command { id, line });
    }

    /// Runs a command that was confirmed.
    fn confirmed(&mut self, command: Confirmed, of: Named) {
        let Confirmed { name, flag, rest, has_report, .. } = command;
        if !has_report {
            self.command(name, &of, rest);
        } else if !self.is_asking {
            self.report(name, line(&[name, flag, &of.word, rest]), Some(of.word), true);
        }
    }

    /// Runs a command and shows its result on the last line.
    fn command(&mut self, name: &'static str, of: &Named, rest: &str) {
        self.foot.show("muted", format!("{name} {} …", quoted(&of.name)));
        let id = self.wait_for(Pending::Command { name });
        self.steps.push_back(PanelStep::Command { id, line: line(&[name, &of.word, rest]) });
    }

    /// Draws exactly `view.rows` lines: head, body, foot. With one row, only the head.
    pub fn draw(&mut self, theme: Theme, width: usize, view: PanelView) -> Vec<String> {
        let width = width.saturating_sub(2 * MARGIN).max(1);
        let PanelView { rows, keys, now_ms, .. } = view;
        let edge = usize::from(rows >= RULES_FROM_ROWS);
        let edges = || Page::draw(theme, width, |page| page.rule("")).into_iter().take(edge);
        // The keys depend on the content of the body. The body gets the rows above the foot.
        let mut foot_rows = 1;
        let (head, body, foot) = loop {
            let room = rows.saturating_sub(1 + foot_rows + 2 * edge);
            let (head, mut body) = self.draw_view(theme, width, room, view);
            body.resize(room, String::new());
            let hints = self.hints();
            let mut foot =
                Page::draw(theme, width, |page| self.foot.draw(page, &hints, keys, edge == 0, now_ms));
            foot.truncate((rows / 2).max(1));
            if foot.len() <= foot_rows {
                foot.resize(foot_rows, String::new());
                break (head, body, foot);
            }
            foot_rows = foot.len();
        };
        let mut lines = vec![head.concat()];
        lines.extend(edges().chain(body).chain(edges()).chain(foot));
        lines.truncate(rows.max(1));
        lines.iter().map(|line| format!("{:MARGIN$}{line}", "")).collect()
    }

    /// Draws the head of the view on top, and at most `room` lines of its body.
    fn draw_view(
        &mut self,
        theme: Theme,
        width: usize,
        room: usize,
        view: PanelView,
    ) -> (Vec<String>, Vec<String>) {
        let PanelView { theme: version, keys, now_ms, .. } = view;
        let (runs, list) = (&self.runs, &mut self.list);
        match self.views.last_mut() {
            None => (
                Page::draw(theme, width, |page| List::draw_head(page, runs)),
                list.draw(theme, width, room, runs, now_ms),
            ),
            Some(View::Transcript(view)) => (
                Page::draw(theme, width, |page| draw_head(page, &view.run, now_ms)),
                view.draw(theme, version, width, room, now_ms),
            ),
            Some(View::Report(view)) => {
                let title = Span::new("toolTitle", &view.title).bold();
                (
                    Page::draw(theme, width, |page| page.spans(vec![title])),
                    view.draw(theme, version, width, room, keys),
                )
            }
        }
    }

    fn hints(&mut self) -> Vec<Hint> {
        let can_answer = self.can_answer;
        let mut shown = match self.views.last() {
            Some(View::Transcript(view)) => {
                let of_run = if view.is_removed { Vec::new() } else { hints(&view.run, can_answer) };
                view.hints(of_run)
            }
            Some(View::Report(view)) => {
                let run = view.changes_of().and_then(|key| self.runs.run(key));
                view.hints(run.map(change_hints).unwrap_or_default())
            }
            None => {
                let all = (PanelAction::All, if self.runs.is_all { "own runs" } else { "all runs" });
                let row = self.list.current(&self.runs).map(|(_, row)| self.runs.drawn(row));
                let mut hints = match row {
                    None => Vec::new(),
                    Some(ListRow::Run { run, .. }) => {
                        [vec![(PanelAction::Open, "open")], hints(run, can_answer)].concat()
                    }
                    Some(ListRow::Workflow { workflow, is_folded, asking }) => {
                        workflow_hints(workflow, is_folded, can_answer && asking.is_some())
                    }
                };
                hints.push(all);
                hints
            }
        };
        let back = if self.views.is_empty() { "close" } else { "back" };
        shown.extend([(PanelAction::Keys, "keys"), (PanelAction::Back, back)]);
        shown
    }
}

impl View {
    fn transcript(&mut self) -> Option<&mut TranscriptView> {
        match self {
            Self::Transcript(view) => Some(view),
            Self::Report(_) => None,
        }
    }

    fn report(&mut self) -> Option<&mut ReportView> {
        match self {
            Self::Report(view) => Some(view),
            Self::Transcript(_) => None,
        }
    }
}

/// Returns the line of a command.
fn line(words: &[&str]) -> String {
    words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
