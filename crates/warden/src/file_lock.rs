//! Write locks that belong to an open file (`F_OFD_SETLK`), and the detection of programs that write to a file.
//!
//! A `flock` can be taken through any descriptor. This one needs a descriptor that is open for writing, so a process that may
//! only read cannot pass for its holder. The kernel releases it when the process ends, even after `SIGKILL`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// The command that sets the signal for events of an open file. From `asm-generic/fcntl.h`.
const F_SETSIG: libc::c_int = 10;
/// The file systems that may refuse a lease although no program writes: NFS, CIFS, SMB2. From `linux/magic.h`.
const REMOTE: [rustix::fs::FsWord; 3] =
    [0x6969, 0xff53_4d42_u32 as rustix::fs::FsWord, 0xfe53_4d42_u32 as rustix::fs::FsWord];

/// Takes the write lock on a whole file that is open for writing. Returns `false` if another open file holds a lock on
/// it.
///
/// # Errors
///
/// If the file system has no locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match control(file, libc::F_OFD_SETLK, libc::F_WRLCK) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns true if another open file holds the write lock. Asks as a reader would, because readers do not exclude each other.
///
/// # Errors
///
/// If the file system has no locks.
pub fn is_locked(file: &File) -> io::Result<bool> {
    Ok(control(file, libc::F_OFD_GETLK, libc::F_RDLCK)? != libc::F_UNLCK)
}

/// Returns true if a program has a regular file open or mapped for writing. `file` must be open for reading only. Returns
/// `None` if the kernel does not tell, for example for a file of another user.
///
/// The kernel grants a read lease only if no program can write to the file. The lease is released immediately.
#[must_use]
pub fn is_open_for_writing(file: &File) -> Option<bool> {
    // If another program opens the file during the lease, the kernel sends a signal. The default, `SIGIO`, ends the process;
    // `SIGURG` is ignored by default.
    number(file, F_SETSIG, libc::SIGURG).ok()?;
    match number(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            let _ = number(file, libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => {
            let found = rustix::fs::fstatfs(file).ok()?;
            (!REMOTE.contains(&found.f_type)).then_some(true)
        }
        Err(_) => None,
    }
}

/// Calls `fcntl` with a number.
fn number(file: &File, command: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and these commands take a number.
    if unsafe { libc::fcntl(file.as_raw_fd(), command, value) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_file_counts_as_open_until_its_last_writer_closes_it() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let path = root.path().join("file");
        fs::write(&path, "text").expect("the file is written");
        let file = File::open(&path).expect("the file is opened");
        let _reader = File::open(&path).expect("the file is opened");
        // Some file systems have no leases.
        let Some(is_open) = is_open_for_writing(&file) else { return };
        assert!(!is_open);
        let writer = File::options().append(true).open(&path).expect("the file is opened");
        let other = writer.try_clone().expect("the file is cloned");
        assert_eq!(is_open_for_writing(&file), Some(true));
        drop(writer);
        assert_eq!(is_open_for_writing(&file), Some(true));
        drop(other);
        assert_eq!(is_open_for_writing(&file), Some(false));
        // The lease was released, so this does not wait.
        fs::write(&path, "more").expect("the file is written");
    }
}
