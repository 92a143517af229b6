//! A child and everything it starts.

use std::fmt;
use std::fs::File;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit, oneshot, watch};
use tokio::time::timeout;

use super::command::ChildCommand;
use super::error::SpawnError;
use super::guardian::Supervision;
use super::platform::Group;
use super::signaller::{Known, Remaining, Signaller};
use super::streams::Pipes;
use super::thread::spawn;
use super::warden::{self, Mechanism, Tally};

/// The time that a killed tree has to end. The kernel needs milliseconds, unless a process hangs in a system call that cannot be
/// interrupted. A stopped warden is given up sooner. After that the tree is left to its thread, and no caller waits for it.
const TREE_END_WAIT: Duration = Duration::from_secs(6);

/// The time that a released warden has to exit. It needs a millisecond.
const WARDEN_EXIT_WAIT: Duration = Duration::from_secs(2);

/// The maximum number of children that start at the same time. A start keeps a core busy for a millisecond or two, and
/// hundreds at once would starve every other thread of the process. The number is above one, so that a hanging start
/// does not block the others.
static STARTING: Semaphore = Semaphore::const_new(4);

/// A running child and everything it starts. Behind a warden that is the whole tree, however a process tries to leave
/// it; without one it is the process group on Unix and the child alone on Windows.
///
/// Dropping it kills all of them without blocking.
///
/// Threads of this module start the child, wait for it, end the processes it leaves behind, and reap it. None of that can block a
/// task or get lost with one, even while the runtime shuts down. Children behind wardens share one thread. A child without a
/// warden has its own, because not every system can wait for many.
pub struct ProcessTree {
    signaller: Arc<dyn Signaller>,
    known: watch::Receiver<Known>,
    /// The level of certainty that the tree is ended.
    pub(super) supervision: Supervision,
}

/// A live view of a tree's resource use.
#[derive(Clone, Debug)]
pub struct ResourceMonitor(watch::Receiver<Known>);

impl ResourceMonitor {
    /// Returns the tree's resource use so far; `None` without a warden, or before its first report.
    #[must_use]
    pub fn tally(&self) -> Option<Tally> {
        let known = self.0.borrow();
        known.tally.or(known.so_far)
    }

    /// Waits until the tally may have changed; forever once the tree has ended. Cancel safe.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl ProcessTree {
    /// Starts a program. The caller has to serve its pipes.
    ///
    /// Dropping the future kills a child that was already started.
    ///
    /// # Errors
    ///
    /// If the program did not start; nothing is left running then.
    pub(super) async fn spawn(command: ChildCommand) -> Result<(Self, Pipes), SpawnError> {
        let program = command.program.clone();
        let permit = STARTING.acquire().await;
        let (sender, started) = oneshot::channel();
        spawn("subagent-child", move || guard(&command, sender, permit))
            .map_err(|source| SpawnError::from_exec(&program, source))?;
        started.await.unwrap_or_else(|_| {
            let source = io::Error::other("the thread that should start it panicked");
            Err(SpawnError::from_exec(&program, source))
        })
    }

    /// The process id of the child, or of its warden if it has one.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.signaller.id()
    }

    /// The kernel mechanisms that hold it.
    #[must_use]
    pub fn mechanisms(&self) -> Vec<Mechanism> {
        self.known.borrow().mechanisms.clone()
    }

    /// Returns a live view of the tree's resource use.
    #[must_use]
    pub fn resource_monitor(&self) -> ResourceMonitor {
        ResourceMonitor(self.known.clone())
    }

    /// Returns the state that is known now.
    pub(super) fn known(&self) -> Known {
        self.known.borrow().clone()
    }

    /// Waits until the child itself has ended. `None` when its status is unknown. Cancel safe.
    pub fn ended(&self) -> impl Future<Output = Option<ExitStatus>> + Send + use<> {
        let mut known = self.known.clone();
        // Without a sender the thread has panicked, and nothing is known.
        async move { known.wait_for(|known| known.ended).await.ok().and_then(|known| known.status) }
    }

    /// Returns true if the child itself has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.known.borrow().ended
    }

    /// Waits, after the child has ended, until the processes it left behind have ended too. They are asked to exit
    /// and killed soon after, without a call from here. Bounded; cancel safe.
    pub(super) async fn cleared(&self) {
        let mut known = self.known.clone();
        drop(timeout(TREE_END_WAIT, known.wait_for(|known| known.remaining != Remaining::Tree)).await);
    }

    /// Ends the tree: asks every process to exit, and kills them all if the child is still there after `grace`.
    /// Returns its status; `None` when that is unknown, or when even the kill did not end the child in time. Bounded.
    /// Dropping the future stops the escalation where it is.
    ///
    /// Output must be read during the wait, or a child that writes before it exits cannot finish.
    pub(super) async fn terminate(&self, grace: Duration) -> Option<ExitStatus> {
        self.signaller.ask();
        if let Ok(status) = timeout(grace, self.ended()).await {
            return status;
        }
        tracing::warn!(
            target: "child", pid = self.id(), ?grace,
            "the tree has not exited within its grace period and is killed"
        );
        self.kill();
        timeout(TREE_END_WAIT, self.ended()).await.ok().flatten()
    }

    /// Tells the warden not to remove [`Options::unless_kept`](warden::Options::unless_kept) if this process dies first.
    /// Call it before the child gets its work. Does nothing without a warden.
    pub fn keep(&self) {
        self.signaller.keep();
    }

    /// Has the warden hold an open file until no process of the tree is left: a lock of this process then lasts as long as
    /// they do, even if this process is killed. Does nothing without a warden.
    pub fn hold(&self, file: &File) {
        self.signaller.hold(file);
    }

    /// The duty to clean up after this tree; take it once.
    pub(super) fn clean_up(&self) -> CleanUp {
        CleanUp { signaller: Arc::clone(&self.signaller), known: self.known.clone(), cleaned: true }
    }

    /// Kills the whole tree at once. Does nothing once it has ended.
    pub(super) fn kill(&self) {
        self.signaller.kill();
    }
}

