//! Notices that git waits for a file that nobody writes.
//!
//! git opens what is called `.gitignore` or `.gitattributes` in every directory that it looks into, whatever it is. A FIFO
//! holds it there for ever, and a child can make one.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::SnapshotError;
use super::facts::off_thread;
use crate::workspace::root::REPOSITORY;

/// The names that git opens by itself.
const OPENED: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];
/// How long git works before somebody looks. Mostly it is done by then, and nothing of the tree has to be listed.
const LOOK_AFTER: Duration = Duration::from_millis(500);
/// How long it may go on when there is such a file: it may lie where git does not go, and git is slow for another reason.
const GO_ON: Duration = Duration::from_secs(1);
/// Entries that are looked at, those near the root first.
const MAX_ENTRIES: usize = 200_000;

/// What git comes to in the work tree at `root`, unless it waits for a special file. Dropping `git` has to end it.
///
/// # Errors
///
/// [`SnapshotError::Special`] after about a second and a half.
pub(crate) async fn unless_blocked<T>(root: &Path, git: impl Future<Output = T>) -> Result<T, SnapshotError> {
    // Boxed, so that the futures around it do not have to hold all of it.
    let mut git = Box::pin(git);
    let special = async {
        tokio::time::sleep(LOOK_AFTER).await;
        let looked = root.to_owned();
        let found = off_thread(move || special_file(&looked)).await;
        match found {
            Some(path) => {
                tokio::time::sleep(GO_ON).await;
                path
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        done = &mut git => Ok(done),
        path = special => Err(SnapshotError::Special { path }),
    }
}

/// The first file, relative to the root, that has such a name and holds who opens it. Blocks.
fn special_file(root: &Path) -> Option<PathBuf> {
    let (mut waiting, mut entries) = (VecDeque::from([root.to_owned()]), 0);
    while let Some(directory) = waiting.pop_front() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return None;
            }
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if kind.is_dir() {
                if !name.eq_ignore_ascii_case(REPOSITORY) {
                    waiting.push_back(entry.path());
                }
            } else if OPENED.iter().any(|opened| name.eq_ignore_ascii_case(opened)) && holds(kind) {
                return entry.path().strip_prefix(root).ok().map(Path::to_path_buf);
            }
        }
    }
    None
}

/// Whether a program that opens or reads such a file may wait for ever. A socket cannot be opened.
#[cfg(unix)]
fn holds(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn holds(_: fs::FileType) -> bool {
    false
}
