//! What the holder of a call's handle may do with its runs, and what these tell.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::child_control::ChildControl;
use crate::process::Cancel;
use crate::run::progress::ProgressSender;

/// What the holder of a call's handle may do with it. Clones speak of the same call.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Ends it.
    pub cancel: Cancel,
    /// Sends messages into it.
    pub steering: Steering,
}

/// What a run tells others while it goes on.
pub struct Watchers<'a> {
    /// How far it has come.
    pub progress: &'a ProgressSender,
    /// That its provider wants to be left alone for so long.
    pub rate_limited: &'a (dyn Fn(Duration) + Sync),
}

/// The way into the runs of one call, for whoever holds its handle. Clones speak of the same call.
#[derive(Clone, Debug, Default)]
pub struct Steering(Arc<Mutex<Vec<ChildControl>>>);

/// Keeps the way into a child open.
pub(super) struct Way {
    steering: Steering,
    child_control: ChildControl,
}

impl Steering {
    /// Sends a message to every child of the call that works, before its next turn. `false`: none took it, because none
    /// works any more or because it is driven by the `json` protocol, which takes no messages.
    #[must_use]
    pub fn steer(&self, message: &str) -> bool {
        let open = self.0.lock();
        // All of them, so no `any`, which stops at the first.
        open.iter().filter(|child_control| child_control.steer(message)).count() > 0
    }

    /// Opens the way into a child that takes messages, for as long as the returned value lives.
    pub(super) fn open(&self, child_control: &ChildControl) -> Option<Way> {
        if !child_control.takes_commands() {
            return None;
        }
        self.0.lock().push(child_control.clone());
        Some(Way { steering: self.clone(), child_control: child_control.clone() })
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let mut open = self.steering.0.lock();
        open.retain(|child_control| !child_control.input.is_same(&self.child_control.input));
    }
}
