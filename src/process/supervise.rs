//! Running a child from its start to its end.

use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::time::{sleep, sleep_until, timeout};

use super::cancel::{Cancel, CancelReason};
use super::command::ChildCommand;
use super::error::SpawnError;
use super::idle_timer::{Expired, IdleTimer};
use super::input::Input;
use super::observer::{Activity, Observer};
use super::outcome::{Outcome, Supervised};
use super::streams::{Pipes, Streams};
use super::tree::{ProcessTree, Vitals};

/// The longest grace of a child whose host is going down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// How long the start of a child that nobody wants any more is waited for. It takes milliseconds.
const START_WAIT: Duration = Duration::from_secs(2);

/// How long a child that was killed before it was driven may take to end. The kernel needs milliseconds.
const DISCARD_WAIT: Duration = Duration::from_secs(2);

/// The longest that a child which was told to stop its work may take to settle, before it is asked to leave.
const INTERRUPT_WAIT: Duration = Duration::from_secs(1);

/// The bounds of a supervised run, apart from the silence limit, which the observer sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperviseLimits {
    /// From the start of the child to its end; `None` = no limit.
    pub hard: Option<Duration>,
    /// From the polite request to leave to the kill.
    pub grace: Duration,
    /// How long a child may stay once its work is settled.
    pub linger: Duration,
    /// How long output is awaited after the child has gone, in case somebody else holds its pipes.
    pub drain: Duration,
}

impl Default for SuperviseLimits {
    fn default() -> Self {
        Self {
            hard: None,
            // A pi that is asked to leave first ends the shells of its tools.
            grace: Duration::from_secs(5),
            // pi leaves within milliseconds; extensions may have something to save.
            linger: Duration::from_secs(2),
            // What a dead child wrote is in the pipe already; only an escaped descendant makes this wait.
            drain: Duration::from_secs(2),
        }
    }
}

/// A child that was started and is not driven yet. Nobody reads what it says, so it waits once its pipe is full.
///
/// Dropping it kills its whole tree.
pub struct Started {
    tree: ProcessTree,
    pipes: Pipes,
    program: PathBuf,
    since: Instant,
}

/// Starts a program; `None` when that was cancelled. A child that was just being started then is ended as soon as it is
/// there.
///
/// # Errors
///
/// When the program could not be started.
pub async fn start(command: ChildCommand, cancel: &Cancel) -> Result<Option<Started>, SpawnError> {
    let since = Instant::now();
    if cancel.reason().is_some() {
        return Ok(None);
    }
    let program = command.program.clone();
    let mut spawned = pin!(ProcessTree::spawn(command));
    let (tree, pipes) = select! {
        biased;
        _ = cancel.cancelled() => {
            // It cannot be called back, so it is ended as soon as it is there.
            if let Ok(Ok((tree, _))) = timeout(START_WAIT, spawned).await {
                tree.kill();
                tree.cleared().await;
            }
            return Ok(None);
        }
        spawned = &mut spawned => spawned?,
    };
    Ok(Some(Started { tree, pipes, program, since }))
}

