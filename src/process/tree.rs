//! A child and everything that it starts.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::command::ChildCommand;
use super::error::SpawnError;
use super::platform::{self, Group};

/// How long a child that was killed may take to end. The kernel needs milliseconds, unless the child hangs in a system
/// call that cannot be interrupted; then it is left to the guard thread, and nobody waits for it.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// The stack of a guard thread: it makes a few system calls and no deep ones.
const GUARD_STACK_BYTES: usize = 256 * 1024;

/// A running child and the processes that it started: its process group on Unix; see the module's Windows part for what
/// holds there.
///
/// Dropping it kills all of them, without blocking. Whoever leaves the group (`setsid`) is not followed.
///
/// Each child has a thread of its own, which starts it, waits for it, ends what it leaves behind in the group, and reaps
/// it. So nothing of that can block a task or be forgotten with one, a runtime on its way down included.
pub struct ProcessTree {
    group: Arc<Group>,
    stage: watch::Receiver<Stage>,
}

/// The parent's ends of a child's standard streams.
#[derive(Debug)]
pub struct Pipes {
    /// What the child reads.
    pub stdin: ChildStdin,
    /// What the child writes.
    pub stdout: ChildStdout,
    /// What the child complains about.
    pub stderr: ChildStderr,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Running,
    /// The child has ended; others of its group may still be there.
    Ended(Option<ExitStatus>),
    /// The others are gone as well.
    Gone(Option<ExitStatus>),
}

impl ProcessTree {
    /// Starts a program. `command.stdin` is the caller's to write.
    ///
    /// When the future is dropped, a child that was already started is killed.
    ///
    /// # Errors
    ///
    /// When the program did not start; then nothing runs.
    pub async fn spawn(command: ChildCommand) -> Result<(Self, Pipes), SpawnError> {
        let program = command.program.clone();
        let (sender, started) = oneshot::channel();
        thread::Builder::new()
            .name("subagent-child".into())
            .stack_size(GUARD_STACK_BYTES)
            .spawn(move || guard(&command, sender))
            .map_err(|source| SpawnError::from_exec(program.clone(), source))?;
        started.await.unwrap_or_else(|_| {
            let source = io::Error::other("the thread that was to start it has panicked");
            Err(SpawnError::Exec { path: program, source })
        })
    }

    /// The process id of the child.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.group.id()
    }

    /// Waits for the end of the child itself. `None` when its status went to somebody else. Cancel safe.
    pub fn ended(&self) -> impl Future<Output = Option<ExitStatus>> + Send + use<> {
        let mut stage = self.stage.clone();
        async move {
            let ended = stage.wait_for(|stage| !matches!(stage, Stage::Running)).await;
            match ended.as_deref() {
                Ok(Stage::Ended(status) | Stage::Gone(status)) => *status,
                // The thread has panicked, so nothing is known.
                Ok(Stage::Running) | Err(_) => None,
            }
        }
    }

    /// Whether the child itself has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !matches!(*self.stage.borrow(), Stage::Running)
    }

    /// After the child has ended: waits until those whom it left behind in its group have been ended too. They are asked
    /// to leave and killed soon after, without being told to from here. Bounded; cancel safe.
    pub async fn cleared(&self) {
        let mut stage = self.stage.clone();
        let gone = stage.wait_for(|stage| matches!(stage, Stage::Gone(_)));
        drop(timeout(KILL_WAIT, gone).await);
    }

    /// Ends the child and the others of its group: asks them to leave, and kills them when the child is still there
    /// after `grace`. Returns its status; `None` when that went to somebody else, or when even the kill did not end it
    /// in time. Bounded. When dropped, the escalation stops where it is.
    ///
    /// Output has to be read meanwhile, or a child that wants to say goodbye cannot.
    pub async fn terminate(&self, grace: Duration) -> Option<ExitStatus> {
        self.group.ask();
        if let Ok(status) = timeout(grace, self.ended()).await {
            return status;
        }
        self.kill();
        timeout(KILL_WAIT, self.ended()).await.ok().flatten()
    }

    /// Kills the child and the others of its group at once. Does nothing once they are gone.
    pub fn kill(&self) {
        self.group.kill();
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The life of a child, on a thread of its own.
fn guard(command: &ChildCommand, started: oneshot::Sender<Result<(ProcessTree, Pipes), SpawnError>>) {
    let mut child = match command.start() {
        Ok(child) => child,
        Err(error) => {
            drop(started.send(Err(error)));
            return;
        }
    };
    let pipes = Pipes::take_from(&mut child);
    let group = Arc::new(Group::new(child));
    let (stage, watch) = watch::channel(Stage::Running);
    let tree = ProcessTree { group: Arc::clone(&group), stage: watch };
    // When nobody waits for it any more, the tree comes back and is dropped, which kills it.
    drop(started.send(Ok((tree, pipes))));
    let status = group.wait();
    stage.send_replace(Stage::Ended(status));
    group.clear();
    stage.send_replace(Stage::Gone(status));
}

impl Pipes {
    fn take_from(child: &mut Child) -> Self {
        const PIPED: &str = "the command asks for a pipe";
        let stdout = child.stdout.take().expect(PIPED);
        platform::widen(&stdout);
        Self { stdin: child.stdin.take().expect(PIPED), stdout, stderr: child.stderr.take().expect(PIPED) }
    }
}
