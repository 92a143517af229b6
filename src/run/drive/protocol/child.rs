//! A child that is driven: its events are folded, and it is told what follows from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};

use super::rpc::{ANNOUNCE_ID, Command, PROMPT_ID};
use super::shared::SharedCollector;
use crate::config::Protocol;
use crate::event::{Collector, Live, Question, QuestionMethod, Response};
use crate::process::{Activity, Input, Observer};
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::callbacks::Answer;
use crate::run::drive::announcement::{ANNOUNCE_PATIENCE, ANNOUNCE_PROMPT};

/// What pi says of a prompt that one of its commands has taken: no model will work on it.
const HANDLED: &str = "handled";
/// Why a message ended that is whole, and one that goes on with a tool.
const STOP: &str = "stop";
const TOOL_USE: &str = "toolUse";
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
#[derive(Clone, Debug)]
pub(crate) struct ChildControl {
    protocol: Protocol,
    /// What it reads.
    pub input: Input,
    /// Questions that somebody is being asked.
    asking: Arc<AtomicUsize>,
    /// One of them has been answered since that was last looked at.
    was_answered: Arc<AtomicBool>,
    /// Its work is done, and messages would get into what it is asked for then.
    is_done: Arc<AtomicBool>,
    news: Arc<Notify>,
}

impl ChildControl {
    /// The reins of a child that gets this task.
    #[must_use]
    pub(crate) fn new(protocol: Protocol, task: &str) -> Self {
        let input = match protocol {
            Protocol::Json => Input::once(literal_when_trimmed(task).into_bytes()),
            Protocol::Rpc => Input::open(Command::Prompt(task).to_line()),
        };
        Self {
            protocol,
            input,
            asking: Arc::default(),
            was_answered: Arc::default(),
            is_done: Arc::default(),
            news: Arc::default(),
        }
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

    /// Sends a message into the work. `false`: the child takes none, or its work is done.
    pub(super) fn steer(&self, message: &str) -> bool {
        !self.is_done.load(Ordering::Relaxed) && self.tell(Command::Steer(message))
    }

    /// Notes that a question has got its answer: from now on the child is to be heard of again.
    pub(crate) fn answered(&self) {
        self.asking.fetch_sub(1, Ordering::Relaxed);
        self.was_answered.store(true, Ordering::Relaxed);
        self.news.notify_one();
    }
}

/// What is left to ask of a child whose work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastWord {
    /// It is to be asked for an announcement.
    Wanted,
    /// It was asked, and may take its time for it.
    Awaited,
    /// Nothing, any more or at all.
    None,
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
    child_control: ChildControl,
    questions: mpsc::UnboundedSender<Asked>,
    enforcer: &'a BudgetEnforcer,
    rate_limited: &'a (dyn Fn(Duration) + Sync),
    /// The child will not work on its task, and why.
    refused: Option<String>,
    /// What it waited for when it was told to stop.
    stopped_in: Option<Busy>,
    last_word: LastWord,
    /// Why the child will not announce anything.
    silenced: Option<String>,
}

/// What a child has said of itself that is no event of its work.
pub(crate) struct ProtocolReport {
    /// Why it did not work on its task.
    pub refused: Option<String>,
    /// What it waited for when it was told to stop.
    pub stopped_in: Option<Busy>,
    /// Why it did not take the request for an announcement.
    pub silenced: Option<String>,
}

impl<'a> DrivenChild<'a> {
    /// Observes a child whose events go to `collector` and whose questions go to the returned receiver.
    #[must_use]
    pub(crate) fn new(
        collector: SharedCollector,
        silence: SilenceLimits,
        child_control: ChildControl,
        enforcer: &'a BudgetEnforcer,
        rate_limited: &'a (dyn Fn(Duration) + Sync),
        last_word: LastWord,
    ) -> (Self, mpsc::UnboundedReceiver<Asked>) {
        // Unbounded, because no more are sent than may wait.
        let (questions, asked) = mpsc::unbounded_channel();
        let child = Self {
            collector,
            silence,
            child_control,
            questions,
            enforcer,
            rate_limited,
            refused: None,
            stopped_in: None,
            last_word,
            silenced: None,
        };
        (child, asked)
    }

