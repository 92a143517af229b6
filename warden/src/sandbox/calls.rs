//! System calls that nothing else refuses.

use std::io;
use std::ops::RangeInclusive;

use crate::sys::seccomp::refuse_calls;

/// Everything that makes, copies, moves and changes mounts without naming a place in the tree, which Landlock does not
/// see: `open_tree`, `move_mount`, `fsopen`, `fsconfig`, `fsmount`, `fspick`; `mount_setattr`; `open_tree_attr`.
///
/// In a user namespace of its own, which most systems grant everybody, a program could join an overlay to a directory
/// that way, and the kernel itself would write there.
const MOUNTS: [RangeInclusive<u32>; 3] = [428..=433, 442..=442, 467..=467];

/// Refuses them to this process and all that it starts. Landlock refuses the calls by path.
pub(super) fn refuse() -> io::Result<()> {
    refuse_calls(&MOUNTS)
}
