//! Runs a child from start to end.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::time::{sleep, timeout};

use super::cancel::{Cancel, CancelReason};
use super::command::ChildCommand;
use super::error::SpawnError;
use super::idle_timer::{Expired, IdleTimer};
use super::observer::{Intake, Observer};
use super::outcome::{Outcome, Supervised};
use super::signaller::Known;
use super::streams::{Pipes, Streams};
use super::tree::{CleanUp, ProcessTree};
use crate::streams::Input;

/// The longest grace period of a child once its host shuts down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// The longest wait for a cancelled start, so that its child can be killed. A start takes milliseconds.
const START_WAIT: Duration = Duration::from_secs(2);

/// The time that a discarded child has to end. The kernel needs milliseconds.
const DISCARD_WAIT: Duration = Duration::from_secs(2);

/// The time that an interrupted child has to settle before it is asked to exit.
const INTERRUPT_WAIT: Duration = Duration::from_secs(1);

/// The time limits of a supervised run, except the silence limit, which the observer sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperviseLimits {
    /// The maximum run time of the child, counted from [`Started::drive`]; `None` means no limit.
    pub hard: Option<Duration>,
    /// From the request to exit to the kill.
    pub grace: Duration,
    /// The time for which the child may stay once its work is settled.
    pub linger: Duration,
    /// The longest wait for the end of its output after the child has exited, in case another process holds its pipes
    /// open. The bytes that are then in the pipes are read, however long that takes.
    pub drain: Duration,
    /// The time that a child has to exit by itself, after a request to stop and the end of its input, before it gets a signal.
    /// It is for a child that transfers changes, which a signal would lose.
    pub leave: Duration,
}

impl Default for SuperviseLimits {
    fn default() -> Self {
        Self {
            hard: None,
            // Before it exits, pi ends the shells of its tools.
            grace: Duration::from_secs(5),
            // pi exits within milliseconds; extensions may have something to save.
            linger: Duration::from_secs(2),
            // A dead child's output is already in the pipe; only an escaped descendant causes a wait.
            drain: Duration::from_secs(2),
            leave: Duration::ZERO,
        }
    }
}

/// A child that has started but is not driven yet. Nothing reads its output, so it blocks once its pipe is full.
///
/// Dropping it kills the whole tree.
pub struct Started {
    /// The process tree of the child.
    pub tree: ProcessTree,
    /// The duty to clean up. If no caller takes it, there is nothing to clean up.
    clean_up: Option<CleanUp>,
    pipes: Pipes,
    program: PathBuf,
    since: Instant,
}

/// Starts a program; returns `None` when cancelled before it has started. A child whose start is already under way is
/// then killed as soon as it exists.
///
/// # Errors
///
/// If the program could not be started.
pub async fn start(command: ChildCommand, cancel: &Cancel) -> Result<Option<Started>, SpawnError> {
    let since = Instant::now();
    if cancel.reason().is_some() {
        return Ok(None);
    }
    let program = command.program.clone();
    let mut starting = pin!(async {
        let (tree, pipes) = ProcessTree::spawn(command).await?;
        Ok(Started { clean_up: Some(tree.clean_up()), tree, pipes, program, since })
    });
    select! {
        biased;
        _ = cancel.cancelled() => {
            // The start cannot be aborted, so the child is killed as soon as it exists. The caller, who does not hear of
            // it, removes its files.
            if let Ok(Ok(started)) = timeout(START_WAIT, starting).await {
                Box::pin(started.discard()).await;
            }
            Ok(None)
        }
        started = &mut starting => started.map(Some),
    }
}

/// Starts a program, feeds its output to `observer`, and returns once the whole tree has ended: [`start`] and
/// [`Started::drive`] in one.
///
/// Starts nothing when already cancelled.
///
/// # Errors
///
/// Only when the child could not be started; everything later is an [`Outcome`].
pub async fn supervise(
    command: ChildCommand,
    input: Input,
    limits: SuperviseLimits,
    initial_silence: Option<Duration>,
    cancel: &Cancel,
    observer: &mut dyn Observer,
) -> Result<Supervised, SpawnError> {
    let since = Instant::now();
    match start(command, cancel).await? {
        Some(started) => started.drive(input, limits, initial_silence, cancel, observer).await,
        None => Ok(Supervised::never_started(cancel.reason().unwrap_or(CancelReason::Dropped), since)),
    }
}

impl Started {
    /// The duty to clean up after the child, for the caller that made its files. `None` when it was taken before.
    pub fn take_clean_up(&mut self) -> Option<CleanUp> {
        self.clean_up.take()
    }

