//! Cancels a run, with a reason.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// The reason why a run was cancelled. Its `Display` is the message of a run that ended for this reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// The caller asked, with its own words if it gave any.
    Caller(Option<String>),
    /// The handle that receives the result was dropped.
    Dropped,
    /// The host is shutting down, which leaves little time.
    Shutdown,
    /// A limit that this layer does not know was reached; the text names it.
    Bound(String),
    /// The child gets nowhere; the text says how.
    Stuck(String),
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller(Some(why)) if !why.trim().is_empty() => write!(f, "cancelled by user: {why}"),
            Self::Caller(_) => f.write_str("cancelled by user"),
            Self::Dropped => f.write_str("cancelled: the handle of the run was dropped"),
            Self::Shutdown => f.write_str("cancelled: the session ended"),
            Self::Bound(why) | Self::Stuck(why) => f.write_str(why),
        }
    }
}

/// A request to cancel, with its reason.
///
/// Clones are cheap and share one request. The first reason stays. A later one is ignored, except that
/// [`CancelReason::Shutdown`] always wakes [`Cancel::shut_down`].
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Request>);

#[derive(Debug, Default)]
struct Request {
    /// Set before `made` is cancelled.
    reason: OnceLock<CancelReason>,
    made: CancellationToken,
    /// Cancelled when the host shuts down, even after another reason.
    shutdown: CancellationToken,
    parent: Option<Cancel>,
}

impl Cancel {
    /// A request that has not been made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A child request. It is made when this one is; making the child leaves this one alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Request {
            reason: OnceLock::new(),
            made: self.0.made.child_token(),
            shutdown: self.0.shutdown.child_token(),
            parent: Some(self.clone()),
        }))
    }

    /// Makes the request. Only the first call sets the reason, which [`Cancel::reason`] returns.
    pub fn cancel(&self, reason: CancelReason) {
        let is_shutdown = reason == CancelReason::Shutdown;
        if self.0.reason.set(reason).is_ok() {
            self.0.made.cancel();
        }
        if is_shutdown {
            self.0.shutdown.cancel();
        }
    }

    /// The reason, once the request is made.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        let own = self.0.reason.get().cloned();
        own.or_else(|| self.0.parent.as_ref()?.reason())
    }

    /// Waits for the request; returns at once when it is already made. Cancel safe.
    pub async fn cancelled(&self) -> CancelReason {
        self.0.made.cancelled().await;
        // The reason is set before the token is cancelled.
        self.reason().unwrap_or(CancelReason::Dropped)
    }

    /// Waits until the host shuts down, even if the request was made earlier for another reason. Cancel safe.
    pub async fn shut_down(&self) {
        self.0.shutdown.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_stays_and_reaches_every_clone() {
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
        assert_eq!(waiting.await.expect("the task does not panic"), reason);
        assert_eq!(cancel.cancelled().await, reason);
        assert_eq!(cancel.reason(), Some(reason));
    }

    #[tokio::test]
    async fn only_a_shutdown_wakes_shut_down() {
        for (reason, expected) in [(CancelReason::Shutdown, true), (CancelReason::Caller(None), false)] {
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
    async fn a_request_reaches_children_but_not_parents() {
        let call = Cancel::new();
        let one = call.child();
        let two = call.child().child();
        one.cancel(CancelReason::Bound("money".into()));
        assert_eq!(call.reason(), None);
        call.cancel(CancelReason::Shutdown);
        assert_eq!(two.cancelled().await, CancelReason::Shutdown);
        two.shut_down().await;
        assert_eq!(
            one.reason(),
            Some(CancelReason::Bound("money".into())),
            "the child keeps its first reason"
        );
        one.shut_down().await;
    }
}
