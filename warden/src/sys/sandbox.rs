//! System calls for the sandbox that neither rustix nor the `landlock` crate wraps.

use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JGE, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter,
};

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

/// Makes a mount and all below it read-only. The kernel changes all or none.
pub(crate) fn set_tree_read_only(root: BorrowedFd<'_>) -> io::Result<()> {
    set_attributes(root, libc::AT_RECURSIVE, libc::MOUNT_ATTR_RDONLY, 0)
}

/// Makes one mount writable again.
pub(crate) fn set_writable(mount: BorrowedFd<'_>) -> io::Result<()> {
    set_attributes(mount, 0, 0, libc::MOUNT_ATTR_RDONLY)
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
    let (first, last) = (3_u32, u32::MAX);
    // SAFETY: this only sets a flag on descriptors; it closes none that is in use.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    done(answer)
}

/// The offset of the call number in the data that the filter sees.
const NUMBER: u32 = 0;
/// The bit that marks the second set of call numbers on x86-64 (x32).
const SECOND_SET: u32 = 0x4000_0000;
/// Without this flag, some kernels slow the whole program down with mitigations against speculative execution.
const FLAGS: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// The calls that create, copy, move and change mounts without naming a path, which Landlock does not see:
/// `open_tree`, `move_mount`, `fsopen`, `fsconfig`, `fsmount`, `fspick`; `mount_setattr`; `open_tree_attr`.
///
/// With them a program in its own user namespace, which most systems grant everybody, could join an overlay to a
/// directory, and the kernel itself would write there.
const MOUNT_CALLS: [RangeInclusive<u32>; 3] = [428..=433, 442..=442, 467..=467];

/// Makes [`MOUNT_CALLS`] fail with `EPERM`, for this process and everything it starts. The process must have given up
/// gaining privileges. Landlock refuses the calls that take a path.
///
/// Calls from number 424 on have the same number on every architecture, so a program cannot evade the filter by
/// claiming another one.
pub(crate) fn refuse_mount_calls() -> io::Result<()> {
    let mut program =
        vec![step(BPF_LD | BPF_W | BPF_ABS, NUMBER), step(BPF_ALU | BPF_AND | BPF_K, !SECOND_SET)];
    for range in MOUNT_CALLS {
        // Below the range: skip the refusal. Above it: the same.
        program.push(sock_filter { jf: 2, ..step(BPF_JMP | BPF_JGE | BPF_K, *range.start()) });
        program.push(sock_filter { jt: 1, ..step(BPF_JMP | BPF_JGT | BPF_K, *range.end()) });
        program.push(step(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()));
    }
    program.push(step(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the structure and the steps it points to are alive during the call, and the kernel copies them.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, FLAGS, std::ptr::from_ref(&filter))
    };
    done(answer)
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}

fn done(answer: libc::c_long) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
