//! Bounded reads of files that may have become anything meanwhile.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use super::auth_file::Credentials;
use super::lock::{AuthLock, PATIENCE};
use crate::files::open;

/// The largest credentials file that is read, in bytes; real ones have a few kilobytes.
pub(super) const MAX_CREDENTIALS: u64 = 1024 * 1024;
/// The largest file that is copied, in bytes; the cached model lists of many providers have a few megabytes.
pub(super) const MAX_COPIED: u64 = 16 * 1024 * 1024;

/// How often to try for a text that parses. After that, the text counts as it is.
const READS: usize = 3;
/// The pause between two reads: longer than pi takes to write the file.
const BETWEEN_READS: Duration = Duration::from_millis(20);

/// Reads a regular file of the user and follows links. A file of more than `most` bytes is an error; it is never cut.
pub(super) fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_whole(open::regular(path)?, most)
}

/// Reads a regular file that somebody else may have put there. Follows no link.
pub(super) fn read_hostile(directory: impl AsFd, name: &str, most: u64) -> io::Result<Vec<u8>> {
    read_whole(open::regular_no_follow_at(directory, name)?, most)
}

fn read_whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"));
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // The file may grow during the read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Reads credentials that are not half written. pi empties the file before it writes it, so this reads under pi's lock.
/// In case the lock is not available, it also repeats the read a few times until the text parses.
pub(super) fn read_settled(auth: &Path) -> io::Result<Vec<u8>> {
    let _lock = AuthLock::acquire(auth, PATIENCE);
    for _ in 0..READS {
        let bytes = read_file(auth, MAX_CREDENTIALS)?;
        if !bytes.is_empty() && Credentials::parse(&bytes).is_some() {
            return Ok(bytes);
        }
        std::thread::sleep(BETWEEN_READS);
    }
    read_file(auth, MAX_CREDENTIALS)
}
