//! Messages into runs that are under way.

use std::sync::{Arc, Mutex, PoisonError};

use super::child::Reins;
use super::rpc::Command;
use crate::process::Input;

/// The way into the runs of one call, for whoever holds its handle. Clones speak of the same call.
#[derive(Clone, Debug, Default)]
pub struct Steering(Arc<Mutex<Vec<Input>>>);

/// Keeps the way into a child open.
pub(crate) struct Way {
    steering: Steering,
    input: Input,
}

impl Steering {
    /// Sends a message to every child of the call that works, before its next turn. `false`: none took it, because none
    /// works or because it is driven by the `json` protocol, which takes no messages.
    #[must_use]
    pub fn steer(&self, message: &str) -> bool {
        let line = Command::Steer(message).to_line();
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // All of them, so no `any`, which stops at the first.
        open.iter().filter(|input| input.write(&line)).count() > 0
    }

    /// Opens the way into a child that takes messages, for as long as the returned value lives.
    pub(crate) fn open(&self, reins: &Reins) -> Option<Way> {
        let input = reins.commands()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(input.clone());
        Some(Way { steering: self.clone(), input: input.clone() })
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let mut open = self.steering.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|input| !input.is_same(&self.input));
    }
}
