//! A child that is driven: its events are folded, and it is told what follows from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};

use super::rpc::{Command, PROMPT_ID};
use super::shared::SharedCollector;
use crate::config::Protocol;
use crate::event::{Collector, Live, Question, QuestionMethod, Response};
use crate::process::{Input, Observer, Pulse};
use crate::run::caller::Answer;
use crate::run::purse::Purse;

/// What pi says of a prompt that one of its commands has taken: no model will work on it.
const HANDLED: &str = "handled";
/// Questions that may wait for their answers; a child that asks more at once is told that nobody answers the rest.
const MAX_ASKING: usize = 16;
/// Bytes of answers that a child may leave unread before it gets no more: whoever asks without end does not wait for them.
const MAX_UNREAD_ANSWERS: usize = 256 * 1024;

/// How long a child may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SilenceLimits {
    /// Between events while no tool runs; `None` is for ever.
    pub idle: Option<Duration>,
    /// While a tool runs, or a person is asked; `None` is for ever.
    pub tool: Option<Duration>,
}

impl SilenceLimits {
    fn in_force(self, busy: Option<Busy>) -> Option<Duration> {
        if busy.is_some() { self.tool } else { self.idle }
    }
}

/// What a child waits for that may take its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    /// A tool.
    Tool,
    /// The answer to a question.
    Question,
}

/// What the child is told, and by what.
#[derive(Clone)]
pub(crate) struct Reins {
    protocol: Protocol,
    /// What it reads.
    pub input: Input,
    /// Questions that somebody is being asked.
    asking: Arc<AtomicUsize>,
    /// One of them has been answered since that was last looked at.
    was_answered: Arc<AtomicBool>,
    news: Arc<Notify>,
}

impl Reins {
    /// The reins of a child that gets this task.
    #[must_use]
    pub(crate) fn new(protocol: Protocol, task: &str) -> Self {
        let input = match protocol {
            Protocol::Json => Input::once(literal_when_trimmed(task).into_bytes()),
            Protocol::Rpc => Input::open(Command::Prompt(task).to_line()),
        };
        Self { protocol, input, asking: Arc::default(), was_answered: Arc::default(), news: Arc::default() }
    }

    /// Tells the child something. `false`: it cannot be told anything, or not any more.
    pub(crate) fn tell(&self, command: Command<'_>) -> bool {
        if matches!(command, Command::Answer(..)) && self.input.unwritten() > MAX_UNREAD_ANSWERS {
            return false;
        }
        self.protocol == Protocol::Rpc && self.input.write(&command.to_line())
    }

    /// Where commands are written to, if the child takes any.
    pub(super) fn commands(&self) -> Option<&Input> {
        (self.protocol == Protocol::Rpc).then_some(&self.input)
    }

    /// Notes that a question has got its answer: from now on the child is to be heard of again.
    pub(crate) fn answered(&self) {
        self.asking.fetch_sub(1, Ordering::Relaxed);
        self.was_answered.store(true, Ordering::Relaxed);
        self.news.notify_one();
    }
}

/// A question of the child.
pub(crate) struct Asked {
    pub question: Question,
    /// When it came.
    pub since: Instant,
}

/// Folds a child's events and tells its supervisor what counts as life.
pub(crate) struct DrivenChild<'a> {
    collector: SharedCollector,
    silence: SilenceLimits,
    reins: Reins,
    questions: mpsc::UnboundedSender<Asked>,
    purse: &'a Purse,
    rate_limited: &'a (dyn Fn(Duration) + Sync),
    /// The child will not work on its task, and why.
    refused: Option<String>,
    /// What it waited for when it was told to stop.
    stopped_in: Option<Busy>,
}

impl<'a> DrivenChild<'a> {
    /// Observes a child whose events go to `collector` and whose questions go to the returned receiver.
    #[must_use]
    pub(crate) fn new(
        collector: SharedCollector,
        silence: SilenceLimits,
        reins: Reins,
        purse: &'a Purse,
        rate_limited: &'a (dyn Fn(Duration) + Sync),
    ) -> (Self, mpsc::UnboundedReceiver<Asked>) {
        // Unbounded, because no more are sent than may wait.
        let (questions, asked) = mpsc::unbounded_channel();
        let child = Self {
            collector,
            silence,
            reins,
            questions,
            purse,
            rate_limited,
            refused: None,
            stopped_in: None,
        };
        (child, asked)
    }

