//! The turn of a run at the work tree that it writes to, among the runs of all processes.
//!
//! The queue lets one run of this process come here for each tree.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::queue::Writes;
use crate::process::{Cancel, CancelReason};
use crate::run::{AdmittedRun, Progress, ProgressSender, RunState, off_thread};
use crate::text::figures::millis;
use crate::workspace::{HeldTree, Look, WritersTurn};

/// How often we look whether another process has left the tree. A child takes longer than that to boot.
const POLL: Duration = Duration::from_millis(200);
/// Where the name of the run that writes is not known.
const SOMEBODY: &str = "a run of another pi";

/// The work tree that the run writes to, and what it is called meanwhile.
pub(super) fn writes(ready: &AdmittedRun) -> Option<Writes> {
    let tree = ready.resolved.tree.as_ref()?;
    let by = format!("{} ({})", ready.resolved.agent.name, ready.id().get());
    Some(Writes { tree: tree.key.as_str().into(), by: by.into() })
}

/// Waits until no run of another process writes to the tree of this one. Without usable locks the run goes on, and says so.
pub(super) async fn turn_of(
    ready: &mut AdmittedRun,
    progress: &ProgressSender,
    cancel: &Cancel,
) -> Result<Option<HeldTree>, CancelReason> {
    let Some(Writes { by, .. }) = writes(ready) else { return Ok(None) };
    let Some(tree) = ready.resolved.tree.as_ref().filter(|tree| !tree.is_held_above) else { return Ok(None) };
    let mut turn = WritersTurn::new(&ready.spec.context.agent_dir, tree);
    let since = Instant::now();
    loop {
        let writer = Arc::clone(&by);
        let look = off_thread(move || {
            let look = turn.look(&writer);
            (look, turn)
        });
        let (look, back) = tokio::select! {
            biased;
            reason = cancel.cancelled() => return Err(reason),
            looked = look => match looked {
                Ok(looked) => looked,
                Err(_) => return Ok(None),
            },
        };
        turn = back;
        match look {
            Ok(Look::Free(held)) => return Ok(Some(held)),
            Ok(Look::Taken(other)) => {
                progress.send_replace(waiting(other.as_deref().unwrap_or(SOMEBODY), since));
            }
            Err(error) => {
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

fn waiting(writer: &str, since: Instant) -> Progress {
    Progress {
        state: RunState::Queued,
        position: Some(1),
        behind: Some(writer.into()),
        elapsed_ms: millis(since.elapsed()),
        ..Progress::default()
    }
}
