//! Controls for the runs of a call (cancel, steer), and the callbacks that the runs report to.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use super::child_control::ChildControl;
use crate::run::callbacks::BoxFuture;
use crate::run::progress::ProgressSender;
use pi_events::RateLimit;
use sanitizer::figures;
use supervisor::Cancel;

/// Controls one call. Clones control the same call.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Cancels the call.
    pub cancel: Cancel,
    /// Sends messages to its children.
    pub steering: Steering,
}

/// The receivers of a run's reports.
pub struct Watchers<'a> {
    /// Gets the progress of the run.
    pub progress: &'a ProgressSender,
    /// Gets the answers of its provider.
    pub provider: &'a dyn ProviderGate,
}

/// The wait for a provider's quota would be longer than configured.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the quota of `{provider}` is used up{}; `{setting}` allows a wait of at most {}. `/subagents resume` tries it at once",
    next.map(|next| format!(", and the next try is in {}", figures::duration(next))).unwrap_or_default(),
    figures::duration(*limit)
)]
pub struct QuotaWaitTooLong {
    /// The provider.
    pub provider: String,
    /// The time until the next try, if it is known.
    pub next: Option<Duration>,
    /// The longest allowed wait.
    pub limit: Duration,
    /// The setting with that limit.
    pub setting: &'static str,
}

/// Connects a run with the other runs of its provider.
pub trait ProviderGate: Sync {
    /// Handles the provider's request for a pause.
    fn limited(&self, limit: RateLimit);

    /// Records that the provider has answered a request.
    fn answered(&self);

    /// Frees the slot of the run, waits until the provider's quota is available again, and takes a new slot. `show`
    /// gets the time until the next try whenever it changes, and `None` while another run tries.
    ///
    /// # Errors
    ///
    /// Fails if the wait would be longer than configured.
    fn wait_for_quota<'a>(
        &'a self,
        show: &'a (dyn Fn(Option<Duration>) + Sync),
    ) -> BoxFuture<'a, Result<(), QuotaWaitTooLong>>;
}

impl Control {
    /// Controls one run of the call, which gets the messages to the call and ends with `host`. Its driver
    /// ends it with the call.
    #[must_use]
    pub fn of_one(&self, host: &Cancel) -> Self {
        Self { cancel: host.child(), steering: self.steering.of_one() }
    }
}

/// Sends messages to the children of one call, or of one of its runs. Clones serve the same.
#[derive(Clone, Debug, Default)]
pub struct Steering {
    children: Arc<Mutex<Vec<Weak<ChildControl>>>>,
    /// The children of the whole call, if this serves one of its runs.
    of_call: Option<Arc<Mutex<Vec<Weak<ChildControl>>>>>,
}

impl Steering {
    /// Sends a message to every working child of the call, which reads it before its next turn. `false` if no child
    /// accepted it: none works any more, or all use the `json` protocol, which takes no messages.
    #[must_use]
    pub fn steer(&self, message: &str) -> bool {
        let children = self.children.lock();
        // Not `any`, which would stop at the first child.
        children.iter().filter_map(Weak::upgrade).filter(|child| child.steer(message)).count() > 0
    }

    fn of_one(&self) -> Self {
        Self { children: Arc::default(), of_call: Some(Arc::clone(&self.children)) }
    }

    /// Registers a child for messages, for as long as it is driven.
    pub(super) fn register(&self, child: &Arc<ChildControl>) {
        for children in [Some(&self.children), self.of_call.as_ref()].into_iter().flatten() {
            let mut children = children.lock();
            children.retain(|child| child.strong_count() > 0);
            children.push(Arc::downgrade(child));
        }
    }
}
