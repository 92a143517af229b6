//! What happens to the background runs of a conversation, for whoever shows it.

use std::collections::HashMap;

use super::record::BackgroundRun;
use crate::text::floor_char_boundary;

/// What a task may fill in an event; whoever wants all of it asks.
const TASK_BYTES: usize = 200;

/// What happened to the runs of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// All of them, newest first, without their long texts; empty when nothing has changed.
    pub runs: Vec<BackgroundRun>,
    /// Those that are new.
    pub started: Vec<BackgroundRun>,
    /// Those that are over.
    pub ended: Vec<BackgroundRun>,
    /// What the conversation is to be told.
    pub message: Option<Message>,
    /// What the user must know.
    pub notices: Vec<String>,
}

/// A message to the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The deliveries that it makes.
    pub delivery_ids: Vec<String>,
    /// The runs that it tells of, with their long texts.
    pub runs: Vec<BackgroundRun>,
    /// All of it, for the model.
    pub text: String,
    /// Whether the conversation is to go on because of it.
    pub triggers_turn: bool,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It was taken.
    Yes,
    /// Whoever listens has failed to take it.
    No,
    /// Nobody listens any more.
    Gone,
}

/// Whoever is told.
pub trait Listener: Send + 'static {
    /// Takes an event; the next one comes when it has.
    fn tell(&mut self, event: Event) -> impl Future<Output = Heard> + Send;
}

/// The runs as they were told last.
#[derive(Debug, Default)]
pub(super) struct Shown(Option<HashMap<String, BackgroundRun>>);

impl Shown {
    /// What there is to tell of runs as they are now.
    pub(super) fn changes(&mut self, runs: Vec<BackgroundRun>) -> Event {
        let mut event = Event::default();
        if let Some(shown) = &self.0 {
            for run in &runs {
                let was_live = shown.get(&run.key).map(BackgroundRun::is_live);
                if was_live.is_none() || (was_live == Some(false) && run.is_live()) {
                    event.started.push(run.clone());
                }
                if was_live != Some(false) && !run.is_live() {
                    event.ended.push(run.clone());
                }
            }
        }
        let shown = self.0.get_or_insert_default();
        if runs.len() != shown.len() || runs.iter().any(|run| shown.get(&run.key) != Some(run)) {
            *shown = runs.iter().map(|run| (run.key.clone(), run.clone())).collect();
            event.runs = runs;
        }
        event
    }
}

/// A run without its long texts.
pub(super) fn brief(mut run: BackgroundRun) -> BackgroundRun {
    (run.result, run.partial) = (None, None);
    run.notes = Vec::new();
    if run.task.len() > TASK_BYTES {
        run.task.truncate(floor_char_boundary(&run.task, TASK_BYTES));
    }
    run
}
