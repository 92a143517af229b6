//! Sends signals to the processes of a tree, and records their state.

use std::fs::File;
use std::process::ExitStatus;

use super::warden::{Mechanism, OverLimit, Tally};

/// Signals the processes of one tree: through its warden, or as a process group.
pub(super) trait Signaller: Send + Sync {
    /// The process id of the child, or of its warden if it has one.
    fn id(&self) -> u32;

    /// Asks every process to exit.
    fn ask(&self);

    /// Kills every process.
    fn kill(&self);

    /// Tells the warden not to remove [`Options::unless_kept`](super::warden::Options::unless_kept) if this process
    /// dies first.
    fn keep(&self) {}

    /// Makes the warden keep an open file until the tree has ended, even if this process dies first.
    fn hold(&self, _file: &File) {}

    /// Releases the warden once the tree has ended. If `cleaned` is false, the warden removes the child's remaining files.
    fn release(&self, _cleaned: bool) {}
}

/// The remaining processes of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Remaining {
    /// Some of its processes, as far as is known.
    #[default]
    Tree,
    /// Its warden, which waits for this process.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "wardens are for Linux"))]
    Warden,
    None,
}

/// The known state of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The child has ended; other processes of its tree may still run.
    pub(super) ended: bool,
    /// Its exit status, if it is known.
    pub(super) status: Option<ExitStatus>,
    /// The remaining processes of the tree.
    pub(super) remaining: Remaining,
    /// The warden was killed, and so was every process of its tree that could be found.
    pub(super) orphaned: bool,
    /// The kernel mechanisms that hold the tree.
    pub(super) mechanisms: Vec<Mechanism>,
    pub(super) over_limit: Option<OverLimit>,
    /// The tree's resource use, from the warden's last report that it has ended.
    pub(super) tally: Option<Tally>,
    /// The latest tally of a tree that still runs.
    pub(super) so_far: Option<Tally>,
}

impl Known {
    pub(super) fn end(&mut self, status: Option<ExitStatus>) {
        (self.ended, self.status) = (true, status);
    }

    /// Returns true if the whole tree has ended, as far as is known.
    pub(super) fn tree_has_ended(&self) -> bool {
        self.remaining != Remaining::Tree && self.tally.is_none_or(|tally| tally.remaining == 0)
    }
}
