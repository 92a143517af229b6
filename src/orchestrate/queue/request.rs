//! A run's request to the queue, and its status while it waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;

use super::pauses::QuotaWait;
use store::Store;

/// The limits that hold for a run, or for a child that is booted early.
#[derive(Clone, Debug)]
pub struct Request {
    /// The provider of its model; a pause of that provider holds it back. `None`: no pause applies.
    pub provider: Option<String>,
    /// The maximum number of children in this process, this one included. 0 counts as 1, because no run could ever start
    /// otherwise.
    pub max_concurrent: usize,
    /// The launcher that starts it, if there is one. The limits of this process count its children apart from all
    /// others.
    pub lane: Option<String>,
    /// The maximum number of early children. 0 means none.
    pub early_limit: usize,
    /// The maximum number of children above `max_concurrent` that wait for a slot of their run. 0 means none.
    pub ahead_limit: usize,
    /// The cap on all processes of this user; `None` when there is no store.
    pub per_user: Option<UserCap>,
    /// The call that it belongs to, and how many of that call may run at once; 0 counts as 1.
    pub group: Option<(Group, usize)>,
    /// The work tree that it writes to, if it does.
    pub writes: Option<Writes>,
}

/// A work tree that a run writes to. One run at a time does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writes {
    /// The same for all runs that write there.
    pub tree: Arc<str>,
    /// The run's name for the runs that wait for it.
    pub by: Arc<str>,
}

/// A cap on the children of all processes that share a store.
#[derive(Clone, Debug)]
pub struct UserCap {
    /// The store that the processes share.
    pub store: Store,
    /// The maximum number of children in all of them. 0 counts as 1.
    pub cap: usize,
}

/// One call with several runs. A default is a call of its own; clones stand for the same call; all its runs pass one queue.
#[derive(Clone, Debug, Default)]
pub struct Group(Arc<()>);

/// The groups with a name, as long as one of their runs exists.
static NAMED: Mutex<BTreeMap<String, Weak<()>>> = Mutex::new(BTreeMap::new());

impl Group {
    /// Returns the group with this name, for runs that belong together and are started by calls of their own.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let mut named = NAMED.lock();
        named.retain(|_, group| group.strong_count() > 0);
        let group = named.get(name).and_then(Weak::upgrade).unwrap_or_default();
        named.insert(name.to_owned(), Arc::downgrade(&group));
        Self(group)
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The status of a run in the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitStatus {
    /// Its position among all that wait in this process: 1 is the first, `None` has been admitted. Exact up to 16, then
    /// rounded up by at most an eighth.
    pub position: Option<usize>,
    /// The end of its provider's pause. `None` without one.
    pub rate_limited_until: Option<Instant>,
    /// The wait for its provider's quota, if the quota is used up.
    pub quota: Option<QuotaWait>,
    /// The run that writes to its work tree and has to end first.
    pub blocked_by: Option<Arc<str>>,
    /// The reason for the wait, in words.
    pub reason: &'static str,
    /// True if it has a slot in this process, and the store has not said yet whether the other processes leave it one.
    /// Until then no run is known to be before it.
    pub is_unanswered: bool,
}

impl Request {
    pub(super) fn max_concurrent(&self) -> usize {
        self.max_concurrent.max(1)
    }

    /// Returns true if both write to the same tree.
    pub(super) fn writes_with(&self, other: &Writes) -> bool {
        self.writes.as_ref().is_some_and(|writes| writes.tree == other.tree)
    }

    pub(super) fn group(&self) -> Option<&Group> {
        self.group.as_ref().map(|(group, _)| group)
    }
}
