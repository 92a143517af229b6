//! Finds out by trying which layers this machine allows.

use std::io;

use pi_subagent_warden::Ability;

use super::landlock::{OLDEST, restrict};
use super::mounts::{self, Layer};
use super::place::Place;
use crate::sys::sandbox::{landlock_abi, refuse_mount_calls};
use crate::sys::trial::in_a_fork;

/// Landlock's ABI version, if it is new enough and can be applied.
pub(crate) fn landlock() -> Ability<u32> {
    let version = match landlock_abi() {
        Ok(version) => version,
        Err(error) => {
            return Ability::No(match error.raw_os_error() {
                Some(libc::ENOSYS) => "this kernel was built without Landlock".into(),
                Some(libc::EOPNOTSUPP) => "Landlock is switched off (kernel parameter `lsm=`)".into(),
                _ => format!("Landlock does not answer: {error}"),
            });
        }
    };
    if version < OLDEST {
        return Ability::No(format!(
            "Landlock ABI {version} cannot stop files from being truncated; ABI {OLDEST} (Linux 6.2) can"
        ));
    }
    match in_a_fork(|| restrict(&[], false).and_then(|()| refuse_mount_calls())) {
        Ok(()) => Ability::Yes(version),
        Err(error) => Ability::No(format!("Landlock cannot be applied: {error}")),
    }
}

/// Whether a child can get the mount layer.
pub(crate) fn mount_namespace() -> Ability<()> {
    let attempt = || {
        let place = Place::open(&std::env::temp_dir().canonicalize()?)?;
        match mounts::enter(&[place])? {
            Layer::Entered { .. } => Ok(()),
            Layer::LeftOut(error) => Err(error),
        }
    };
    match in_a_fork(attempt) {
        Ok(()) => Ability::Yes(()),
        Err(error) => Ability::No(reason(&error)),
    }
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => "user and mount namespaces are not allowed here".into(),
        Some(libc::ENOSPC) => "user namespaces are switched off (`user.max_user_namespaces`)".into(),
        Some(libc::ENOSYS) => "this kernel cannot make a tree of mounts read-only (Linux 5.12)".into(),
        _ => format!("everything cannot be made read-only: {error}"),
    }
}
