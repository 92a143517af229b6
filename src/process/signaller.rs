//! What signals the processes of a tree, and what it finds out about them.

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

    /// Has the warden hold an open file until the tree is gone, even if this process dies first.
    fn hold(&self, _file: &File) {}

    /// Lets the warden go once the tree is gone. `cleaned` says whether what the child has left is removed; if not, the
    /// warden removes it.
    fn release(&self, _cleaned: bool) {}
}

/// Who is left of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Left {
    /// Some of its processes, as far as is known.
    #[default]
    Tree,
    /// Its warden, which waits for this process.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "wardens are for Linux"))]
    Warden,
    Nobody,
}

/// What is known of a tree so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The child has ended; other processes of its tree may still run.
    pub(super) ended: bool,
    /// Its exit status, if it is known.
    pub(super) status: Option<ExitStatus>,
    /// Who is left of the tree.
    pub(super) left: Left,
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
        self.left != Left::Tree && self.tally.is_none_or(|tally| tally.left == 0)
    }
}
