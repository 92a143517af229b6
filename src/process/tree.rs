//! A child and everything it starts.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit, oneshot, watch};
use tokio::time::timeout;

use super::command::ChildCommand;
use super::error::SpawnError;
use super::guardian::Supervision;
use super::platform::Group;
use super::streams::Pipes;
use super::warden::{self, Link, Mechanism, News, OverLimit, Tally};

/// How long a killed tree may take to end. The kernel needs milliseconds, unless a process hangs in a system call
/// that cannot be interrupted; a stopped warden is given up sooner. After that the tree is left to its thread, and no
/// caller waits for it.
const GONE_WAIT: Duration = Duration::from_secs(6);

/// The stack of a thread that starts a child, in bytes: it makes a few shallow system calls.
const STACK_BYTES: usize = 256 * 1024;

/// How many children start at the same time. A start keeps a core busy for a millisecond or two, and hundreds at once
/// would starve every other thread of the process. More than one, so that a start that hangs does not block the
/// others.
static STARTING: Semaphore = Semaphore::const_new(4);

/// A running child and everything it starts. Behind a warden that is the whole tree, however a process tries to leave
/// it; without one it is the process group on Unix and the child alone on Windows.
///
/// Dropping it kills all of them without blocking.
///
/// Threads of this module start the child, wait for it, end what it leaves behind, and reap it. So none of that can
/// block a task or get lost with one, even while the runtime shuts down. Children behind wardens share one thread; a
/// child without one has its own, because not every system can wait for many.
pub struct ProcessTree {
    keeper: Keeper,
    known: watch::Receiver<Known>,
    mechanisms: Vec<Mechanism>,
}

/// What signals the processes of a tree.
#[derive(Clone)]
enum Keeper {
    Group(Arc<Group>),
    Warden(Arc<Link>),
}

/// A live view of what a tree uses.
#[derive(Clone, Debug)]
pub struct Vitals(watch::Receiver<Known>);

impl Vitals {
    /// What the tree has used so far; `None` without a warden, or before its first report.
    #[must_use]
    pub fn tally(&self) -> Option<Tally> {
        let known = self.0.borrow();
        known.tally.or(known.so_far)
    }

    /// Waits until the tally may have changed; for ever once the tree is gone. Cancel safe.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What is known of a tree so far.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The child has ended; other processes of its tree may still run.
    ended: bool,
    /// Its exit status, if it is known.
    status: Option<ExitStatus>,
    /// The rest of the tree has ended too.
    gone: bool,
    over_limit: Option<OverLimit>,
    tally: Option<Tally>,
    /// The latest tally of a tree that still runs.
    so_far: Option<Tally>,
    orphaned: bool,
}

impl ProcessTree {
    /// Starts a program. The caller has to serve its pipes.
    ///
    /// Dropping the future kills a child that was already started.
    ///
    /// # Errors
    ///
    /// When the program did not start; nothing is left running then.
    pub async fn spawn(command: ChildCommand) -> Result<(Self, Pipes), SpawnError> {
        let program = command.program.clone();
        let turn = STARTING.acquire().await;
        let (sender, started) = oneshot::channel();
        thread::Builder::new()
            .name("subagent-child".into())
            .stack_size(STACK_BYTES)
            .spawn(move || guard(&command, sender, turn))
            .map_err(|source| SpawnError::from_exec(program.clone(), source))?;
        started.await.unwrap_or_else(|_| {
            let source = io::Error::other("the thread that was to start it has panicked");
            Err(SpawnError::Exec { path: program, source })
        })
    }

    /// The process id of the child, or of its warden if it has one.
    #[must_use]
    pub fn id(&self) -> u32 {
        match &self.keeper {
            Keeper::Group(group) => group.id(),
            Keeper::Warden(link) => link.id(),
        }
    }

    /// How reliably the tree is ended.
    #[must_use]
    pub fn supervision(&self) -> Supervision {
        match &self.keeper {
            Keeper::Group(_) => Supervision::BARE,
            Keeper::Warden(_) => Supervision::by(&self.mechanisms),
        }
    }

    /// The kernel mechanisms that hold the tree.
    #[must_use]
    pub fn mechanisms(&self) -> &[Mechanism] {
        &self.mechanisms
    }

    /// The resource limit that the tree has exceeded, if any.
    #[must_use]
    pub fn over_limit(&self) -> Option<OverLimit> {
        self.known.borrow().over_limit.clone()
    }

    /// What the tree has used, once it is gone; `None` without a warden.
    #[must_use]
    pub fn tally(&self) -> Option<Tally> {
        self.known.borrow().tally
    }

    /// A live view of what the tree uses.
    #[must_use]
    pub fn vitals(&self) -> Vitals {
        Vitals(self.known.clone())
    }

