//! Copies of mounts, and putting them onto other places.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use rustix::path::Arg;

/// The empty path, which refers to the descriptor itself.
pub(super) const NOTHING: &CStr = c"";

/// Makes a copy of the mount of a path and of those below it.
pub(super) fn copy(at: impl AsFd, path: impl Arg) -> io::Result<OwnedFd> {
    let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    Ok(open_tree(at, path, copy | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH)?)
}

/// Mounts a copy onto a file or directory.
pub(super) fn mount_onto(mount: impl AsFd, target: impl AsFd) -> io::Result<()> {
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, NOTHING, target, NOTHING, both)?)
}
