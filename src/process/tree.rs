//! A child and everything that it starts.

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

/// How long a tree that was killed may take to end. The kernel needs milliseconds, unless somebody hangs in a system call
/// that cannot be interrupted, and a warden that somebody has stopped is given up first; then it is left to its thread,
/// and nobody waits for it.
const GONE_WAIT: Duration = Duration::from_secs(6);

/// The stack of a thread that starts a child: it makes a few system calls and no deep ones.
const STACK_BYTES: usize = 256 * 1024;

/// How many children are started at the same moment. Each start keeps a core busy for a millisecond or two, and hundreds of
/// them at once keep every other thread of the process from its core; one that hangs must not hold up all others.
static STARTING: Semaphore = Semaphore::const_new(4);

/// A running child and everything that it starts: behind a warden the whole tree, however it tries to leave; without
/// one its process group on Unix, and on Windows the child alone.
///
/// Dropping it kills all of them, without blocking.
///
/// Threads of ours start it, wait for it, end what it leaves behind, and reap it, so that nothing of that can block a task or
/// be forgotten with one, a runtime on its way down included. Children behind wardens share one thread; a child without
/// one has its own, because not every system can wait for many.
pub struct ProcessTree {
    keeper: Keeper,
    known: watch::Receiver<Known>,
    mechanisms: Vec<Mechanism>,
}

/// How the processes of a tree are reached.
#[derive(Clone)]
enum Keeper {
    Group(Arc<Group>),
    Warden(Arc<Link>),
}

/// What a tree uses while it is there, for those who watch it.
#[derive(Clone, Debug)]
pub struct Vitals(watch::Receiver<Known>);

impl Vitals {
    /// What the tree has used so far, as far as somebody measures that.
    #[must_use]
    pub fn tally(&self) -> Option<Tally> {
        let known = self.0.borrow();
        known.tally.or(known.so_far)
    }

    /// Waits until that may be something else; for ever once the tree has gone. Cancel safe.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What is known of a tree so far.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The child has ended; others of its tree may still be there.
    ended: bool,
    /// How it ended, if that could be seen.
    status: Option<ExitStatus>,
    /// The others are gone as well.
    gone: bool,
    over_limit: Option<OverLimit>,
    tally: Option<Tally>,
    /// The same while the tree is there.
    so_far: Option<Tally>,
    orphaned: bool,
}

impl ProcessTree {
    /// Starts a program. Its pipes are the caller's to serve.
    ///
    /// When the future is dropped, a child that was already started is killed.
    ///
    /// # Errors
    ///
    /// When the program did not start; then nothing runs.
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

    /// The process id of the child, or of the warden before it.
    #[must_use]
    pub fn id(&self) -> u32 {
        match &self.keeper {
            Keeper::Group(group) => group.id(),
            Keeper::Warden(link) => link.id(),
        }
    }

    /// How far the end of the tree is certain.
    #[must_use]
    pub fn supervision(&self) -> Supervision {
        match &self.keeper {
            Keeper::Group(_) => Supervision::BARE,
            Keeper::Warden(_) => Supervision::by(&self.mechanisms),
        }
    }

    /// What the kernel holds the tree with.
    #[must_use]
    pub fn mechanisms(&self) -> &[Mechanism] {
        &self.mechanisms
    }

    /// The limit that the tree has reached, if it has.
    #[must_use]
    pub fn over_limit(&self) -> Option<OverLimit> {
        self.known.borrow().over_limit.clone()
    }

    /// What the tree has used, once it has gone.
    #[must_use]
    pub fn tally(&self) -> Option<Tally> {
        self.known.borrow().tally
    }

    /// What it uses while it is there.
    #[must_use]
    pub fn vitals(&self) -> Vitals {
        Vitals(self.known.clone())
    }

    /// Whether everybody has gone, as far as anybody can know.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        let known = self.known.borrow();
        known.gone && known.tally.is_none_or(|tally| tally.left == 0)
    }

    /// Whether somebody has killed the warden, so that what the tree did at its end is not known.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        self.known.borrow().orphaned
    }

    /// Waits for the end of the child itself. `None` when its status went to somebody else. Cancel safe.
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

    /// After the child has ended: waits until those whom it left behind have been ended too. They are asked to leave and
    /// killed soon after, without being told to from here. Bounded; cancel safe.
    pub async fn cleared(&self) {
        let mut known = self.known.clone();
        drop(timeout(GONE_WAIT, known.wait_for(|known| known.gone)).await);
    }

    /// Ends the tree: asks everybody to leave, and kills them when the child is still there after `grace`. Returns its
    /// status; `None` when that went to somebody else, or when even the kill did not end it in time. Bounded. When dropped,
    /// the escalation stops where it is.
    ///
    /// Output has to be read meanwhile, or a child that wants to say goodbye cannot.
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

    /// From now on the child leaves something worth keeping, if this process dies before it does.
    pub fn keep(&self) {
        match &self.keeper {
            Keeper::Group(_) => {}
            Keeper::Warden(link) => link.keep(),
        }
    }

    /// Kills the whole tree at once. Does nothing once it has gone.
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

/// Starts a child; one without a warden is also waited for here. Blocks.
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
    // When nobody waits for it any more, the tree comes back and is dropped, which kills it.
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
