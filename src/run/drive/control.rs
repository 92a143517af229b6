//! Controls for the runs of a call (cancel, steer), and the callbacks that the runs report to.

use std::sync::Arc;
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
    /// Controls one run of the call, which ends with the call and gets the messages to it.
    #[must_use]
    pub fn of_one(&self) -> Self {
        Self { cancel: self.cancel.child(), steering: self.steering.of_one() }
    }
}

/// Sends messages to the children of one call, or of one of its runs. Clones serve the same.
#[derive(Clone, Debug, Default)]
pub struct Steering {
    open: Arc<Mutex<Vec<ChildControl>>>,
    /// Of the call, if this serves one of its runs.
    call: Option<Arc<Mutex<Vec<ChildControl>>>>,
}

/// Registers a child for messages. Dropping it ends the registration.
pub(super) struct SteeringGuard {
    steering: Steering,
    child_control: ChildControl,
}

impl Steering {
    /// Sends a message to every working child of the call, which reads it before its next turn. `false` if no child
    /// took it: none works any more, or all are driven by the `json` protocol, which takes no messages.
    #[must_use]
    pub fn steer(&self, message: &str) -> bool {
        let open = self.open.lock();
        // Not `any`, which would stop at the first child.
        open.iter().filter(|child_control| child_control.steer(message)).count() > 0
    }

    fn of_one(&self) -> Self {
        Self { open: Arc::default(), call: Some(Arc::clone(&self.open)) }
    }

    fn registered_in(&self) -> impl Iterator<Item = &Mutex<Vec<ChildControl>>> {
        std::iter::once(&*self.open).chain(self.call.as_deref())
    }

    /// Registers a child until the returned value is dropped. `None` if it takes no messages.
    pub(super) fn register(&self, child_control: &ChildControl) -> Option<SteeringGuard> {
        if !child_control.takes_commands() {
            return None;
        }
        for open in self.registered_in() {
            open.lock().push(child_control.clone());
        }
        Some(SteeringGuard { steering: self.clone(), child_control: child_control.clone() })
    }
}

impl Drop for SteeringGuard {
    fn drop(&mut self) {
        for open in self.steering.registered_in() {
            open.lock().retain(|child_control| !child_control.input.is_same(&self.child_control.input));
        }
    }
}
