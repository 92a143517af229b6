//! The right to have a child.

use super::desk::Claim;
use super::entrance::Shared;
use super::ticket::Group;
use std::sync::Arc;

/// What is taken of the lane, and given back when this is dropped. Never drop one while the lane is locked.
#[derive(Debug)]
pub(super) struct Grant {
    pub shared: Arc<Shared>,
    pub group: Option<Group>,
    pub claim: Option<Claim>,
    pub notice: Option<String>,
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.shared.change(|state| state.free(self.group.as_ref()));
    }
}

/// The right to have one child. Dropping it frees the place, for this process and for all others of the user.
#[derive(Debug)]
pub struct Slot(Grant);

impl Slot {
    pub(super) fn new(grant: Grant) -> Self {
        Self(grant)
    }

    /// What the user must know of how this slot came about: that the cap on all processes of this user is not in force.
    /// Said once per process, and taken once.
    pub fn take_notice(&mut self) -> Option<String> {
        self.0.notice.take()
    }
}
