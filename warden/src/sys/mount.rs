//! System calls for the mount layer that rustix does not wrap, or only as unsafe.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::thread::UnshareFlags;

/// Which mounts a change applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Only the mount whose root the descriptor is.
    One,
    /// That mount and all below it.
    Tree,
}

/// Makes mounts read-only. For [`Extent::Tree`] the kernel changes all or none.
pub(crate) fn set_read_only(root: BorrowedFd<'_>, extent: Extent) -> io::Result<()> {
    set_attributes(root, extent, libc::MOUNT_ATTR_RDONLY, 0)
}

/// Makes mounts writable again.
pub(crate) fn set_writable(root: BorrowedFd<'_>, extent: Extent) -> io::Result<()> {
    set_attributes(root, extent, 0, libc::MOUNT_ATTR_RDONLY)
}

fn set_attributes(root: BorrowedFd<'_>, extent: Extent, set: u64, clear: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    let recursive = if extent == Extent::Tree { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string, the structure is alive during the call, and its size is passed with it.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            root.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives this process its own mount namespace, and also its own user namespace if `users` is set.
pub(crate) fn unshare_mounts(users: bool) -> io::Result<()> {
    let users = if users { UnshareFlags::NEWUSER } else { UnshareFlags::empty() };
    // SAFETY: the descriptor table stays shared; only `UnshareFlags::FILES` would be a hazard.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | users) }?)
}

/// Marks every descriptor except the standard ones to be closed by the next `exec`.
pub(crate) fn close_others_on_exec() -> io::Result<()> {
    let (first, last) = (3_u32, u32::MAX);
    // SAFETY: this only sets a flag on descriptors; it closes none that is in use.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
