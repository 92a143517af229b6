//! Systems on which there is no sandbox.

use std::io;

use pi_subagent_warden::{Ability, Mechanism, Sandbox};

/// A sandbox that is ready to be entered. There is none on this system.
#[derive(Debug)]
pub(crate) struct Prepared(std::convert::Infallible);

impl Prepared {
    /// Refuses.
    pub(crate) fn new(_: &Sandbox) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called, because there is nothing to call it on.
    pub(crate) fn enter(self) -> io::Result<Vec<Mechanism>> {
        match self.0 {}
    }
}

/// Landlock's version.
pub(crate) fn landlock() -> Ability<u32> {
    Ability::No("not on this system".into())
}

/// Whether a child can get a read-only view of everything.
pub(crate) fn mount_namespace() -> Ability<()> {
    Ability::No("not on this system".into())
}
