//! Writes commands to a child. Shared by all parts that write to it.
//!
//! It also grants a child its turns: the guard in the child holds each request to the model until the host has granted
//! its turn. The guard's own file carries the number of granted turns: the host adds a line break for each. Every child
//! on this machine can read that file, with any protocol, and no sandboxed child can write to it.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pi_events::SentMessages;
use sanitizer::chain;
use supervisor::{Cancel, CancelReason, Input};
use tokio::sync::Notify;

use crate::run::blocking::{off_thread, spawn_task};
use crate::run::budget::enforcer::BudgetNotice;
use crate::run::launch::files::GUARD;
use crate::run::protocol::{ChildProtocol, Command};

/// Questions that may wait for their answers. Further ones are cancelled.
const MAX_ASKING: usize = 16;
/// Bytes of answers that a child may leave unread. It gets no more until it reads, so that a child that asks without
/// end cannot fill the memory.
const MAX_UNREAD_ANSWERS: usize = 256 * 1024;

/// The request for an announcement, sent to a child once its work is done. The guard in the child recognizes its first
/// words and then blocks all tools.
const ANNOUNCE_PROMPT: &str = "\
Your work on the task is done, and its result is kept. Write the announcement for the session that asked for it: the \
outcome of the task, short and self-contained, with the relevant facts, names and paths. That session sees nothing else \
of your work. Do not call tools: none can run any more. If nothing is worth announcing, reply with exactly \
ANNOUNCE_SKIP and nothing else.";

/// The request for a report, sent to a child whose time is up. The guard in the child recognizes its first words and
/// then blocks all tools.
const REPORT_PROMPT: &str = "\
Your time for this task is up. Report now what you have found or done so far, self-contained, with the relevant facts, \
names and paths, and name what is missing. Your report is the result: nothing else of your work is read. Do not call \
tools: none can run any more.";

/// The maximum time for the child's reply. The result of the run waits for it.
pub(super) const ANNOUNCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Controls the input of one child for as long as it is driven.
#[derive(Debug)]
pub(super) struct ChildControl {
    protocol: &'static dyn ChildProtocol,
    pub input: Input,
    /// The number of questions that wait for their answers.
    asking: AtomicUsize,
    /// A question was answered since the last call of [`take_answered`](Self::take_answered).
    was_answered: AtomicBool,
    /// The work is done: a message would disturb the announcement.
    is_done: AtomicBool,
    activity_changed: Arc<Notify>,
    /// The messages that were sent.
    pub sent: SentMessages,
    /// Grants the child its turns, if it must wait for them.
    turns: Option<TurnGrants>,
}

impl ChildControl {
    /// Controls a child whose input starts with its task.
    pub(super) fn new(
        protocol: &'static dyn ChildProtocol,
        input: Input,
        turns: Option<TurnGrants>,
    ) -> Arc<Self> {
        let sent = SentMessages::default();
        sent.count_required();
        Arc::new(Self {
            protocol,
            input,
            asking: AtomicUsize::new(0),
            was_answered: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
            activity_changed: Arc::default(),
            sent,
            turns,
        })
    }

    /// Queues a command. Returns false if the protocol has no commands, or if the input has ended.
    pub(super) fn send(&self, command: Command<'_>) -> bool {
        if self.takes_commands() && command.is_message() {
            self.sent.count_required();
        }
        self.queue(command)
    }

    fn queue(&self, command: Command<'_>) -> bool {
        if matches!(command, Command::Answer(..)) && self.input.unwritten() > MAX_UNREAD_ANSWERS {
            return false;
        }
        self.protocol.encode(command).is_some_and(|bytes| self.input.write(&bytes))
    }

    /// Returns true if the child reads commands after its task.
    pub(super) fn takes_commands(&self) -> bool {
        self.protocol.takes_commands()
    }

    /// Sends a message to the working child. Returns false if the child takes no messages, or if its work is done.
    pub(super) fn steer(&self, message: &str) -> bool {
        !self.is_done.load(Ordering::Relaxed) && self.send(Command::Steer(message))
    }

    /// Sends a message of the host to the working child. The message needs no answer: if it comes too late, the child's
    /// answer is the result. Returns false if the child takes no messages.
    pub(super) fn advise(&self, message: &str) -> bool {
        if self.takes_commands() {
            self.sent.count_advisory();
        }
        self.queue(Command::Steer(message))
    }

    /// Delivers the budget's notice. A child that takes no messages is ended once the budget is used up.
    pub(super) fn handle_budget(&self, notice: BudgetNotice<'_>) {
        match notice {
            BudgetNotice::WrapUp(message) => drop(self.advise(message)),
            BudgetNotice::Granted(turns) => {
                if let Some(grants) = &self.turns {
                    grants.grant(turns);
                    // Its silence counts from now on.
                    self.was_answered.store(true, Ordering::Relaxed);
                    self.activity_changed.notify_one();
                }
            }
        }
    }

