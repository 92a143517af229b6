//! Asking a run to end, with a reason.

use std::sync::Arc;

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
}

/// A request to end, shared by everybody who may make it and everybody who must heed it.
///
/// Clones are cheap and speak of the same request. The first reason stays; later ones change nothing.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Request>);

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
        Self(Arc::new(Request { reason: watch::Sender::new(None), shutdown: watch::Sender::new(false) }))
    }

    /// Makes the request. Later ones change nothing; [`Cancel::reason`] tells which one counted.
    pub fn cancel(&self, reason: CancelReason) {
        if reason == CancelReason::Shutdown {
            self.0.shutdown.send_replace(true);
        }
        self.0.reason.send_if_modified(|slot| {
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
        self.0.reason.borrow().clone()
    }

    /// Waits for the request; returns at once when it was already made. Cancel safe.
    pub async fn cancelled(&self) -> CancelReason {
        let mut request = self.0.reason.subscribe();
        loop {
            if let Some(reason) = request.borrow_and_update().clone() {
                return reason;
            }
            if request.changed().await.is_err() {
                // Unreachable while `self` holds the sender; and without a sender nobody can ask any more.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Cancel {
    /// Waits until the host is going down, even when somebody had asked before for another reason. Cancel safe.
    pub async fn shut_down(&self) {
        let mut shutdown = self.0.shutdown.subscribe();
        if shutdown.wait_for(|down| *down).await.is_err() {
            // Unreachable while `self` holds the sender.
            std::future::pending::<()>().await;
        }
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
}
