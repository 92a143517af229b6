//! Keeps blocking work off the threads that serve children.

use crate::process::{Cancel, CancelReason};

/// Runs work that reads or writes files on a thread where it may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Waits for work that may hang in a file system, until the run is cancelled.
pub(in crate::run) async fn unless_cancelled<T>(
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, CancelReason> {
    tokio::select! {
        biased;
        reason = cancel.cancelled() => Err(reason),
        value = work => Ok(value),
    }
}