    /// What it has said of itself.
    #[must_use]
    pub(crate) fn into_sayings(self) -> ProtocolReport {
        let Self { refused, stopped_in, silenced, .. } = self;
        ProtocolReport { refused, stopped_in, silenced }
    }

    fn busy(&self, live: &Live<'_>) -> Option<Busy> {
        if live.running_tools > 0 {
            return Some(Busy::Tool);
        }
        (self.child_control.asking.load(Ordering::Relaxed) > 0).then_some(Busy::Question)
    }

    /// What an event may ask of us.
    fn heed(&mut self, collector: &mut Collector) {
        for response in collector.take_responses() {
            match response.id.as_deref() {
                Some(PROMPT_ID) => self.refused = self.refused.take().or_else(|| refusal(response)),
                Some(ANNOUNCE_ID) => self.silenced = self.silenced.take().or_else(|| refusal(response)),
                _ => {}
            }
        }
        for id in collector.take_dropped_questions() {
            self.child_control.tell(Command::Answer(&id, &Answer::Cancelled));
        }
        for question in collector.take_questions() {
            self.ask(question);
        }
        if let Some(limit) = collector.take_rate_limit() {
            (self.rate_limited)(limit.delay);
        }
        self.enforcer.check(&collector.live(), &self.child_control);
    }

    /// What the work has come to: what the child waits for, and whether it is done. One that is done is asked for its last
    /// word, where that is wanted, and told that nothing more will be asked otherwise.
    fn follow(&mut self, collector: &mut Collector) -> (Option<Busy>, bool) {
        let live = collector.live();
        let busy = self.busy(&live);
        match self.last_word {
            LastWord::Awaited => {
                let calls_tool = live.running_tools > 0 || live.stop_reason == Some(TOOL_USE);
                if calls_tool {
                    self.child_control.tell(Command::Abort);
                }
                if live.finished || calls_tool || self.silenced.is_some() {
                    self.dismiss();
                }
                // Its work has been done since before it was asked.
                return (None, true);
            }
            LastWord::Wanted if live.finished && self.is_worth_a_word(&live) => {
                // First: an answer to a message would pass for the announcement.
                self.child_control.is_done.store(true, Ordering::Relaxed);
                if self.child_control.tell(Command::Announce(ANNOUNCE_PROMPT)) {
                    self.last_word = LastWord::Awaited;
                    collector.begin_epilogue();
                    return (None, true);
                }
            }
            LastWord::Wanted | LastWord::None => {}
        }
        let settled = live.settled || self.refused.is_some();
        if live.finished || self.refused.is_some() {
            self.dismiss();
        }
        (busy, settled)
    }

    /// Nothing more will be asked of the child, so it need not wait.
    fn dismiss(&mut self) {
        self.last_word = LastWord::None;
        self.child_control.input.end();
    }

    /// Only whole answers are, and only where nobody has to save.
    fn is_worth_a_word(&self, live: &Live<'_>) -> bool {
        self.refused.is_none()
            && live.stop_reason == Some(STOP)
            && live.has_answer
            && self.enforcer.has_room()
    }

    fn stay(&self) -> Option<Duration> {
        (self.last_word == LastWord::Awaited).then_some(ANNOUNCE_PATIENCE)
    }

    /// Passes a question on, where it can be answered: what was cut would not be known to who asks.
    fn ask(&self, question: Question) {
        let is_answerable =
            question.is_whole || matches!(question.method, QuestionMethod::Confirm | QuestionMethod::Input);
        let is_done = self.last_word == LastWord::Awaited;
        if is_done || !is_answerable || self.child_control.asking.load(Ordering::Relaxed) >= MAX_ASKING {
            self.child_control.tell(Command::Answer(&question.id, &Answer::Cancelled));
        } else if self.child_control.commands().is_some() {
            self.child_control.asking.fetch_add(1, Ordering::Relaxed);
            // Nobody receives once the run is ending; the child's question ends with it.
            let _ = self.questions.send(Asked { question, since: Instant::now() });
        }
    }
}

