//! The three pipes of a child, served together, and its standard input, which can be written while the child runs.

use std::mem::take;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::{io, process};

use parking_lot::Mutex;
use sanitizer::HeadTail;
use sanitizer::json::unescape::LossyUtf8;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::platform;

/// The default capacity of a pipe, in bytes; larger reads gained nothing.
const READ_BYTES: usize = 64 * 1024;

/// The requested capacity of a pipe, in bytes: the maximum that Linux grants an unprivileged user by default. Other
/// systems have smaller pipes.
pub(super) const PIPE_BYTES: usize = 1024 * 1024;

/// Bytes kept of standard error, half of them from each end: enough for a complaint at start-up and for the stack
/// trace at the end.
const STDERR_BYTES: usize = 32 * 1024;

/// The number of times that a pipe is served before the task's other branches are polled. Without it, a flood on standard error
/// would use up the task's whole budget each time, and tokio's timers, which need some of it, would never fire.
const MAX_READS_PER_POLL: usize = 16;

const PIPED: &str = "the command asks for a pipe";

/// The parent's ends of a child's standard streams.
#[derive(Debug)]
pub struct Pipes {
    /// Writes to the child's standard input.
    pub stdin: process::ChildStdin,
    /// Reads its standard output.
    pub stdout: process::ChildStdout,
    /// Reads its standard error.
    pub stderr: process::ChildStderr,
}

impl Pipes {
    pub(crate) fn of(child: &mut process::Child) -> Self {
        let stdin = child.stdin.take().expect(PIPED);
        Self::new(stdin, child)
    }

    /// Takes the output pipes of `child`: the child itself, or the warden that shares its output with the child.
    ///
    /// # Panics
    ///
    /// If its output is not piped.
    pub fn new(stdin: process::ChildStdin, child: &mut process::Child) -> Self {
        let stdout = child.stdout.take().expect(PIPED);
        platform::widen(&stdout, PIPE_BYTES);
        Self { stdin, stdout, stderr: child.stderr.take().expect(PIPED) }
    }
}

/// Aligned to a cache line: copies by the kernel into an unaligned buffer ran up to 4 times slower.
#[repr(align(64))]
struct Buffer([u8; READ_BYTES]);

/// Writes the child's input and reads both of its outputs at the same time: a child that does not read may still
/// write, and the other way round.
pub(super) struct Streams {
    pub(super) input: Input,
    /// Bytes taken from the input and not all written yet.
    writing: Vec<u8>,
    /// True if any bytes were taken from the input, so that the child may have read some.
    pub(super) has_begun: bool,
    written: usize,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    buffer: Box<Buffer>,
    filled: usize,
    utf8: LossyUtf8,
    stderr_text: HeadTail,
}

