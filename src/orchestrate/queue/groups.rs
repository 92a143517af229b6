//! How many of each call are there.

use std::collections::HashMap;

use super::ticket::Group;

/// Counts the slots of each call. A call without one is not remembered.
#[derive(Debug, Default)]
pub(super) struct Groups(HashMap<Group, usize>);

impl Groups {
    /// Whether one more of the call may be there. Whoever belongs to no call may.
    pub(super) fn has_room(&self, group: Option<&(Group, usize)>) -> bool {
        group.is_none_or(|(group, most)| self.0.get(group).copied().unwrap_or(0) < (*most).max(1))
    }

    pub(super) fn add(&mut self, group: Option<&Group>) {
        if let Some(group) = group {
            *self.0.entry(group.clone()).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, group: Option<&Group>) {
        let Some(group) = group else { return };
        if let Some(count) = self.0.get_mut(group) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(group);
            }
        }
    }
}
