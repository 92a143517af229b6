//! Controls for the runs of a call (cancel, steer), and the callbacks that the runs report to.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use super::child_control::ChildControl;
use crate::process::Cancel;
use crate::run::progress::ProgressSender;

/// Controls one call. Clones control the same call.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Cancels the call.
    pub cancel: Cancel,
    /// Sends messages to its children.
    pub steering: Steering,
}

/// What a run reports while it is under way.
pub struct Watchers<'a> {
    /// Gets the progress of the run.
    pub progress: &'a ProgressSender,
    /// Called when the provider asks for a pause, with its length.
    pub rate_limited: &'a (dyn Fn(Duration) + Sync),
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
    /// Those of the call, if this serves one of its runs.
    of_call: Option<Arc<Mutex<Vec<Weak<ChildControl>>>>>,
}

impl Steering {
    /// Sends a message to every working child of the call, which reads it before its next turn. `false` if no child
    /// took it: none works any more, or all are driven by the `json` protocol, which takes no messages.
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