impl Streams {
    /// Takes over the pipes. Writes `input` to the child, and closes its standard input at the end.
    ///
    /// # Errors
    ///
    /// If a pipe cannot be watched because too many files are open.
    pub(crate) fn new(pipes: Pipes, input: Input) -> io::Result<Self> {
        #[expect(
            clippy::large_stack_arrays,
            reason = "safe code has no other way to an aligned array on the heap"
        )]
        let buffer = Box::new(Buffer([0; READ_BYTES]));
        Ok(Self {
            input,
            writing: Vec::new(),
            has_begun: false,
            written: 0,
            stdin: Some(ChildStdin::from_std(pipes.stdin)?),
            stdout: Some(ChildStdout::from_std(pipes.stdout)?),
            stderr: Some(ChildStderr::from_std(pipes.stderr)?),
            buffer,
            filled: 0,
            utf8: LossyUtf8::default(),
            stderr_text: HeadTail::new(STDERR_BYTES),
        })
    }

    /// Waits for more standard output, and serves the other two pipes during the wait. Returns `true` if [`Streams::chunk`] holds
    /// some, `false` once all pipes are done. Cancel safe.
    pub(super) async fn next(&mut self) -> bool {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The standard output that the last call of [`Streams::next`] read.
    pub(super) fn chunk(&self) -> &[u8] {
        &self.buffer.0[..self.filled]
    }

    /// Returns true if all pipes are done.
    pub(super) fn is_done(&self) -> bool {
        self.stdin.is_none() && self.stdout.is_none() && self.stderr.is_none()
    }

    /// Closes the child's input and discards the unread bytes.
    pub(super) fn close_stdin(&mut self) {
        self.input.end();
        self.stdin = None;
        self.writing = Vec::new();
    }

    /// Returns the child's standard error, cut to [`STDERR_BYTES`] with a line for the omitted part.
    pub(super) fn into_stderr(mut self) -> String {
        self.utf8.flush(&mut |part| self.stderr_text.push(part));
        self.stderr_text.to_text().0
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        if self.poll_stdin(context).is_ready() {
            self.close_stdin();
        }
        // Reads from each in turn, so that a flood on one cannot hold back the other.
        for _ in 0..MAX_READS_PER_POLL {
            let complaint = poll_pipe(&mut self.stderr, &mut self.buffer, context);
            if let Poll::Ready(count) = complaint {
                self.utf8.feed(&self.buffer.0[..count], &mut |part| self.stderr_text.push(part));
            }
            if let Poll::Ready(count) = poll_pipe(&mut self.stdout, &mut self.buffer, context) {
                self.filled = count;
                return Poll::Ready(true);
            }
            if self.is_done() {
                return Poll::Ready(false);
            }
            if complaint.is_pending() {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ready when there is nothing more to write. A child that does not read any more (EPIPE) is no error.
    fn poll_stdin(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(pipe) = &mut self.stdin else { return Poll::Pending };
        for _ in 0..MAX_READS_PER_POLL {
            if self.written == self.writing.len() {
                (self.writing, self.written) = (Vec::new(), 0);
                if !ready!(self.input.poll_take(&mut self.writing, context)) {
                    return Poll::Ready(());
                }
                self.has_begun = true;
            }
            match ready!(Pin::new(&mut *pipe).poll_write(context, &self.writing[self.written..])) {
                Ok(0) | Err(_) => return Poll::Ready(()),
                Ok(count) => self.written += count,
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Reads once, and closes a pipe that has ended. Ready when something was read.
fn poll_pipe(
    pipe: &mut Option<impl AsyncRead + Unpin>,
    buffer: &mut Buffer,
    context: &mut Context<'_>,
) -> Poll<usize> {
    let Some(open) = pipe else { return Poll::Pending };
    let mut read = ReadBuf::new(&mut buffer.0);
    let count = match ready!(Pin::new(open).poll_read(context, &mut read)) {
        Ok(()) => read.filled().len(),
        // An error counts as the end of the pipe.
        Err(_) => 0,
    };
    if count == 0 {
        *pipe = None;
        return Poll::Pending;
    }
    Poll::Ready(count)
}

/// The most bytes that may wait for a child that does not read. Tasks are kilobytes; a thousand of them fit.
const MAX_WAITING: usize = 16 * 1024 * 1024;

/// The writing side of a child's standard input. Clones share one input.
///
/// Bytes written before the child is driven wait for it. Writing never blocks, and accepted bytes are not lost as
/// long as the child reads.
#[derive(Clone, Debug, Default)]
pub struct Input(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<u8>,
    ended: bool,
    reader: Option<Waker>,
}

impl Input {
    /// An input that starts with these bytes and stays open until [`Input::end`].
    #[must_use]
    pub fn open(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Queue { waiting: bytes, ..Queue::default() })))
    }

    /// An input of exactly these bytes, then end of file.
    #[must_use]
    pub fn once(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Queue { waiting: bytes, ended: true, ..Queue::default() })))
    }

    /// Appends bytes. Returns `false`, and takes none of them, if the input has ended or more than 16 MiB would wait unread.
    #[must_use]
    pub fn write(&self, bytes: &[u8]) -> bool {
        let mut queue = self.0.lock();
        if queue.ended || queue.waiting.len() + bytes.len() > MAX_WAITING {
            return false;
        }
        queue.waiting.extend_from_slice(bytes);
        queue.wake();
        true
    }

    /// Ends the input after the bytes already written.
    pub fn end(&self) {
        let mut queue = self.0.lock();
        queue.ended = true;
        queue.wake();
    }

    /// Returns true if the input has ended and accepts no more bytes.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.lock().ended
    }

    /// Returns the number of bytes that wait here, without those already taken for writing.
    #[must_use]
    pub fn unwritten(&self) -> usize {
        self.0.lock().waiting.len()
    }

    /// Moves the waiting bytes into `bytes`. Ready with `false` when none wait and none will come.
    fn poll_take(&self, bytes: &mut Vec<u8>, context: &Context<'_>) -> Poll<bool> {
        let mut queue = self.0.lock();
        if !queue.waiting.is_empty() {
            *bytes = take(&mut queue.waiting);
            return Poll::Ready(true);
        }
        if queue.ended {
            return Poll::Ready(false);
        }
        queue.reader = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Queue {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_input_accepts_nothing_and_keeps_its_content() {
        let input = Input::default();
        assert!(input.write(b"one"));
        input.end();
        assert!(!input.write(b"two"));
        let mut bytes = Vec::new();
        let context = Context::from_waker(Waker::noop());
        assert_eq!(input.poll_take(&mut bytes, &context), Poll::Ready(true));
        assert_eq!(bytes, b"one");
        assert_eq!(input.poll_take(&mut bytes, &context), Poll::Ready(false));
    }

    #[test]
    fn unread_input_is_bounded() {
        let input = Input::default();
        let half = vec![b'x'; MAX_WAITING / 2];
        assert!(input.write(&half) && input.write(&half));
        assert!(!input.write(b"x"));
    }
}
