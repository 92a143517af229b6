//! What is left without a note: by releases that wrote none, by writes that were cut off, and by runs whose directory is
//! gone. Nothing says whose it is, so it goes only a day after it was last changed, and where nobody speaks of it.

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
use crate::files::{layout, open};
use crate::run::launch::private_dirs::{AGENT, CHECK, TEMPORARY, TEMPORARY_PREFIX, temporary_name};

/// No run is that old and has changed nothing.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);
/// Entries that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// Where pi keeps sessions, in its directory; runs lie beside the session of their conversation.
const SESSIONS: &str = "sessions";
/// Files of the agent directory that are written beside themselves first.
const WRITTEN: [&str; 2] = ["auth.json", "mcp-auth.json"];

/// Removes it.
///
/// # Errors
///
/// When something cannot be listed.
pub(super) fn sweep(agent_dir: &Path, temporaries: &Path) -> io::Result<()> {
    let mut left = MAX_ENTRIES;
    let mut parents = vec![layout::runs(agent_dir, None)];
    for project in entries(&agent_dir.join(SESSIONS), &mut left)? {
        parents.extend(entries(&project, &mut left)?.into_iter().filter(|path| is_directory(path)));
    }
    for parent in parents {
        let runs = entries(&parent, &mut left)?;
        for run in runs.iter().filter(|run| is_run(run) && has_leftovers(run)) {
            let temporary = run.file_name().map(|id| temporaries.join(temporary_name(id)));
            if !is_locked_by_former(run) {
                // What cannot be removed stays for the next start.
                let _ = clear(&Noted { run: run.clone(), temporary }, None);
            }
        }
    }
    for directory in [agent_dir.to_path_buf(), agent_dir.join(layout::SUBAGENTS), layout::live(agent_dir)] {
        let written = entries(&directory, &mut left)?;
        for path in written.iter().filter(|path| is_cut_off(path, directory != agent_dir) && is_old(path)) {
            let _ = fs::remove_file(path);
        }
    }
    let own =
        entries(&layout::scratch(agent_dir), &mut left)?.into_iter().filter(|path| is_own_agent_dir(path));
    let temporary = entries(temporaries, &mut left)?.into_iter().filter(|path| is_temporary(path));
    for path in own.chain(temporary).filter(|path| is_old(path) && !is_spoken_of(path)) {
        let _ = remove_tree(&path);
    }
    Ok(())
}

/// What lies in a directory; nothing if that is no directory.
fn entries(directory: &Path, left: &mut usize) -> io::Result<Vec<PathBuf>> {
    let read = match fs::read_dir(directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
        read => read?,
    };
    let paths =
        read.take(*left).map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    *left -= paths.len();
    Ok(paths)
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Whether it is a directory of ours with the name of a run.
fn is_run(path: &Path) -> bool {
    let id = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    layout::is_run_id(id) && is_our_directory(path)
}

fn is_our_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == our_uid())
}

/// Whether something of ours in a run's directory should have been removed a day ago.
fn has_leftovers(run: &Path) -> bool {
    let names = [layout::PROMPT, layout::GUARD, FORMER_GUARD, layout::LOCK, AGENT, CHECK, TEMPORARY];
    let mut left =
        names.iter().map(|name| run.join(name)).filter(|path| fs::symlink_metadata(path).is_ok()).peekable();
    left.peek().is_some() && left.all(|path| is_old(&path))
}

/// Whether a release that locked the directory itself is at work there.
fn is_locked_by_former(run: &Path) -> bool {
    let directory = open::directory_no_follow_at(CWD, run);
    directory.is_ok_and(|directory| flock(directory, FlockOperation::NonBlockingLockExclusive).is_err())
}

/// Whether it was written in order to take the place of a file: `.<name>.<random>.tmp`.
fn is_cut_off(path: &Path, is_all_ours: bool) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let Some(name) = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")) else { return false };
    let Some((name, _random)) = name.rsplit_once('.') else { return false };
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.uid() == our_uid());
    is_file && (is_all_ours || WRITTEN.contains(&name))
}

/// Whether it is a temporary directory of a run of ours.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.strip_prefix(TEMPORARY_PREFIX).is_some_and(layout::is_run_id) && is_our_directory(path)
}

/// Whether it is the agent directory of a child, beside whose place no note lies.
fn is_own_agent_dir(path: &Path) -> bool {
    is_our_directory(path) && fs::symlink_metadata(path.with_extension(NOTE)).is_err()
}

/// Whether a process was started with this path: the warden of a run is told what it is to remove.
fn is_spoken_of(path: &Path) -> bool {
    // Who cannot look must not think that nobody does.
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.into_iter().any(|process| {
        let words = process.and_then(|process| match fs::read(process.path().join("cmdline")) {
            Err(error) if is_transient(&error) => Err(error),
            words => Ok(words.unwrap_or_default()),
        });
        words.map_or(true, |words| {
            words.split(|byte| *byte == 0).any(|word| word == path.as_os_str().as_bytes())
        })
    })
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > OLD))
}