    /// Kills the child, which has nothing to save yet, and waits for the end of its tree. Bounded.
    pub async fn discard(self) {
        let warden_exit = self.clean_up.map(CleanUp::done);
        self.tree.kill();
        drop(timeout(DISCARD_WAIT, self.tree.ended()).await);
        self.tree.cleared().await;
        if let Some(warden_exit) = warden_exit {
            warden_exit.await;
        }
    }

    /// Writes `input` to the child, feeds its output to `observer`, and returns once the whole tree has ended.
    ///
    /// The first of these stops the run: `cancel`, the hard limit, silence, a child that stays too long after its work
    /// settled, or the child's own exit. Settled work ends the input, which tells the child to exit. A child that does
    /// not exit by itself is first interrupted, if the observer can do that. Then the whole tree is asked to exit, and
    /// killed `limits.grace` after the first request. In the meantime output keeps reaching the observer, until it ends
    /// or, `limits.drain` after the exit, the content of the pipes has been read. A hard limit reached after the work
    /// was settled is no failure: it only ends the stay. A cancel always counts as a cancel, even after the work was
    /// settled.
    ///
    /// Dropping the future kills the whole tree. Memory does not grow with the child's output: only the head and the tail of
    /// standard error are kept. Needs a tokio runtime with time and IO enabled.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the child's pipes.
    pub async fn drive(
        self,
        input: Input,
        limits: SuperviseLimits,
        initial_silence: Option<Duration>,
        cancel: &Cancel,
        observer: &mut dyn Observer,
    ) -> Result<Supervised, SpawnError> {
        let Self { tree, clean_up, pipes, program, since } = self;
        let warden_exit = clean_up.map(CleanUp::done);
        let mut idle_timer = IdleTimer::new(initial_silence, limits.linger, Instant::now());
        if input.has_ended() {
            idle_timer.dismiss();
        }
        let streams = Streams::new(pipes, input).map_err(|source| SpawnError::from_exec(&program, source))?;
        let mut intake = Intake { streams, observer, idle_timer, reached_limit: None };

        let end = watch(&tree, &mut intake, limits.hard, cancel).await;
        end.log(&tree, &program);
        let status = match &end {
            End::Exited(status) => *status,
            End::Lingered => intake.pump(terminate(&tree, limits.grace, cancel)).await,
            _ => interrupt(&tree, &mut intake, limits, cancel).await,
        };
        let end = match (end, intake.reached_limit) {
            (End::Cancelled(reason), _) => End::Cancelled(reason),
            (_, Some(limit)) => End::HardTimeout(limit),
            (end, None) => end,
        };
        intake.pump(tree.cleared()).await;
        if let Some(warden_exit) = warden_exit {
            intake.pump(warden_exit).await;
        }
        let complete = intake.drain(limits.drain).await;

        let known = tree.known();
        Ok(Supervised {
            outcome: outcome(end, status, &known, intake.idle_timer.is_settled()),
            status,
            complete,
            supervision: Some(tree.supervision),
            tree_has_ended: known.tree_has_ended(),
            mechanisms: known.mechanisms,
            tally: known.tally,
            stderr: intake.streams.into_stderr(),
            duration: since.elapsed(),
        })
    }
}

/// Ends the tree. Once the host shuts down, the tree gets at most [`SHUTDOWN_GRACE`] more, even if its end has already begun: the
/// user is waiting, and no process would end the rest afterwards.
async fn terminate(tree: &ProcessTree, grace: Duration, cancel: &Cancel) -> Option<ExitStatus> {
    let mut hurry = pin!(async {
        cancel.shut_down().await;
        sleep(SHUTDOWN_GRACE).await;
    });
    let mut ended = pin!(tree.terminate(grace));
    select! {
        biased;
        status = &mut ended => return status,
        () = &mut hurry => tree.kill(),
    }
    ended.await
}

/// The reason why [`watch`] stopped.
#[derive(Debug)]
enum End {
    Exited(Option<ExitStatus>),
    Lingered,
    Silent(Duration),
    HardTimeout(Duration),
    Cancelled(CancelReason),
}

impl End {
    /// Logs why a program ends, unless it has simply done its work: a run has many short ones, such as git.
    fn log(&self, tree: &ProcessTree, program: &Path) {
        let pid = tree.id();
        match self {
            Self::Exited(status) if status.is_some_and(|status| status.success()) => {
                tracing::trace!(target: "child", pid, ?program, "a program has done its work");
            }
            _ => tracing::debug!(target: "child", pid, ?program, why = ?self, "a program ends"),
        }
    }
}

