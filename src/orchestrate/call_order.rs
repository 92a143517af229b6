//! Calls enter the queue in the order in which they were made, although each is checked first and that takes a moment.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The maximum time that a call waits for earlier ones: long enough to read a few files, too short to notice that one
/// of them asks the user or waits for a disk that does not answer.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// All calls of this process.
static CALLS: Sequence = Sequence::new();

/// The position of a call among all calls of this process.
#[derive(Debug)]
pub struct CallOrder(Mutex<Option<SequenceGuard>>);

impl CallOrder {
    /// Returns the position after all calls made so far.
    #[must_use]
    pub fn now() -> Self {
        Self(Mutex::new(Some(CALLS.next())))
    }

    /// Waits at most 250 ms until the calls made before have entered the queue. Later calls wait until the guard is
    /// dropped. Only the first use waits and gets a guard.
    pub(super) async fn reached(&self) -> Option<SequenceGuard> {
        let mut guard = self.0.lock().take()?;
        // A call that has not entered by now is overtaken.
        let _ = timeout(MAX_WAIT, guard.reached()).await;
        Some(guard)
    }
}

/// Lets tasks that start together pass a point one after the other, in the order in which they asked.
#[derive(Debug, Default)]
pub(super) struct Sequence(Mutex<Option<oneshot::Receiver<()>>>);

impl Sequence {
    /// A sequence of its own.
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Comes after all guards handed out before. The next one may pass when this one is dropped.
    pub(super) fn next(&self) -> SequenceGuard {
        let (done, next) = oneshot::channel();
        let before = self.0.lock().replace(next);
        SequenceGuard { before, _done: done }
    }
}

/// One position in a [`Sequence`].
#[derive(Debug)]
pub(super) struct SequenceGuard {
    before: Option<oneshot::Receiver<()>>,
    /// Closed when this guard is dropped, which releases the next call.
    _done: oneshot::Sender<()>,
}

impl SequenceGuard {
    /// Waits until all guards before it have been dropped. Cancel safe.
    pub(super) async fn reached(&mut self) {
        if let Some(before) = &mut self.before {
            // Nothing is ever sent: the channel closes.
            let _ = before.await;
            self.before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn each_call_passes_after_the_earlier_ones() {
        let sequence = Sequence::default();
        let mut first = sequence.next();
        let mut second = sequence.next();
        let third = sequence.next();
        first.reached().await;
        tokio::select! {
            biased;
            () = second.reached() => panic!("the second call passed before the first one"),
            () = tokio::task::yield_now() => {}
        }
        drop(third);
        drop(first);
        second.reached().await;
        second.reached().await;
        drop(second);
        sequence.next().reached().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_an_earlier_call_for_a_limited_time() {
        let calls = [(); 3].map(|()| CallOrder::now());
        let start = Instant::now();
        let earlier = calls[0].reached().await;
        assert!(earlier.is_some() && start.elapsed().is_zero(), "no call is before the first one");
        assert!(calls[0].reached().await.is_none(), "only the first use gets a guard");
        let overtaking = calls[1].reached().await;
        assert_eq!((overtaking.is_some(), start.elapsed()), (true, MAX_WAIT));
        drop((earlier, overtaking));
        assert!(calls[2].reached().await.is_some());
        assert_eq!(start.elapsed(), MAX_WAIT, "the last call does not wait");
    }
}
