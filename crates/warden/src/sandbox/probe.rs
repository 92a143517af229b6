//! Finds out by trying which layers this machine allows.

use std::io;

use pi_subagent_warden::{ToolShell, probe_result};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::UnshareFlags;

use super::landlock::{OLDEST, Rules, restrict};
use super::masks::Masks;
use super::mounts::{self, Layer};
use super::place::Place;
use super::temporaries::{Temporaries, refused_overlay, unusable_temporary};
use super::{system_calls, tools::enter as enter_tools};
use crate::sys::sandbox::landlock_abi;
use crate::sys::trial::in_a_fork;
use crate::sys::{unshare, unshare_with_user};
use crate::unavailable::Unavailable;

/// The path that the probe masks: a directory that every system has.
const MASKED: &str = "/etc";
/// The size of the directories on trial, in bytes.
const TRIAL_BYTES: u64 = 1 << 20;

/// Landlock's ABI version, if it is new enough and can be applied.
pub(crate) fn landlock() -> io::Result<Result<u32, Unavailable>> {
    let version = probe_result(landlock_abi(), |error| match error.raw_os_error() {
        Some(libc::ENOSYS) => Unavailable::NoLandlock,
        Some(libc::EOPNOTSUPP) => Unavailable::LandlockOff,
        _ => Unavailable::UnknownLandlock(error),
    })?;
    let version = match version {
        Ok(version) if version < OLDEST => {
            return Ok(Err(Unavailable::OldLandlock { version, oldest: OLDEST }));
        }
        Ok(version) => version,
        Err(reason) => return Ok(Err(reason)),
    };
    let result = in_a_fork(|| restrict(&Rules::default()).and_then(|()| system_calls::refuse_dangerous()));
    probe_result(result.map(|()| version), Unavailable::Landlock)
}

/// Probes whether a child can get the mount layer.
pub(crate) fn mount_namespace() -> io::Result<Result<(), Unavailable>> {
    let attempt = || {
        let place = Place::open(&std::env::temp_dir().canonicalize()?)?;
        let masks = Masks::new(&[MASKED.into()], &[], &[], &[])?;
        match mounts::enter(&[place], &[], &masks, None)? {
            Layer::Entered { .. } => Ok(()),
            Layer::Unavailable(error) => Err(error),
        }
    };
    probe_result(in_a_fork(attempt), |error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Unavailable::ForbiddenNamespaces,
        Some(libc::ENOSPC) => Unavailable::UserNamespacesOff,
        Some(libc::ENOSYS) => Unavailable::NoReadOnlyTree,
        _ => Unavailable::MountNamespace(error),
    })
}

/// Probes whether a child can get its own `/tmp` and `/dev/shm` in a mount namespace.
pub(crate) fn temporaries() -> io::Result<Result<(), Unavailable>> {
    let attempt = || {
        if unshare(UnshareFlags::NEWNS).is_err() {
            unshare_with_user(UnshareFlags::NEWNS)?;
        }
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        Temporaries::new(TRIAL_BYTES, &[], &[])?.mount().map(drop)
    };
    probe_result(in_a_fork(attempt), |error| match error.raw_os_error() {
        Some(libc::ENODEV) => Unavailable::NoOverlay,
        Some(libc::EINVAL) => refused_overlay(),
        Some(libc::ELOOP) => unusable_temporary().unwrap_or(Unavailable::Temporaries(error)),
        _ => Unavailable::Temporaries(error),
    })
}

/// Probes whether the programs started by a child's tools can get their own sandbox inside the child's.
pub(crate) fn tools() -> io::Result<Result<(), Unavailable>> {
    let attempt = || {
        restrict(&Rules::default())?;
        system_calls::refuse_dangerous()?;
        enter_tools(&ToolShell::default())
    };
    probe_result(in_a_fork(attempt), Unavailable::ToolSandbox)
}
