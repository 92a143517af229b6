//! Keeps blocking work off the threads that serve children, and long work off its caller.
//!
//! Tokio compiles its machinery once for each type of work, about 3 KB every time. Boxed, all work has one type.

use std::any::Any;

use tokio::task::{JoinError, JoinHandle};

use crate::run::callbacks::BoxFuture;
use supervisor::{Cancel, CancelReason};

/// Runs work that reads or writes files on a thread where it may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match off_thread(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Does the same as [`blocking`], but returns an error if the work panics.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let span = tracing::Span::current();
    let work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> =
        Box::new(move || Box::new(span.in_scope(work)));
    let value = tokio::task::spawn_blocking(work).await?;
    Ok(*value.downcast().expect("it is what `work` returned"))
}

/// Starts a task that continues without its caller.
pub(crate) fn spawn_task<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let task: BoxFuture<'static, T> = Box::pin(task);
    tokio::spawn(task)
}

/// Waits for work that may hang in a file system, until the run is cancelled.
pub(crate) async fn unless_cancelled<T>(
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, CancelReason> {
    tokio::select! {
        biased;
        reason = cancel.cancelled() => Err(reason),
        value = work => Ok(value),
    }
}