/// Why a prompt leads to no work.
fn refusal(response: Response) -> Option<String> {
    match (response.success, response.disposition.as_deref()) {
        (false, _) => Some(response.error.unwrap_or_else(|| "it gave no reason".to_owned())),
        (true, Some(HANDLED)) => Some("one of its extensions took it for a command".to_owned()),
        (true, _) => None,
    }
}

impl Observer for DrivenChild<'_> {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        let shared = self.collector.clone();
        let mut state = shared.lock();
        let progress = state.collector.push(chunk);
        let has_said = progress.events > 0;
        if has_said {
            state.last_event = Instant::now();
            self.heed(&mut state.collector);
        }
        let (busy, settled) = self.follow(&mut state.collector);
        state.changed |= progress.changed;
        drop(state);
        if progress.changed {
            shared.notify();
        }
        // Whoever has got an answer has to make something of it, which takes its time.
        let alive = has_said || self.child_control.was_answered.swap(false, Ordering::Relaxed);
        Activity { alive, silence: self.silence.in_force(busy), settled, stay: self.stay() }
    }

    fn interrupt(&mut self) -> bool {
        if self.last_word == LastWord::Wanted {
            self.last_word = LastWord::None;
        }
        // Stopping ends that, too.
        self.stopped_in = self.busy(&self.collector.lock().collector.live());
        self.child_control.tell(Command::Abort)
    }

    fn news(&self) -> Option<Arc<Notify>> {
        Some(Arc::clone(&self.child_control.news))
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
    use crate::process::Cancel;
    use crate::run::budget::meter::{Allowance, Meter};

    /// The record by which a child asks.
    fn asks(number: usize) -> String {
        let fields = r#""method":"input","title":"Name?""#;
        format!("{{\"type\":\"extension_ui_request\",\"id\":\"q{number}\",{fields}}}\n")
    }

    #[test]
    fn sixteen_questions_wait_and_one_more_is_told_that_nobody_answers() {
        let enforcer = BudgetEnforcer::new(Meter::new(Allowance::default(), None), Cancel::new());
        let silence = SilenceLimits { idle: None, tool: None };
        // All have two digits, so that all answers are of one length.
        let chunks: Vec<String> = (10..27).map(asks).collect();
        let cancelled = Command::Answer("q26", &Answer::Cancelled).to_line().len();
        // Of those that come together the newest are asked.
        for (chunks, waiting) in [(chunks.clone(), 10..26), (vec![chunks.concat()], 11..27)] {
            let child_control = ChildControl::new(Protocol::Rpc, "look around");
            let task = child_control.input.unwritten();
            let collector = SharedCollector::new();
            let (mut child, mut asked) = DrivenChild::new(
                collector,
                silence,
                child_control.clone(),
                &enforcer,
                &|_| {},
                LastWord::None,
            );
            let mut passed_on = || {
                let ids = std::iter::from_fn(|| asked.try_recv().ok()).map(|asked| asked.question.id);
                ids.collect::<Vec<_>>()
            };
            for chunk in chunks {
                child.stdout(chunk.as_bytes());
            }
            assert_eq!(passed_on(), waiting.map(|number| format!("q{number}")).collect::<Vec<_>>());
            assert_eq!(child_control.input.unwritten() - task, cancelled, "one was called off");

            child_control.answered();
            child.stdout(asks(30).as_bytes());
            child.stdout(asks(31).as_bytes());
            assert_eq!(passed_on(), ["q30"], "an answer makes room for one");
            assert_eq!(child_control.input.unwritten() - task, 2 * cancelled);
        }
    }

    #[test]
    fn a_task_is_never_a_command() {
        assert_eq!(literal_when_trimmed(" \n/quit now"), "Task:  \n/quit now");
        assert_eq!(literal_when_trimmed("look at /etc"), "look at /etc");
    }
}
