//! Asks the kernel for its Landlock version, which the `landlock` crate does not offer.

use std::io;

/// `LANDLOCK_CREATE_RULESET_VERSION`: asks for the version instead of creating a ruleset.
const VERSION: libc::c_ulong = 1;

/// The Landlock ABI version of the running kernel.
///
/// # Errors
///
/// `ENOSYS` where the kernel was built without Landlock, `EOPNOTSUPP` where it is switched off.
pub(crate) fn abi() -> io::Result<u32> {
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes a null pointer and a length of zero, and only returns a number.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}
