//! A sandbox that is ready to be entered.

use std::io;

use pi_subagent_warden::{Mechanism, Sandbox};
use rustix::io::Errno;

use super::capabilities;
use super::landlock::{OLDEST, restrict};
use super::mounts::{self, Layer};
use super::place::Place;
use crate::sys::sandbox::{close_others_on_exec, landlock_abi, refuse_mount_calls};

/// A sandbox whose writable paths are open, ready to be entered.
#[derive(Debug)]
pub(crate) struct Prepared {
    places: Vec<Place>,
    metadata: bool,
}

impl Prepared {
    /// Opens everything that the sandbox needs.
    ///
    /// # Errors
    ///
    /// `ENOSYS` or `EOPNOTSUPP` when the kernel has no Landlock, or one that is too old; an error for a writable path
    /// that is missing, a symbolic link, or neither a file nor a directory.
    pub(crate) fn new(sandbox: &Sandbox) -> io::Result<Self> {
        if landlock_abi()? < OLDEST {
            return Err(Errno::OPNOTSUPP.into());
        }
        let places = sandbox.writable.iter().map(|path| Place::open(path)).collect::<io::Result<_>>()?;
        Ok(Self { places, metadata: sandbox.metadata })
    }

    /// Puts this process, and everything it will start, into the sandbox. The process must have a single thread.
    /// Returns the mechanisms in force. Keeps the working directory.
    ///
    /// # Errors
    ///
    /// When Landlock cannot be applied, or the mount layer failed after a step that cannot be undone. No program may
    /// be executed then. A machine that does not allow the mount layer at all is no error:
    /// [`Mechanism::MountNamespace`] is missing from the result then.
    pub(crate) fn enter(self) -> io::Result<Vec<Mechanism>> {
        let layer = if self.metadata { Some(mounts::enter(&self.places)?) } else { None };
        close_others_on_exec()?;
        capabilities::give_up()?;
        let own_terminals = matches!(layer, Some(Layer::Entered { own_terminals: true }));
        restrict(&self.places, own_terminals)?;
        refuse_mount_calls()?;
        let mut mechanisms = vec![Mechanism::Landlock];
        if matches!(layer, Some(Layer::Entered { .. })) {
            mechanisms.push(Mechanism::MountNamespace);
        }
        Ok(mechanisms)
    }
}
