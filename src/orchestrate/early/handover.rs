//! Passes a child from the task that has booted it to its run.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::orchestrate::queue::EarlyPermit;
use crate::run::Booted;

/// The maximum time that a call waits for a child that is still being started. Then the call starts its own. A start takes
/// milliseconds, and seconds on a machine that has too much to do. A second start would take as long.
pub(super) const CLAIM_WAIT: Duration = Duration::from_secs(10);

/// The channel for a child whose run has claimed it.
pub(super) type Claim = oneshot::Sender<Handover>;

/// A child on its way to the run that has claimed it. Dropping an unaccepted one gives the child back to the task that booted it,
/// which ends it: an abort can come in between, and the end of its call waits for its end.
pub(crate) struct Handover<Child = (Booted, EarlyPermit)>(Option<(Child, oneshot::Sender<Child>)>);

impl<Child> Handover<Child> {
    /// Creates a handover, and the receiver of the child if it comes back.
    pub(super) fn new(child: Child) -> (Self, oneshot::Receiver<Child>) {
        let (back, returned) = oneshot::channel();
        (Self(Some((child, back))), returned)
    }

    /// The child, which may still go back.
    pub(crate) fn child(&self) -> &Child {
        &self.0.as_ref().expect("only what consumes it takes the child").0
    }

    /// Makes the child the caller's.
    pub(crate) fn accept(mut self) -> Child {
        self.0.take().expect("only this method and the drop that follows it take the child").0
    }
}

impl<Child> Drop for Handover<Child> {
    fn drop(&mut self) {
        if let Some((child, back)) = self.0.take() {
            drop(back.send(child));
        }
    }
}

/// Ends an unneeded child. Its slot stays taken until it is gone.
pub(super) async fn discard<Slot>(booted: Booted, slot: Slot) {
    booted.discard().await;
    drop(slot);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_refused_by_every_run_is_returned_at_any_stage() {
        let (handover, returned) = Handover::new("child");
        assert_eq!(handover.accept(), "child");
        assert!(returned.await.is_err(), "an accepted child is not returned");

        let (handover, returned) = Handover::new("child");
        drop(handover);
        assert_eq!(returned.await, Ok("child"), "a claimed child whose run was aborted is returned");

        let (handover, returned) = Handover::new("child");
        let (give, given) = oneshot::channel();
        give.send(handover).ok().expect("the receiver is open");
        drop(given);
        assert_eq!(returned.await, Ok("child"), "a child that was sent but not received is returned");

        let (handover, returned) = Handover::new("child");
        let (give, given) = oneshot::channel();
        drop(given);
        drop(give.send(handover));
        assert_eq!(returned.await, Ok("child"), "a child that no run waits for is returned");
    }
}
