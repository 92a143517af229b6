//! The one question about Landlock that its crate does not answer.

use std::io;

/// Asks for the version instead of making a ruleset.
const VERSION: libc::c_ulong = 1;

/// The ABI version of the running kernel.
///
/// # Errors
///
/// `ENOSYS` where the kernel was built without Landlock, `EOPNOTSUPP` where it is switched off.
pub(crate) fn abi() -> io::Result<u32> {
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes no pointer and a length of zero, and only answers.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}