    /// Why the child did not work on its task, if it said so, and what it waited for when it was told to stop.
    #[must_use]
    pub(crate) fn into_end(self) -> (Option<String>, Option<Busy>) {
        (self.refused, self.stopped_in)
    }

    fn busy(&self, live: &Live<'_>) -> Option<Busy> {
        if live.running_tools > 0 {
            return Some(Busy::Tool);
        }
        (self.reins.asking.load(Ordering::Relaxed) > 0).then_some(Busy::Question)
    }

    /// What an event may ask of us.
    fn heed(&mut self, collector: &mut Collector) {
        for response in collector.take_responses() {
            self.refused = self.refused.take().or_else(|| refusal(response));
        }
        for id in collector.take_dropped_questions() {
            self.reins.tell(Command::Answer(&id, &Answer::Cancelled));
        }
        for question in collector.take_questions() {
            self.ask(question);
        }
        if let Some(limit) = collector.take_rate_limit() {
            (self.rate_limited)(limit.delay);
        }
        self.purse.check(&collector.live(), &self.reins);
    }

    /// Passes a question on, where it can be answered: what was cut would not be known to who asks.
    fn ask(&self, question: Question) {
        let is_answerable =
            question.is_whole || matches!(question.method, QuestionMethod::Confirm | QuestionMethod::Input);
        if !is_answerable || self.reins.asking.load(Ordering::Relaxed) >= MAX_ASKING {
            self.reins.tell(Command::Answer(&question.id, &Answer::Cancelled));
        } else if self.reins.commands().is_some() {
            self.reins.asking.fetch_add(1, Ordering::Relaxed);
            // Nobody receives once the run is ending; the child's question ends with it.
            let _ = self.questions.send(Asked { question, since: Instant::now() });
        }
    }
}

/// Why a prompt leads to no work.
fn refusal(response: Response) -> Option<String> {
    if response.id.as_deref() != Some(PROMPT_ID) {
        return None;
    }
    match (response.success, response.disposition.as_deref()) {
        (false, _) => Some(response.error.unwrap_or_else(|| "it gave no reason".to_owned())),
        (true, Some(HANDLED)) => Some("one of its extensions took it for a command".to_owned()),
        (true, _) => None,
    }
}

impl Observer for DrivenChild<'_> {
    fn stdout(&mut self, chunk: &[u8]) -> Pulse {
        let shared = self.collector.clone();
        let mut state = shared.lock();
        let progress = state.collector.push(chunk);
        let has_said = progress.events > 0;
        if has_said {
            state.last_event = Instant::now();
            self.heed(&mut state.collector);
        }
        let live = state.collector.live();
        let busy = self.busy(&live);
        let settled = live.settled || self.refused.is_some();
        if live.finished || self.refused.is_some() {
            // Nothing more will be asked of it, so it need not wait.
            self.reins.input.end();
        }
        state.changed |= progress.changed;
        drop(state);
        if progress.changed {
            shared.notify();
        }
        // Whoever has got an answer has to make something of it, which takes its time.
        let alive = has_said || self.reins.was_answered.swap(false, Ordering::Relaxed);
        Pulse { alive, silence: self.silence.in_force(busy), settled }
    }

    fn interrupt(&mut self) -> bool {
        // Stopping ends that, too.
        self.stopped_in = self.busy(&self.collector.lock().collector.live());
        self.reins.tell(Command::Abort)
    }

    fn news(&self) -> Option<Arc<Notify>> {
        Some(Arc::clone(&self.reins.news))
    }
}

/// A task that pi takes for a prompt and nothing else, although it takes white space away from both ends first: what begins
/// with a slash would be a command.
fn literal_when_trimmed(task: &str) -> String {
    if task.trim_start().starts_with('/') { format!("Task: {task}") } else { task.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_never_a_command() {
        assert_eq!(literal_when_trimmed(" \n/quit now"), "Task:  \n/quit now");
        assert_eq!(literal_when_trimmed("look at /etc"), "look at /etc");
    }
}