    /// Whether the whole tree is gone, as far as can be known.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        let known = self.known.borrow();
        known.gone && known.tally.is_none_or(|tally| tally.left == 0)
    }

    /// Whether the warden was killed, so that nobody saw how the tree ended.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        self.known.borrow().orphaned
    }

    /// Waits until the child itself has ended. `None` when its status is unknown. Cancel safe.
    pub fn ended(&self) -> impl Future<Output = Option<ExitStatus>> + Send + use<> {
        let mut known = self.known.clone();
        // Without a sender the thread has panicked, and nothing is known.
        async move { known.wait_for(|known| known.ended).await.ok().and_then(|known| known.status) }
    }

    /// Whether the child itself has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.known.borrow().ended
    }

    /// Waits, after the child has ended, until the processes it left behind have ended too. They are asked to exit
    /// and killed soon after, without a call from here. Bounded; cancel safe.
    pub async fn cleared(&self) {
        let mut known = self.known.clone();
        drop(timeout(GONE_WAIT, known.wait_for(|known| known.gone)).await);
    }

    /// Ends the tree: asks every process to exit, and kills them all if the child is still there after `grace`.
    /// Returns its status; `None` when that is unknown, or when even the kill did not end the child in time. Bounded.
    /// Dropping the future stops the escalation where it is.
    ///
    /// Output has to be read meanwhile, or a child that writes before it exits cannot finish.
    pub async fn terminate(&self, grace: Duration) -> Option<ExitStatus> {
        match &self.keeper {
            Keeper::Group(group) => group.ask(),
            Keeper::Warden(link) => link.ask(),
        }
        if let Ok(status) = timeout(grace, self.ended()).await {
            return status;
        }
        self.kill();
        timeout(GONE_WAIT, self.ended()).await.ok().flatten()
    }

    /// Tells the warden not to remove `Guardian::unless_kept` if this process dies first. Does nothing without a
    /// warden.
    pub fn keep(&self) {
        match &self.keeper {
            Keeper::Group(_) => {}
            Keeper::Warden(link) => link.keep(),
        }
    }

    /// Kills the whole tree at once. Does nothing once it is gone.
    pub fn kill(&self) {
        match &self.keeper {
            Keeper::Group(group) => group.kill(),
            Keeper::Warden(link) => link.kill(),
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

type Started = oneshot::Sender<Result<(ProcessTree, Pipes), SpawnError>>;

/// Starts a child. A child without a warden is also waited for, cleared up after and reaped here. Blocks.
fn guard(command: &ChildCommand, started: Started, turn: Result<SemaphorePermit<'static>, AcquireError>) {
    let (known, watch) = watch::channel(Known::default());
    let known = Arc::new(known);
    let child = start(command, &known);
    drop(turn);
    let (keeper, pipes, mechanisms) = match child {
        Ok(child) => child,
        Err(error) => {
            drop(started.send(Err(error)));
            return;
        }
    };
    let tree = ProcessTree { keeper: keeper.clone(), known: watch, mechanisms };
    // If the caller waits no more, this drops the tree, which kills it.
    drop(started.send(Ok((tree, pipes))));
    if let Keeper::Group(group) = keeper {
        let status = group.wait();
        known.send_modify(|known| known.end(status));
        group.clear();
        known.send_modify(|known| known.gone = true);
    }
}

/// Blocks until the child has executed its program.
fn start(
    command: &ChildCommand,
    known: &Arc<watch::Sender<Known>>,
) -> Result<(Keeper, Pipes, Vec<Mechanism>), SpawnError> {
    let located = command.locate()?;
    if let Some(guardian) = &command.guardian {
        let known = Arc::clone(known);
        let tell = Box::new(move |news| known.send_modify(|known| known.learn(news)));
        let (link, pipes, mechanisms) =
            warden::start(command, guardian, &located.program, &located.cwd, tell)?;
        return Ok((Keeper::Warden(link), pipes, mechanisms));
    }
    let mut child = located.start()?;
    let pipes = Pipes::of(&mut child);
    Ok((Keeper::Group(Arc::new(Group::new(child))), pipes, Vec::new()))
}

impl Known {
    fn end(&mut self, status: Option<ExitStatus>) {
        (self.ended, self.status) = (true, status);
    }

    fn learn(&mut self, news: News) {
        match news {
            News::Ended(status) => self.end(Some(status)),
            News::OverLimit(over) => self.over_limit = Some(over),
            News::Using(tally) => self.so_far = Some(tally),
            News::Gone(tally) => self.tally = Some(tally),
            News::Orphaned => {
                self.orphaned = true;
                self.ended = true;
            }
            News::Cleared => self.gone = true,
        }
    }
}
