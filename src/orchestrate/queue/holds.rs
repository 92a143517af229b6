//! Which providers have asked for a pause, and until when.

use std::collections::HashMap;
use std::time::Instant;

/// The pauses that are in force.
#[derive(Debug, Default)]
pub(super) struct Holds(HashMap<String, Instant>);

impl Holds {
    /// Begins a pause. A shorter one than that in force changes nothing.
    pub(super) fn add(&mut self, provider: &str, until: Instant) {
        match self.0.get_mut(provider) {
            Some(known) => *known = until.max(*known),
            None => drop(self.0.insert(provider.to_owned(), until)),
        }
    }

    /// Forgets what is over.
    pub(super) fn expire(&mut self, now: Instant) {
        self.0.retain(|_, until| *until > now);
    }

    /// Until when the provider wants no new child.
    pub(super) fn until(&self, provider: Option<&str>) -> Option<Instant> {
        self.0.get(provider?).copied()
    }
}
