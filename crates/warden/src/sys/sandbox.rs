//! System calls for the sandbox that neither rustix nor the `landlock` crate wraps.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The Landlock ABI version of the running kernel, which the `landlock` crate does not tell.
///
/// # Errors
///
/// `ENOSYS` where the kernel was built without Landlock, `EOPNOTSUPP` where it is switched off.
pub(crate) fn landlock_abi() -> io::Result<u32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION`: asks for the version instead of creating a ruleset.
    const VERSION: libc::c_ulong = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes a null pointer and a length of zero, and only returns a number.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Makes a mount and all below it read-only and without devices. The kernel changes all or none.
pub(crate) fn set_tree_read_only(root: BorrowedFd<'_>) -> io::Result<()> {
    set_attributes(root, libc::AT_RECURSIVE, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV, 0)
}

/// Makes one mount writable again.
pub(crate) fn set_writable(mount: BorrowedFd<'_>) -> io::Result<()> {
    set_attributes(mount, 0, 0, libc::MOUNT_ATTR_RDONLY)
}

/// Lets devices on one mount be opened again.
pub(crate) fn allow_devices(mount: BorrowedFd<'_>) -> io::Result<()> {
    set_attributes(mount, 0, 0, libc::MOUNT_ATTR_NODEV)
}

/// `which` is zero for one mount, [`libc::AT_RECURSIVE`] also for those below it.
fn set_attributes(root: BorrowedFd<'_>, which: i32, set: u64, clear: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is a C string, the structure is alive during the call, and its size is passed with it.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            root.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | which,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    done(answer)
}

/// Marks every descriptor except the standard ones to be closed by the next `exec`.
pub(crate) fn close_others_on_exec() -> io::Result<()> {
    let first = 3_u32;
    let last = u32::MAX;
    // SAFETY: this only sets a flag on descriptors; it closes none that is in use.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    done(answer)
}

/// Restricts this process, and everything it starts, to Unix sockets with a name that were created inside the
/// restriction. The kernel has to have Landlock ABI 9, which the `landlock` crate does not know yet. The process must
/// have given up gaining privileges. `root` is the root directory.
pub(crate) fn refuse_foreign_sockets(root: BorrowedFd<'_>) -> io::Result<()> {
    /// `LANDLOCK_ACCESS_FS_RESOLVE_UNIX`.
    const RESOLVE_UNIX: u64 = 1 << 16;
    /// `LANDLOCK_ACCESS_FS_REFER`, which every ruleset denies unless a rule allows it.
    const REFER: u64 = 1 << 13;
    // The first field of the kernel's structure, which may be given without the others.
    let handled = RESOLVE_UNIX | REFER;
    // SAFETY: the number is alive during the call, and its size is passed with it. A descriptor is new and ours.
    let ruleset = unsafe {
        let fd = libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(&handled),
            size_of::<u64>(),
            0_u32,
        );
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
        OwnedFd::from_raw_fd(fd)
    };
    allow_beneath(ruleset.as_fd(), root, REFER)?;
    enter_ruleset(ruleset.as_fd())
}

/// Adds a rule to a ruleset: the rights for a file, or for a directory and all below it. The `landlock` crate would
/// first ask whether it is a file, which takes as long again, and there are many of them.
pub(crate) fn allow_beneath(ruleset: BorrowedFd<'_>, at: BorrowedFd<'_>, allowed: u64) -> io::Result<()> {
    /// `LANDLOCK_RULE_PATH_BENEATH`.
    const BENEATH: libc::c_int = 1;
    /// The kernel's `struct landlock_path_beneath_attr`.
    #[repr(C, packed)]
    struct PathBeneath {
        allowed: u64,
        parent: i32,
    }
    let rule = PathBeneath { allowed, parent: at.as_raw_fd() };
    // SAFETY: the structure is laid out as the kernel's, and alive during the call.
    let added = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            BENEATH,
            std::ptr::from_ref(&rule),
            0_u32,
        )
    };
    done(added)
}

/// Restricts this process, and everything it starts, by a ruleset. The process must have given up gaining privileges.
pub(crate) fn enter_ruleset(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes no pointers.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) })
}

fn done(answer: libc::c_long) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
