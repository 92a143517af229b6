//! What a run asks of the lane.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::Store;

/// What a run asks of the lane: which limits hold for it.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// The provider of its model; a hold of that provider keeps it waiting. `None` heeds no hold.
    pub provider: Option<String>,
    /// How many children may be there at once in this process, this one included. 0 counts as 1, because nobody could
    /// ever start otherwise.
    pub max_concurrent: usize,
    /// How many of them may be booted early. 0 means none.
    pub early_limit: usize,
    /// The cap on all processes of this user; `None` when there is no store.
    pub per_user: Option<UserCap>,
    /// The call that it belongs to, and how many of that call may be there at once; 0 counts as 1.
    pub group: Option<(Group, usize)>,
}

/// A cap on the children of all processes that share a store.
#[derive(Clone, Debug)]
pub struct UserCap {
    /// What the processes share.
    pub store: Store,
    /// How many children there may be at once in all of them; 0 counts as 1.
    pub cap: usize,
}

/// One call with several runs. Clones speak of the same call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group(u64);

impl Group {
    /// A call of its own.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl Ticket {
    pub(super) fn provider(&self) -> Option<&str> {
        self.provider.as_deref()
    }

    pub(super) fn most(&self) -> usize {
        self.max_concurrent.max(1)
    }
}
