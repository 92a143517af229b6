//! The tools' sandbox, which lies inside a child's.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{ToolShell, is_transient};
use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags, openat, statvfs};

use super::landlock::{Rules, SOCKETS, restrict};
use super::masks;
use super::masks::is_open;
use super::place::{AtPath, Place, real};
use super::system_calls::refuse_sockets;
use super::temporaries::{TEMPORARIES, TEMPORARY};
use crate::sys::sandbox::{close_others_on_exec, landlock_abi, refuse_foreign_sockets};

/// Puts this process, and everything it will start, into the sandbox. From there the memory, environment and
/// descriptors of its parent are out of reach, which they are not for a process in the same sandbox.
///
/// # Errors
///
/// If any part of it cannot be applied. Nothing may be executed then.
pub(crate) fn enter(options: &ToolShell) -> io::Result<()> {
    let places = options.writable.iter().map(|path| Place::open(path).map_err(AtPath::of(path)));
    let mut places = places.collect::<io::Result<Vec<_>>>()?;
    let hidden = options.hidden.iter().map(Ok).chain(uncovered(&options.masked));
    let hidden: Vec<PathBuf> =
        hidden.filter_map(|path| path.and_then(|path| real(path)).transpose()).collect::<io::Result<_>>()?;
    let own_temporaries = options.temporaries && is_writable(TEMPORARY)?;
    if own_temporaries {
        for path in TEMPORARIES.map(Path::new) {
            // A rule for a directory would also allow reads of the hidden paths below it.
            if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
                places.push(Place::open(path).map_err(AtPath::of(path))?);
            }
        }
    }
    let confines_sockets = landlock_abi()? >= SOCKETS;
    let shown = Place::below(&hidden, &options.shown)?;
    // Servers are checked only if they could be reached.
    let unix_sockets =
        confines_sockets || (options.unix_sockets && !reaches_servers(&places, own_temporaries)?);
    close_others_on_exec()?;
    // The child's own sandbox grants no terminals but the child's own, and this one cannot grant more.
    restrict(&Rules {
        places: &places,
        own_terminals: true,
        hidden: Some(&hidden),
        shown: &shown,
        hides_names: false,
    })?;
    if confines_sockets {
        let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        refuse_foreign_sockets(std::os::fd::AsFd::as_fd(&root))?;
    }
    refuse_sockets(options.network, unix_sockets)
}

/// Returns the paths that the child's own sandbox does not mask, or no longer masks.
fn uncovered(masked: &[PathBuf]) -> impl Iterator<Item = io::Result<&PathBuf>> {
    masked.iter().filter_map(|path| match is_open(path) {
        Ok(is_open) => is_open.then_some(Ok(path)),
        Err(error) => Some(Err(error)),
    })
}

/// Returns true if this process's mount namespace allows writing there. It does so only in the child's own directories.
fn is_writable(path: &str) -> io::Result<bool> {
    match statvfs(path) {
        Ok(found) => Ok(!found.f_flag.contains(StatVfsMountFlags::RDONLY)),
        Err(error) if is_transient(&error.into()) => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// Returns true if a server of the user can be reached that the child's own sandbox does not mask, because the server started later.
/// A child's own `/tmp` has only its own servers.
fn reaches_servers(places: &[Place], own_temporaries: bool) -> io::Result<bool> {
    for server in masks::known_servers() {
        if own_temporaries && server.starts_with(TEMPORARY) {
            continue;
        }
        // A path above a writable place was never masked.
        if !places.iter().any(|place| place.path().starts_with(&server)) && is_open(&server)? {
            return Ok(true);
        }
    }
    Ok(false)
}