/// Ends the child: first with the observer's own interrupt, then with a signal, then by force.
async fn interrupt(
    tree: &ProcessTree,
    intake: &mut Intake<'_>,
    SuperviseLimits { grace, leave, .. }: SuperviseLimits,
    cancel: &Cancel,
) -> Option<ExitStatus> {
    let since = Instant::now();
    // A host that shuts down has no time for the interrupt.
    let is_leaving = cancel.reason() == Some(CancelReason::Shutdown);
    if !intake.streams.has_begun {
        // The child has no work yet and must not begin any.
        intake.streams.close_stdin();
    } else if !is_leaving && intake.observer.interrupt() {
        let polite = (grace / 2).min(INTERRUPT_WAIT);
        tracing::debug!(target: "child", pid = tree.id(), wait = ?polite, "the child is interrupted");
        drop(timeout(polite, intake.pump_until_settled(tree.ended())).await);
    }
    intake.streams.input.end();
    let remaining = grace.saturating_sub(since.elapsed());
    if !leave.is_zero() && !is_leaving && intake.streams.has_begun {
        let mut shut_down = pin!(cancel.shut_down());
        let mut exited = pin!(timeout(leave, intake.pump(tree.ended())));
        select! {
            biased;
            _ = &mut exited => {}
            () = &mut shut_down => {}
        }
    }
    intake.pump(terminate(tree, remaining, cancel)).await
}

fn outcome(end: End, status: Option<ExitStatus>, known: &Known, is_settled: bool) -> Outcome {
    match (end, known.over_limit.clone()) {
        // Settled work cannot fail any more, not even when its leftover processes exceed a limit.
        (End::Exited(_), excess) if is_settled => Outcome::Settled { status, lingered: excess.is_some() },
        (End::Exited(_), Some(excess)) => Outcome::OverLimit(excess),
        (End::Exited(_), None) if known.orphaned => Outcome::Orphaned,
        (End::Exited(status), None) => status.map_or(Outcome::Lost, Outcome::Exited),
        (End::Lingered, _) => Outcome::Settled { status, lingered: true },
        (End::Silent(limit), _) => Outcome::IdleTimeout { limit },
        (End::HardTimeout(limit), _) => Outcome::HardTimeout { limit },
        (End::Cancelled(reason), _) => Outcome::Cancelled(reason),
    }
}

/// Reads until there is a reason to stop, and returns it. Does not act on it.
///
/// `biased` polls the branches in order. Output comes before silence, so that bytes already in the pipe count. A
/// flood would starve the branches after it, so exit and silence are also checked after each chunk.
async fn watch(
    tree: &ProcessTree,
    intake: &mut Intake<'_>,
    hard_limit: Option<Duration>,
    cancel: &Cancel,
) -> End {
    let mut hard = pin!(sleep(hard_limit.unwrap_or(Duration::MAX)));
    let mut overdue = pin!(sleep(Duration::ZERO));
    let mut cancelled = pin!(cancel.cancelled());
    let mut ended = pin!(tree.ended());
    // An observer without such a signal gets a `Notify` that never fires.
    let activity_changed = intake.observer.activity_changed().unwrap_or_default();
    loop {
        let deadline = intake.idle_timer.deadline();
        if let Some(deadline) = deadline.map(Into::into).filter(|deadline| *deadline != overdue.deadline()) {
            overdue.as_mut().reset(deadline);
        }
        select! {
            biased;
            reason = &mut cancelled => return End::Cancelled(reason),
            () = &mut hard => {
                // Settled work cannot fail any more: the child has only stayed too long.
                let is_settled = intake.idle_timer.is_settled();
                let limit = hard_limit.unwrap_or_default();
                if is_settled {
                    return End::Lingered;
                }
                let more = if intake.reached_limit.is_none() { intake.observer.time_limit_reached() } else { None };
                let Some(more) = more else { return End::HardTimeout(limit) };
                intake.reached_limit = Some(limit);
                hard.as_mut().reset(tokio::time::Instant::now() + more);
            }
            more = intake.streams.next(), if !intake.streams.is_done() => {
                if more {
                    intake.observe();
                }
                if tree.has_ended() {
                    return End::Exited(ended.await);
                }
            }
            () = activity_changed.notified() => intake.refresh(),
            () = &mut overdue, if deadline.is_some() => {}
            status = &mut ended => return End::Exited(status),
        }
        match intake.idle_timer.overdue(Instant::now()) {
            Some(Expired::Linger) => return End::Lingered,
            Some(Expired::Resumption) => {
                intake.streams.input.end();
                intake.idle_timer.dismiss();
            }
            Some(Expired::Silence(limit)) => return End::Silent(limit),
            None => {}
        }
    }
}
