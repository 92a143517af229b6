//! Running a child from its start to its end.

use std::pin::pin;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::time::{sleep, sleep_until, timeout};

use super::cancel::{Cancel, CancelReason};
use super::clip::Clip;
use super::command::ChildCommand;
use super::error::SpawnError;
use super::limits::SuperviseLimits;
use super::outcome::{Outcome, Supervised};
use super::patience::{Overdue, Patience};
use super::streams::Streams;
use super::tree::ProcessTree;

/// The longest grace of a child whose host is going down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// How long the start of a child that nobody wants any more is waited for. It takes milliseconds.
const START_WAIT: Duration = Duration::from_secs(2);

/// Reads a child's standard output as it comes.
pub trait Observer: Send {
    /// Takes the next bytes, cut anywhere. Nothing else is read until it returns, so a slow observer slows the child.
    fn stdout(&mut self, chunk: &[u8]) -> Pulse;
}

/// What an observer makes of the output so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The chunk was a sign of life: the silence clock starts again.
    pub alive: bool,
    /// The longest silence from now on; `None` = silence is fine. The end of a pause starts the clock again.
    pub silence: Option<Duration>,
    /// The work is done, so the child should leave soon, and whatever happens is no failure any more. Work that is taken
    /// up again takes this back.
    pub settled: bool,
}

/// Starts a program, feeds its output to `observer`, and returns when it and the others of its tree are gone.
///
/// The first of these ends the run: `cancel`, the hard limit, silence, lingering after the work was settled, or the
/// child's own exit. Unless it left by itself, the child and its tree are asked to leave and killed after
/// `limits.grace`; output goes on reaching the observer meanwhile, and until the end of it or `limits.drain` after the
/// exit. A hard limit that comes after the work was settled only shortens the stay; a cancel is a cancel until the end.
///
/// When already cancelled, nothing is started; a child that was just being started is killed as soon as it is there. When
/// the future is dropped, the whole tree is killed. Standard error is folded; memory does not grow with what the child
/// writes. Needs a tokio runtime with time and IO enabled.
///
/// # Errors
///
/// Only when the child could not be started; everything later is an [`Outcome`].
pub async fn supervise(
    mut command: ChildCommand,
    limits: SuperviseLimits,
    initial_silence: Option<Duration>,
    cancel: &Cancel,
    observer: &mut dyn Observer,
) -> Result<Supervised, SpawnError> {
    let started = Instant::now();
    if let Some(reason) = cancel.reason() {
        return Ok(never_started(reason, started));
    }
    let input = std::mem::take(&mut command.stdin);
    let program = command.program.clone();
    let mut spawned = pin!(ProcessTree::spawn(command));
    let (tree, pipes) = select! {
        biased;
        reason = cancel.cancelled() => {
            // It cannot be called back, so it is ended as soon as it is there.
            if let Ok(Ok((tree, _))) = timeout(START_WAIT, spawned).await {
                tree.kill();
                tree.cleared().await;
            }
            return Ok(never_started(reason, started));
        }
        spawned = &mut spawned => spawned?,
    };
    let streams = Streams::new(pipes, input).map_err(|source| SpawnError::from_exec(program, source))?;
    let patience = Patience::new(initial_silence, limits.linger, Instant::now());
    let mut run = Run { tree, intake: Intake { streams, observer, patience } };

    let end = run.watch(&limits, started, cancel).await;
    let status = match end {
        End::Left(status) => status,
        _ => run.intake.pump(terminate(&run.tree, limits.grace, cancel)).await,
    };
    run.intake.pump(run.tree.cleared()).await;
    let complete = run.intake.drain(limits.drain).await;

    let outcome = match (end, run.tree.over_limit()) {
        // Settled work cannot fail any more, not even by a limit that its leftovers have reached.
        (End::Left(status), over) if run.intake.patience.is_settled() => {
            Outcome::Settled { status, lingered: over.is_some() }
        }
        (End::Left(_), Some(over)) => Outcome::OverLimit(over),
        (End::Left(_), None) if run.tree.is_orphaned() => Outcome::Orphaned,
        (End::Left(None), None) => Outcome::Lost,
        (End::Left(Some(status)), None) => Outcome::Exited(status),
        (End::Outstayed, _) => Outcome::Settled { status, lingered: true },
        (End::Silent(limit), _) => Outcome::IdleTimeout { limit },
        (End::Overran(limit), _) => Outcome::HardTimeout { limit },
        (End::Cancelled(reason), _) => Outcome::Cancelled(reason),
    };
    Ok(Supervised {
        outcome,
        status,
        complete,
        supervision: Some(run.tree.supervision()),
        gone: run.tree.is_gone(),
        mechanisms: run.tree.mechanisms().to_vec(),
        tally: run.tree.tally(),
        stderr: run.intake.streams.into_stderr(),
        duration: started.elapsed(),
    })
}

