//! Threads that start, follow and wait for programs.

use std::io;
use std::thread::Builder;

/// Their stack, in bytes: they make a few shallow system calls.
const STACK_BYTES: usize = 256 * 1024;

/// Starts a thread of this name.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let span = tracing::Span::current();
    let work = move || span.in_scope(work);
    Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work).map(drop)
}
