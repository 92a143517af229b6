//! Refuses system calls that no other layer refuses.

use std::io;
use std::ops::RangeInclusive;

use crate::sys::seccomp::refuse_calls;

/// The calls that create, copy, move and change mounts without naming a path, which Landlock does not see:
/// `open_tree`, `move_mount`, `fsopen`, `fsconfig`, `fsmount`, `fspick`; `mount_setattr`; `open_tree_attr`.
///
/// With them a program in its own user namespace, which most systems grant everybody, could join an overlay to a
/// directory, and the kernel itself would write there.
const MOUNTS: [RangeInclusive<u32>; 3] = [428..=433, 442..=442, 467..=467];

/// Refuses [`MOUNTS`] to this process and everything it starts. Landlock refuses the calls that take a path.
pub(super) fn refuse() -> io::Result<()> {
    refuse_calls(&MOUNTS)
}
