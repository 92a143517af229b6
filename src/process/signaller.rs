//! What signals the processes of a tree, and what it finds out about them.

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
}

/// What is known of a tree so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The child has ended; other processes of its tree may still run.
    pub(super) ended: bool,
    /// Its exit status, if it is known.
    pub(super) status: Option<ExitStatus>,
    /// The rest of the tree has ended too.
    pub(super) gone: bool,
    /// The warden was killed, and so was every process of its tree that could be found.
    pub(super) orphaned: bool,
    /// The kernel mechanisms that hold the tree.
    pub(super) mechanisms: Vec<Mechanism>,
    pub(super) over_limit: Option<OverLimit>,
    /// What the tree has used, from the last report of its warden that it is gone.
    pub(super) tally: Option<Tally>,
    /// The latest tally of a tree that still runs.
    pub(super) so_far: Option<Tally>,
}

impl Known {
    pub(super) fn end(&mut self, status: Option<ExitStatus>) {
        (self.ended, self.status) = (true, status);
    }

    /// Whether the whole tree is gone, as far as can be known.
    pub(super) fn is_gone(&self) -> bool {
        self.gone && self.tally.is_none_or(|tally| tally.left == 0)
    }
}