/// The duty to remove the child's remaining files. As long as this exists, the child's warden stays and does it if this
/// process ends for any reason. Dropping it reports that they have been removed.
pub struct CleanUp {
    signaller: Arc<dyn Signaller>,
    known: watch::Receiver<Known>,
    cleaned: bool,
}

impl CleanUp {
    /// Leaves the cleanup to the warden, because this process cannot do it. Returns true if there is a warden that can.
    #[must_use]
    pub fn delegate(mut self) -> bool {
        self.cleaned = false;
        self.known.borrow().remaining != Remaining::None
    }

    /// Nothing is left to do; the future waits until the warden has left.
    pub(crate) fn done(self) -> impl Future<Output = ()> + Send + use<> {
        self.warden_exited()
    }

    /// Waits until the warden has exited, which it does once this is dropped and the tree has ended. Bounded; cancel safe.
    pub fn warden_exited(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut known = self.known.clone();
        async move {
            drop(timeout(WARDEN_EXIT_WAIT, known.wait_for(|known| known.remaining == Remaining::None)).await);
        }
    }
}

impl fmt::Debug for CleanUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CleanUp").field("warden", &self.signaller.id()).finish_non_exhaustive()
    }
}

impl Drop for CleanUp {
    fn drop(&mut self) {
        self.signaller.release(self.cleaned);
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

type Started = oneshot::Sender<Result<(ProcessTree, Pipes), SpawnError>>;

/// Starts a child. A child without a warden is also waited for, cleared up after and reaped here. Blocks.
fn guard(command: &ChildCommand, started: Started, permit: Result<SemaphorePermit<'static>, AcquireError>) {
    let (known, watched) = watch::channel(Known::default());
    let child = launch(command, &known);
    drop(permit);
    let (child, group) = match child {
        Ok((signaller, pipes, group)) => {
            let by_warden = || Supervision::from_mechanisms(&watched.borrow().mechanisms);
            let supervision = group.as_ref().map_or_else(by_warden, |_| Supervision::WITHOUT_WARDEN);
            (Ok((ProcessTree { signaller, known: watched, supervision }, pipes)), group)
        }
        Err(error) => (Err(error), None),
    };
    // If the caller waits no more, this drops the tree, which kills it.
    drop(started.send(child));
    if let Some(group) = group {
        let status = group.wait();
        known.send_modify(|known| known.end(status));
        group.clear();
        known.send_modify(|known| known.remaining = Remaining::None);
    }
}

/// A child that has executed its program, and its group if no warden follows it.
type Launched = (Arc<dyn Signaller>, Pipes, Option<Arc<Group>>);

/// Blocks until the child has executed its program.
fn launch(command: &ChildCommand, known: &watch::Sender<Known>) -> Result<Launched, SpawnError> {
    let located = command.locate()?;
    if let Some(guardian) = &command.guardian {
        let (signaller, pipes) = warden::start(&located, guardian, known.clone())?;
        return Ok((signaller, pipes, None));
    }
    let mut child = located.start()?;
    let pipes = Pipes::of(&mut child);
    let group = Arc::new(Group::new(child));
    Ok((Arc::clone(&group) as Arc<dyn Signaller>, pipes, Some(group)))
}