/// Starts a program, feeds its output to `observer`, and returns when it and the others of its tree are gone: [`start`]
/// and [`Started::drive`] in one.
///
/// When already cancelled, nothing is started.
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
    /// Waits for the end of the child itself. Cancel safe.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let ended = self.tree.ended();
        async move {
            ended.await;
        }
    }

    /// The process id of the child, or of the warden before it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// From now on the child leaves something worth keeping, if this process dies before it does. To be called before it
    /// gets its work.
    pub fn keep(&self) {
        self.tree.keep();
    }

    /// What the tree uses while it is there.
    #[must_use]
    pub fn vitals(&self) -> Vitals {
        self.tree.vitals()
    }

    /// Whether the child itself has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.tree.has_ended()
    }

    /// Ends the child, which has nothing to save, and waits until its tree is gone. Bounded.
    pub async fn discard(self) {
        self.tree.kill();
        drop(timeout(DISCARD_WAIT, self.tree.ended()).await);
        self.tree.cleared().await;
    }

    /// Writes `input` to the child, feeds its output to `observer`, and returns when it and the others of its tree are
    /// gone.
    ///
    /// The first of these ends the run: `cancel`, the hard limit, silence, lingering after the work was settled, or the
    /// child's own exit. Settled work ends the input, which tells the child to leave. Unless it left by itself, the child is
    /// interrupted where the observer can do that, then it and its tree are asked to leave, and killed `limits.grace`
    /// after the first word; output goes on reaching the observer meanwhile, and until the end of it or `limits.drain`
    /// after the exit. A hard limit that comes after the work was settled only shortens the stay; a cancel is a cancel
    /// until the end.
    ///
    /// When the future is dropped, the whole tree is killed. Standard error is folded; memory does not grow with what the
    /// child writes. Needs a tokio runtime with time and IO enabled.
    ///
    /// # Errors
    ///
    /// When the child's pipes cannot be served.
    pub async fn drive(
        self,
        input: Input,
        limits: SuperviseLimits,
        initial_silence: Option<Duration>,
        cancel: &Cancel,
        observer: &mut dyn Observer,
    ) -> Result<Supervised, SpawnError> {
        let Self { tree, pipes, program, since } = self;
        let mut idle_timer = IdleTimer::new(initial_silence, limits.linger, Instant::now());
        if input.has_ended() {
            idle_timer.dismiss();
        }
        let streams = Streams::new(pipes, input).map_err(|source| SpawnError::from_exec(program, source))?;
        let mut run = Run { tree, intake: Intake { streams, observer, idle_timer } };

        let end = run.watch(&limits, Instant::now(), cancel).await;
        let status = match &end {
            End::Left(status) => *status,
            End::Outstayed => run.intake.pump(terminate(&run.tree, limits.grace, cancel)).await,
            _ => run.interrupt(limits.grace, cancel).await,
        };
        run.intake.pump(run.tree.cleared()).await;
        let complete = run.intake.drain(limits.drain).await;

        let outcome = run.outcome(end, status);
        Ok(Supervised {
            outcome,
            status,
            complete,
            supervision: Some(run.tree.supervision()),
            gone: run.tree.is_gone(),
            mechanisms: run.tree.mechanisms().to_vec(),
            tally: run.tree.tally(),
            stderr: run.intake.streams.into_stderr(),
            duration: since.elapsed(),
        })
    }
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
    /// Ends the child: first by words that its observer has, then by a signal, then by force.
    async fn interrupt(&mut self, grace: Duration, cancel: &Cancel) -> Option<ExitStatus> {
        let since = Instant::now();
        // A host that goes down has no time for a last word.
        let is_leaving = cancel.reason() == Some(CancelReason::Shutdown);
        if !self.intake.streams.input_has_begun() {
            // It has no work yet, and is not to begin any.
            self.intake.streams.close_stdin();
        } else if !is_leaving && self.intake.observer.interrupt() {
            let ended = self.tree.ended();
            let polite = (grace / 2).min(INTERRUPT_WAIT);
            drop(timeout(polite, self.intake.pump_until_settled(ended)).await);
        }
        self.intake.streams.end_input();
        let rest = grace.saturating_sub(since.elapsed());
        self.intake.pump(terminate(&self.tree, rest, cancel)).await
    }

    fn outcome(&self, end: End, status: Option<ExitStatus>) -> Outcome {
        match (end, self.tree.over_limit()) {
            // Settled work cannot fail any more, not even by a limit that its leftovers have reached.
            (End::Left(status), over) if self.intake.idle_timer.is_settled() => {
                Outcome::Settled { status, lingered: over.is_some() }
            }
            (End::Left(_), Some(over)) => Outcome::OverLimit(over),
            (End::Left(_), None) if self.tree.is_orphaned() => Outcome::Orphaned,
            (End::Left(None), None) => Outcome::Lost,
            (End::Left(Some(status)), None) => Outcome::Exited(status),
            (End::Outstayed, _) => Outcome::Settled { status, lingered: true },
            (End::Silent(limit), _) => Outcome::IdleTimeout { limit },
            (End::Overran(limit), _) => Outcome::HardTimeout { limit },
            (End::Cancelled(reason), _) => Outcome::Cancelled(reason),
        }
    }

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
        // Nobody notifies one that the observer does not know.
        let news = intake.observer.news().unwrap_or_default();
        loop {
            let deadline = intake.idle_timer.deadline();
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
                    return if intake.idle_timer.is_settled() { End::Outstayed } else { End::Overran(limit) };
                }
                more = intake.streams.next(), if !intake.streams.is_done() => {
                    if more {
                        intake.observe();
                    }
                    if tree.has_ended() {
                        return End::Left(ended.await);
                    }
                }
                () = news.notified() => intake.look(),
                () = &mut overdue, if deadline.is_some() => {}
                status = &mut ended => return End::Left(status),
            }
            match intake.idle_timer.overdue(Instant::now()) {
                Some(Expired::Linger) => return End::Outstayed,
                Some(Expired::Resumption) => {
                    intake.streams.end_input();
                    intake.idle_timer.dismiss();
                }
                Some(Expired::Silence(limit)) => return End::Silent(limit),
                None => {}
            }
        }
    }
}

/// The way of the child's output into the observer.
struct Intake<'a> {
    streams: Streams,
    observer: &'a mut dyn Observer,
    idle_timer: IdleTimer,
}

impl Intake<'_> {
    fn observe(&mut self) {
        let activity = self.observer.stdout(self.streams.chunk());
        self.feel(activity);
    }

    /// Asks for the pulse when nothing was read.
    fn look(&mut self) {
        let activity = self.observer.stdout(&[]);
        self.feel(activity);
    }

    fn feel(&mut self, activity: Activity) {
        self.idle_timer.feel(activity, Instant::now());
        if self.streams.input_has_ended() {
            self.idle_timer.dismiss();
        }
    }

    /// Reads on until the work is settled or `ended`.
    async fn pump_until_settled<T>(&mut self, ended: impl Future<Output = T>) {
        let mut ended = pin!(ended);
        while !self.idle_timer.is_settled() {
            select! {
                biased;
                _ = &mut ended => return,
                more = self.streams.next(), if !self.streams.is_done() => if more { self.observe() },
            }
        }
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
