//! The standard input of a child, which can be written while the child runs.

use std::mem::take;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

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
    pub(super) fn poll_take(&self, bytes: &mut Vec<u8>, context: &Context<'_>) -> Poll<bool> {
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