/// Ends a tree. A host that is going cannot keep its user waiting, and what is left then would be nobody's; so it gets
/// less time from the moment that the host goes, even when its end is under way already.
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

fn never_started(reason: CancelReason, since: Instant) -> Supervised {
    Supervised {
        outcome: Outcome::Cancelled(reason),
        status: None,
        complete: true,
        supervision: None,
        mechanisms: Vec::new(),
        gone: true,
        tally: None,
        stderr: Clip::default(),
        duration: since.elapsed(),
    }
}

/// What the loop has to report.
enum End {
    Left(Option<ExitStatus>),
    Outstayed,
    Silent(Duration),
    Overran(Duration),
    Cancelled(CancelReason),
}

struct Run<'a> {
    tree: ProcessTree,
    intake: Intake<'a>,
}

impl Run<'_> {
    /// Reads until there is a reason to stop, and says which. Does nothing about it.
    ///
    /// The order is that of the branches. Output stands before silence, so that what is already there counts; since a
    /// flood is always there, what stands after it is also looked at after each chunk.
    async fn watch(&mut self, limits: &SuperviseLimits, started: Instant, cancel: &Cancel) -> End {
        let Self { tree, intake } = self;
        let hard_deadline = limits.hard.and_then(|limit| started.checked_add(limit).zip(Some(limit)));
        let mut hard = pin!(sleep_until(hard_deadline.map_or(started, |(deadline, _)| deadline).into()));
        let mut overdue = pin!(sleep_until(started.into()));
        let mut cancelled = pin!(cancel.cancelled());
        let mut ended = pin!(tree.ended());
        loop {
            let deadline = intake.patience.deadline();
            if let Some(deadline) =
                deadline.map(Into::into).filter(|deadline| *deadline != overdue.deadline())
            {
                overdue.as_mut().reset(deadline);
            }
            select! {
                biased;
                reason = &mut cancelled => return End::Cancelled(reason),
                () = &mut hard, if hard_deadline.is_some() => {
                    let limit = hard_deadline.map(|(_, limit)| limit).unwrap_or_default();
                    // Settled work cannot fail any more: the child has only outstayed.
                    return if intake.patience.is_settled() { End::Outstayed } else { End::Overran(limit) };
                }
                more = intake.streams.next(), if !intake.streams.is_done() => {
                    if more {
                        intake.observe();
                    }
                    if tree.has_ended() {
                        return End::Left(ended.await);
                    }
                }
                () = &mut overdue, if deadline.is_some() => {}
                status = &mut ended => return End::Left(status),
            }
            match intake.patience.overdue(Instant::now()) {
                Some(Overdue::Linger) => return End::Outstayed,
                Some(Overdue::Silence(limit)) => return End::Silent(limit),
                None => {}
            }
        }
    }
}

/// The way of the child's output into the observer.
struct Intake<'a> {
    streams: Streams,
    observer: &'a mut dyn Observer,
    patience: Patience,
}

impl Intake<'_> {
    fn observe(&mut self) {
        let pulse = self.observer.stdout(self.streams.chunk());
        self.patience.feel(pulse, Instant::now());
    }

    /// Reads on until `event`.
    async fn pump<T>(&mut self, event: impl Future<Output = T>) -> T {
        let mut event = pin!(event);
        loop {
            select! {
                biased;
                value = &mut event => return value,
                more = self.streams.next(), if !self.streams.is_done() => if more { self.observe() },
            }
        }
    }

    /// Reads to the end, for at most `bound`. Returns whether the end was reached.
    async fn drain(&mut self, bound: Duration) -> bool {
        self.streams.close_stdin();
        let mut bound = pin!(sleep(bound));
        while !self.streams.is_done() {
            select! {
                biased;
                () = &mut bound => return false,
                more = self.streams.next() => if more { self.observe() },
            }
        }
        true
    }
}
