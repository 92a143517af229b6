//! Removes leftovers without a note: of releases that wrote none, of interrupted writes, and of runs without a
//! directory. Their owner is unknown, so they are removed only a day after their last change, and only if no process
//! was started with their path.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagent_warden::{is_transient, remove_tree};
use rustix::fs::{CWD, FlockOperation, flock};

use super::clear::{FORMER_GUARD, NOTE, Noted, clear, our_uid};
use crate::run::launch::private_dirs::{AGENT, CHECK, SHELL, TEMPORARY, TEMPORARY_PREFIX, temporary_name};
use files::{layout, open};

/// The age after which a leftover is removed. No living run goes that long without a change.
const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of directory entries that are examined.
const MAX_ENTRIES: usize = 20_000;
/// The directory in the agent directory in which pi keeps sessions. Runs are next to the session of their
/// conversation.
const SESSIONS: &str = "sessions";
/// The files of the agent directory that are first written to a temporary file next to them.
const REPLACED_FILES: [&str; 2] = ["auth.json", "mcp-auth.json"];

/// Removes these leftovers.
///
/// # Errors
///
/// Fails if a directory cannot be listed.
pub(super) fn sweep(agent_dir: &Path, temporaries: &Path) -> io::Result<()> {
    let mut remaining = MAX_ENTRIES;
    let mut parents = vec![layout::runs(agent_dir, None)];
    for project in entries(&agent_dir.join(SESSIONS), &mut remaining)? {
        parents.extend(entries(&project, &mut remaining)?.into_iter().filter(|path| is_directory(path)));
    }
    for parent in parents {
        let runs = entries(&parent, &mut remaining)?;
        for run in runs.iter().filter(|run| is_run(run) && has_leftovers(run)) {
            let temporary = run.file_name().map(|id| temporaries.join(temporary_name(id)));
            if !is_locked_by_former(run) {
                // If something cannot be removed, it stays for the next start.
                let _ = clear(&Noted { run: run.clone(), temporary }, None);
            }
        }
    }
    for directory in [agent_dir.to_path_buf(), agent_dir.join(layout::SUBAGENTS), layout::live(agent_dir)] {
        let written = entries(&directory, &mut remaining)?;
        for path in written.iter().filter(|path| is_cut_off(path, directory != agent_dir) && is_old(path)) {
            let _ = fs::remove_file(path);
        }
    }
    let own = entries(&layout::scratch(agent_dir), &mut remaining)?
        .into_iter()
        .filter(|path| is_own_agent_dir(path));
    let temporary = entries(temporaries, &mut remaining)?.into_iter().filter(|path| is_temporary(path));
    for path in own.chain(temporary).filter(|path| is_old(path) && !is_in_arguments(path)) {
        let _ = remove_tree(&path);
    }
    Ok(())
}

/// Returns the entries of a directory, or nothing if the path is not a directory.
fn entries(directory: &Path, remaining: &mut usize) -> io::Result<Vec<PathBuf>> {
    let read = match fs::read_dir(directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
        read => read?,
    };
    let paths =
        read.take(*remaining).map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    *remaining -= paths.len();
    Ok(paths)
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Returns true if the path is a directory of ours with the name of a run.
fn is_run(path: &Path) -> bool {
    let id = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    layout::is_run_id(id) && is_our_directory(path)
}

fn is_our_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == our_uid())
}

/// Returns true if a run's directory contains files that we should have removed, and all of them are a day old.
fn has_leftovers(run: &Path) -> bool {
    let names = [layout::PROMPT, layout::GUARD, FORMER_GUARD, layout::LOCK, AGENT, SHELL, CHECK, TEMPORARY];
    let mut leftovers =
        names.iter().map(|name| run.join(name)).filter(|path| fs::symlink_metadata(path).is_ok()).peekable();
    leftovers.peek().is_some() && leftovers.all(|path| is_old(&path))
}

/// Returns true if a release that locked the directory itself is using it.
fn is_locked_by_former(run: &Path) -> bool {
    let directory = open::directory_no_follow_at(CWD, run);
    directory.is_ok_and(|directory| flock(directory, FlockOperation::NonBlockingLockExclusive).is_err())
}

/// Returns true for the temporary file of an interrupted write: `.<name>.<random>.tmp`.
fn is_cut_off(path: &Path, is_own_directory: bool) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let Some(name) = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")) else { return false };
    let Some((name, _random)) = name.rsplit_once('.') else { return false };
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.uid() == our_uid());
    is_file && (is_own_directory || REPLACED_FILES.contains(&name))
}

/// Returns true if the path is the temporary directory of one of our runs.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.strip_prefix(TEMPORARY_PREFIX).is_some_and(layout::is_run_id) && is_our_directory(path)
}

/// Returns true if the path is the agent directory of a child and has no note next to it.
fn is_own_agent_dir(path: &Path) -> bool {
    is_our_directory(path) && fs::symlink_metadata(path.with_extension(NOTE)).is_err()
}

/// Returns true if a process was started with this path. The warden of a run gets the paths to remove as arguments.
fn is_in_arguments(path: &Path) -> bool {
    // If the processes cannot be listed, any of them could use the path.
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.into_iter().any(|process| {
        let arguments = process.and_then(|process| match fs::read(process.path().join("cmdline")) {
            Err(error) if is_transient(&error) => Err(error),
            arguments => Ok(arguments.unwrap_or_default()),
        });
        arguments.map_or(true, |arguments| {
            arguments.split(|byte| *byte == 0).any(|argument| argument == path.as_os_str().as_bytes())
        })
    })
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > MIN_AGE))
}
