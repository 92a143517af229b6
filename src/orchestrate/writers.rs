//! The write lock of a run on its work tree, among the runs of all processes.
//!
//! For each tree, the queue lets only one run of this process wait here.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::queue::Writes;
use crate::run::{AdmittedRun, HostContext, Progress, ProgressSender, RunState, off_thread};
use sanitizer::figures::millis;
use supervisor::{Cancel, CancelReason};
use worktree::{LockAttempt, WorkTree, WriteLock, WriteLockQueue};

/// The interval of checking whether another process has left the tree. A child takes longer than that to boot.
const POLL: Duration = Duration::from_millis(200);
/// The name of the writing run if it is unknown.
const UNKNOWN_WRITER: &str = "a run of another pi";

/// Returns the work tree that the run writes to, and the run's name for the runs that wait for it.
pub(super) fn writes(ready: &AdmittedRun) -> Option<Writes> {
    let tree = ready.resolved.tree.as_ref()?;
    let by = format!("{} ({})", ready.resolved.agent.name, ready.id().get());
    Some(Writes { tree: tree.key.as_str().into(), by: by.into() })
}

/// Waits until no run of another process writes to the tree of this one. Without usable locks the run continues, with a
/// note.
pub(super) async fn lock_tree(
    ready: &mut AdmittedRun,
    progress: &ProgressSender,
    cancel: &Cancel,
) -> Result<Option<WriteLock>, CancelReason> {
    let Some(Writes { by, .. }) = writes(ready) else { return Ok(None) };
    let Some(tree) = ready.resolved.tree.as_ref().filter(|tree| !tree.is_locked_by_ancestor) else {
        return Ok(None);
    };
    let mut queue = WriteLockQueue::new(&ready.spec.context.agent_dir, tree);
    let since = Instant::now();
    loop {
        let writer = Arc::clone(&by);
        let try_lock = off_thread(move || {
            let try_lock = queue.try_lock(&writer);
            (try_lock, queue)
        });
        let (try_lock, back) = tokio::select! {
            biased;
            reason = cancel.cancelled() => return Err(reason),
            attempt = try_lock => match attempt {
                Ok(attempt) => attempt,
                Err(_) => return Ok(None),
            },
        };
        queue = back;
        match try_lock {
            Ok(LockAttempt::Acquired(lock)) => {
                ready.tree_lock = Some(lock.lock());
                return Ok(Some(lock));
            }
            Ok(LockAttempt::Busy(other)) => {
                tracing::debug!(
                    target: "queue", blocked_by = other, reason = "another process writes to its tree",
                    "the run waits"
                );
                progress.send_replace(waiting(other.as_deref().unwrap_or(UNKNOWN_WRITER), since));
            }
            Err(error) => {
                tracing::warn!(target: "queue", reason = %error, "the tree cannot be locked");
                ready
                    .note(format!("runs of other pi processes may write to the same files at once: {error}"));
                return Ok(None);
            }
        }
        tokio::select! {
            biased;
            reason = cancel.cancelled() => return Err(reason),
            () = sleep(POLL) => {}
        }
    }
}

/// A run writes to the tree of a command.
#[derive(Debug, thiserror::Error)]
#[error("{writer} is writing to this tree: wait for it, or stop it first")]
pub(super) struct TreeBusy {
    /// The name of the run.
    writer: String,
}

/// Locks the tree around `cwd` for a person's command, called `by`, until it is dropped: its changes would otherwise count as the
/// work of a run. `None` without usable locks.
///
/// # Errors
///
/// If a run writes to the tree now. The command does not wait, because the person can.
pub(super) async fn lock_tree_for_command(
    cwd: &Path,
    context: &HostContext,
    by: String,
) -> Result<Option<WriteLock>, TreeBusy> {
    let cwd = cwd.to_owned();
    let agent_dir = context.agent_dir.clone();
    let try_lock = move || {
        let tree = WorkTree::of(&cwd, None)?;
        WriteLockQueue::new(&agent_dir, &tree).try_lock(&by).ok()
    };
    match off_thread(try_lock).await {
        Ok(Some(LockAttempt::Acquired(lock))) => Ok(Some(lock)),
        Ok(Some(LockAttempt::Busy(writer))) => {
            Err(TreeBusy { writer: writer.unwrap_or_else(|| UNKNOWN_WRITER.to_owned()) })
        }
        _ => Ok(None),
    }
}

fn waiting(writer: &str, since: Instant) -> Progress {
    Progress {
        state: RunState::Queued,
        position: Some(1),
        blocked_by: Some(writer.into()),
        elapsed_ms: millis(since.elapsed()),
        ..Progress::default()
    }
}
