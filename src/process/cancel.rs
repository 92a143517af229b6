//! Asking a run to end, with a reason.

use std::future::pending;
use std::sync::Arc;

use tokio::select;
use tokio::sync::watch;

/// Why a run was asked to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// The caller asked, perhaps saying why.
    Caller(Option<String>),
    /// Whoever was to receive the result has gone.
    Dropped,
    /// The host is going down.
    Shutdown,
    /// The same, for work that its user did not wait for: it is not given up but interrupted.
    Interrupted,
    /// A bound was reached that this layer does not know; says which.
    Bound(String),
}

impl CancelReason {
    /// Whether the host is going, which leaves little time.
    #[must_use]
    pub(super) fn is_leaving(&self) -> bool {
        matches!(self, Self::Shutdown | Self::Interrupted)
    }
}

/// A request to end, shared by everybody who may make it and everybody who must heed it.
///
/// Clones are cheap and speak of the same request. The first reason stays; later ones change nothing.
#[derive(Clone, Debug)]
pub struct Cancel {
    own: Arc<Request>,
    /// The requests that are requests to this one's holders too.
    above: Option<Arc<Cancel>>,
}

#[derive(Debug)]
struct Request {
    reason: watch::Sender<Option<CancelReason>>,
    /// Whether the host is going down, whatever the first reason was.
    shutdown: watch::Sender<bool>,
}

impl Cancel {
    /// A request that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        let own = Request { reason: watch::Sender::new(None), shutdown: watch::Sender::new(false) };
        Self { own: Arc::new(own), above: None }
    }

    /// A request of its own for one of several: it is made with this one, and this one not with it.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { above: Some(Arc::new(self.clone())), ..Self::new() }
    }

    /// Makes the request. Later ones change nothing; [`Cancel::reason`] tells which one counted.
    pub fn cancel(&self, reason: CancelReason) {
        if reason.is_leaving() {
            self.own.shutdown.send_replace(true);
        }
        self.own.reason.send_if_modified(|slot| {
            let first = slot.is_none();
            if first {
                *slot = Some(reason);
            }
            first
        });
    }

    /// The reason, once the request was made.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        let own = self.own.reason.borrow().clone();
        own.or_else(|| self.above.as_ref()?.reason())
    }

    /// Waits for the request; returns at once when it was already made. Cancel safe.
    pub async fn cancelled(&self) -> CancelReason {
        let own = made(self.own.reason.subscribe());
        let Some(above) = &self.above else { return own.await };
        // Boxed because a request of a request is of this very type.
        let above = Box::pin(above.cancelled());
        select! {
            biased;
            reason = own => reason,
            reason = above => reason,
        }
    }

    /// Waits until the host is going down, even when somebody had asked before for another reason. Cancel safe.
    pub async fn shut_down(&self) {
        let mut own = self.own.shutdown.subscribe();
        let own = async move {
            if own.wait_for(|down| *down).await.is_err() {
                // Unreachable while `self` holds the sender.
                pending::<()>().await;
            }
        };
        let Some(above) = &self.above else { return own.await };
        let above = Box::pin(above.shut_down());
        select! {
            () = own => {}
            () = above => {}
        }
    }
}

async fn made(mut request: watch::Receiver<Option<CancelReason>>) -> CancelReason {
    match request.wait_for(Option::is_some).await.map(|reason| reason.clone()) {
        Ok(Some(reason)) => reason,
        // Unreachable while somebody holds the sender; and without a sender nobody can ask any more.
        _ => pending().await,
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_stays_and_reaches_everybody() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        assert_eq!(cancel.reason(), None);
        let waiting = tokio::spawn({
            let cancel = cancel.clone();
            async move { cancel.cancelled().await }
        });
        other.cancel(CancelReason::Caller(Some("enough".into())));
        cancel.cancel(CancelReason::Shutdown);
        let reason = CancelReason::Caller(Some("enough".into()));
        assert_eq!(waiting.await.expect("the task ends"), reason);
        assert_eq!(cancel.cancelled().await, reason);
        assert_eq!(cancel.reason(), Some(reason));
    }

    #[tokio::test]
    async fn a_host_that_goes_leaves_little_time_whatever_its_word_is() {
        for (reason, expected) in [
            (CancelReason::Shutdown, true),
            (CancelReason::Interrupted, true),
            (CancelReason::Caller(None), false),
        ] {
            let cancel = Cancel::new();
            cancel.cancel(reason.clone());
            let is_down = tokio::select! {
                biased;
                () = cancel.shut_down() => true,
                () = std::future::ready(()) => false,
            };
            assert_eq!(is_down, expected, "{reason:?}");
        }
    }

    #[tokio::test]
    async fn a_request_reaches_those_below_and_not_those_above() {
        let call = Cancel::new();
        let (one, two) = (call.child(), call.child().child());
        one.cancel(CancelReason::Bound("money".into()));
        assert_eq!(call.reason(), None);
        call.cancel(CancelReason::Shutdown);
        assert_eq!(two.cancelled().await, CancelReason::Shutdown);
        two.shut_down().await;
        assert_eq!(one.reason(), Some(CancelReason::Bound("money".into())), "its own came first");
        one.shut_down().await;
    }
}