    /// Holds messages back if `is_paused` is true. During a check, a message would change the checked work. Once the time is
    /// up, the next message is the request for a report.
    pub(super) fn pause_messages(&self, is_paused: bool) {
        self.is_done.store(is_paused, Ordering::Relaxed);
    }

    /// Asks for the announcement. Returns false if the request cannot be sent.
    pub(super) fn announce(&self) -> bool {
        // Set first, because the reply to a message in between would pass for the announcement.
        self.is_done.store(true, Ordering::Relaxed);
        self.send(Command::Announce(ANNOUNCE_PROMPT))
    }

    /// Asks for a report, because the time is up. Returns false if the request cannot be sent.
    pub(super) fn ask_for_report(&self) -> bool {
        self.send(Command::Announce(REPORT_PROMPT))
    }

    /// Returns true if a question waits for its answer.
    pub(super) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }

    /// Counts a question that waits for its answer. Returns false if 16 questions wait already.
    pub(super) fn begin_question(&self) -> bool {
        let has_room = self.asking.load(Ordering::Relaxed) < MAX_ASKING;
        if has_room {
            self.asking.fetch_add(1, Ordering::Relaxed);
        }
        has_room
    }

    /// Counts a question as answered. From now on the child's silence counts again.
    pub(super) fn end_question(&self) {
        self.asking.fetch_sub(1, Ordering::Relaxed);
        self.was_answered.store(true, Ordering::Relaxed);
        self.activity_changed.notify_one();
    }

    /// Returns true if a question was answered since the last call.
    pub(super) fn take_answered(&self) -> bool {
        self.was_answered.swap(false, Ordering::Relaxed)
    }

    /// Notified when a question was answered.
    pub(super) fn activity_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.activity_changed)
    }
}

/// Grants the turns of one child.
#[derive(Debug)]
pub(super) struct TurnGrants {
    guard: PathBuf,
    /// Ends the run if a turn cannot be granted: its child would wait forever.
    cancel: Cancel,
}

impl TurnGrants {
    pub(super) fn new(guard: PathBuf, cancel: Cancel) -> Self {
        Self { guard, cancel }
    }

    /// Grants all turns up to this one. Does not block.
    pub(super) fn grant(&self, turns: u64) {
        let guard = self.guard.clone();
        let cancel = self.cancel.clone();
        spawn_task(async move {
            let path = guard.clone();
            let granted = off_thread(move || write_turns(&path, turns)).await;
            let error = match granted {
                // The child has ended, and its files are gone. A child that still works ends by itself.
                Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return,
                Ok(Ok(())) => return,
                Ok(Err(error)) => chain(&error),
                Err(error) => error.to_string(),
            };
            let why = format!("the child's next turn could not be granted: `{}`: {error}", guard.display());
            cancel.cancel(CancelReason::Stuck(why));
        });
    }
}

/// Writes the line breaks of all granted turns. The order of two calls does not matter.
fn write_turns(guard: &Path, turns: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(guard)?;
    file.seek(SeekFrom::Start(GUARD.len() as u64))?;
    file.write_all(&b"\n".repeat(usize::try_from(turns).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_recognizes_the_request() {
        let guard = include_str!("../../../extension/child-guard.cjs");
        for (name, prompt) in [("ANNOUNCING", ANNOUNCE_PROMPT), ("REPORTING", REPORT_PROMPT)] {
            let (_, prompt_start) =
                guard.split_once(&format!("{name} = \"")).expect("the guard has the constant");
            let (prompt_start, _) = prompt_start.split_once('"').expect("the constant ends");
            assert!(prompt.starts_with(prompt_start), "{prompt_start}");
        }
    }

    #[test]
    fn a_transcript_recognizes_the_request() {
        assert!(ANNOUNCE_PROMPT.starts_with(crate::transcript::ANNOUNCE_PROMPT_START));
        assert!(REPORT_PROMPT.starts_with(crate::transcript::REPORT_PROMPT_START));
    }

    #[test]
    fn the_guard_grows_by_a_line_break_for_each_turn() {
        let directory = tempfile::tempdir().expect("a temporary directory is created");
        let guard = directory.path().join("guard.cjs");
        std::fs::write(&guard, GUARD).expect("the guard is written");
        for turns in [1, 3, 2] {
            write_turns(&guard, turns).expect("the turns are written");
        }
        let text = std::fs::read_to_string(&guard).expect("the guard is readable");
        assert_eq!(text, format!("{GUARD}\n\n\n"));
        assert!(write_turns(&directory.path().join("gone"), 1).is_err());
    }
}
