//! A sandbox that is ready to be entered.

use std::io;

use pi_subagent_warden::{Mechanism, Sandbox};
use rustix::io::Errno;

use super::landlock::{OLDEST, restrict};
use super::mounts::{self, Layer};
use super::place::Place;
use super::{calls, capabilities};
use crate::sys::landlock::abi;
use crate::sys::mount::close_others_on_exec;

/// A sandbox that is ready to be entered.
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
    /// `ENOSYS` or `EOPNOTSUPP` when the kernel cannot do it, and an error for a writable path that is missing, is a
    /// symbolic link, or is neither a file nor a directory.
    pub(crate) fn new(sandbox: &Sandbox) -> io::Result<Self> {
        if abi()? < OLDEST {
            return Err(Errno::OPNOTSUPP.into());
        }
        let places = sandbox.writable.iter().map(|path| Place::open(path)).collect::<io::Result<_>>()?;
        Ok(Self { places, metadata: sandbox.metadata })
    }

    /// Puts this process, which must have one thread only, and everything that it will start into the sandbox. Answers
    /// what holds it. The working directory stays the same.
    ///
    /// # Errors
    ///
    /// When Landlock cannot be applied, and when the other layer broke where there is no way back. Nothing may be executed
    /// then. That the other layer cannot be had at all is no error: [`Mechanism::MountNamespace`] is missing.
    pub(crate) fn enter(self) -> io::Result<Vec<Mechanism>> {
        let layer = if self.metadata { Some(mounts::enter(&self.places)?) } else { None };
        close_others_on_exec()?;
        capabilities::give_up()?;
        let own_terminals = matches!(layer, Some(Layer::Entered { own_terminals: true }));
        restrict(&self.places, own_terminals)?;
        calls::refuse()?;
        let mut mechanisms = vec![Mechanism::Landlock];
        if matches!(layer, Some(Layer::Entered { .. })) {
            mechanisms.push(Mechanism::MountNamespace);
        }
        Ok(mechanisms)
    }
}
