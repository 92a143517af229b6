//! Write locks that belong to an open file (`F_OFD_SETLK`).
//!
//! A `flock` can be taken through any descriptor. This one needs a descriptor that is open for writing, so a process that may
//! only read cannot pass for its holder. The kernel releases it when the process ends, even after `SIGKILL`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// Takes the write lock on a whole file that is open for writing. `false`: somebody holds a lock on it.
///
/// # Errors
///
/// When the file system has no locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match control(file, libc::F_OFD_SETLK, libc::F_WRLCK) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether another open file holds the write lock. Asks as a reader would, whom other readers do not stand in the way.
///
/// # Errors
///
/// When the file system has no locks.
pub fn is_locked(file: &File) -> io::Result<bool> {
    Ok(control(file, libc::F_OFD_GETLK, libc::F_RDLCK)? != libc::F_UNLCK)
}

/// Acts on a lock of the whole file. Returns the kind of the lock as the kernel has left it.
fn control(file: &File, command: libc::c_int, kind: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: all fields are numbers; some systems have more of them than others.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind.try_into().map_err(io::Error::other)?;
    lock.l_whence = libc::SEEK_SET.try_into().map_err(io::Error::other)?;
    // SAFETY: the descriptor is open, and `lock` lives until the call returns.
    if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(lock.l_type.into())
}
