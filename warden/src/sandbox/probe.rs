//! Finds out by trying which layers this machine allows.

use std::io;

use pi_subagent_warden::{ToolShell, probe_result};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::UnshareFlags;

use super::landlock::{OLDEST, Rules, restrict};
use super::masks::Masks;
use super::mounts::{self, Layer};
use super::place::Place;
use super::temporaries::Temporaries;
use super::{system_calls, tools::enter as enter_tools};
use crate::sys::sandbox::landlock_abi;
use crate::sys::trial::in_a_fork;
use crate::sys::{unshare, unshare_with_user};

/// The path that the probe masks: a directory that every system has.
const MASKED: &str = "/etc";
/// The size of the directories on trial, in bytes.
const TRIAL_BYTES: u64 = 1 << 20;

/// Landlock's ABI version, if it is new enough and can be applied.
pub(crate) fn landlock() -> io::Result<Result<u32, String>> {
    let version = probe_result(landlock_abi(), |error| match error.raw_os_error() {
        Some(libc::ENOSYS) => "this kernel was built without Landlock".into(),
        Some(libc::EOPNOTSUPP) => "Landlock is switched off (kernel parameter `lsm=`)".into(),
        _ => format!("Landlock does not answer: {error}"),
    })?;
    let version = match version {
        Ok(version) if version < OLDEST => {
            return Ok(Err(format!(
                "Landlock ABI {version} cannot stop files from being truncated; ABI {OLDEST} (Linux 6.2) can"
            )));
        }
        Ok(version) => version,
        Err(reason) => return Ok(Err(reason)),
    };
    let result = in_a_fork(|| restrict(&Rules::default()).and_then(|()| system_calls::refuse_dangerous()));
    probe_result(result.map(|()| version), |error| format!("Landlock cannot be applied: {error}"))
}

/// Probes whether a child can get the mount layer.
pub(crate) fn mount_namespace() -> io::Result<Result<(), String>> {
    let attempt = || {
        let place = Place::open(&std::env::temp_dir().canonicalize()?)?;
        let masks = Masks::new(&[MASKED.into()], &[], &[], &[])?;
        match mounts::enter(&[place], &[], &masks, None)? {
            Layer::Entered { .. } => Ok(()),
            Layer::Unavailable(error) => Err(error),
        }
    };
    probe_result(in_a_fork(attempt), |error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => "user and mount namespaces are not allowed here".into(),
        Some(libc::ENOSPC) => "user namespaces are switched off (`user.max_user_namespaces`)".into(),
        Some(libc::ENOSYS) => "this kernel cannot make a tree of mounts read-only (Linux 5.12)".into(),
        _ => format!("the file system cannot be made read-only: {error}"),
    })
}

/// Probes whether a child can get its own `/tmp` and `/dev/shm` in a mount namespace.
pub(crate) fn temporaries() -> io::Result<Result<(), String>> {
    let attempt = || {
        if unshare(UnshareFlags::NEWNS).is_err() {
            unshare_with_user(UnshareFlags::NEWNS)?;
        }
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        Temporaries::new(TRIAL_BYTES, &[], &[])?.mount().map(drop)
    };
    probe_result(in_a_fork(attempt), |error| match error.raw_os_error() {
        Some(libc::ENODEV) => "this kernel has no overlay file system".into(),
        Some(libc::EINVAL) => "something is mounted below `/tmp`, or an overlay cannot cover it".into(),
        Some(libc::ELOOP) => "`/tmp` or `/dev/shm` is missing or a link".into(),
        _ => format!("they cannot be mounted: {error}"),
    })
}

/// Probes whether the programs started by a child's tools can get their own sandbox inside the child's.
pub(crate) fn tools() -> io::Result<Result<(), String>> {
    let attempt = || {
        restrict(&Rules::default())?;
        system_calls::refuse_dangerous()?;
        enter_tools(&ToolShell::default())
    };
    probe_result(in_a_fork(attempt), |error| {
        format!(
            "programs started by its tools cannot get their own sandbox: \
                                               {error}"
        )
    })
}
