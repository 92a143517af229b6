//! A sandbox that is ready to be entered.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{Mechanism, Sandbox};
use rustix::io::Errno;

use super::capabilities;
use super::landlock::{OLDEST, Rules, restrict};
use super::masks::Masks;
use super::mounts::{self, Layer};
use super::place::{AtPath, Place, real};
use super::temporaries::{TEMPORARIES, Temporaries};
use super::{own_servers, system_calls};
use crate::sys::sandbox::{close_others_on_exec, landlock_abi};

/// A sandbox whose writable paths are open, ready to be entered.
#[derive(Debug)]
pub(crate) struct Prepared {
    places: Vec<Place>,
    protected: Vec<Place>,
    metadata: bool,
    masks: Masks,
    temporaries: Option<Temporaries>,
    unreadable: Vec<PathBuf>,
    readable: Vec<Place>,
    file_bytes: Option<u64>,
}

impl Prepared {
    /// Opens everything that the sandbox needs.
    ///
    /// # Errors
    ///
    /// `ENOSYS` or `EOPNOTSUPP` if the kernel has no Landlock, or one that is too old. An [`AtPath`] for a writable path that is
    /// missing or is neither a file nor a directory, and for a symbolic link, writable or protected.
    pub(crate) fn new(sandbox: &Sandbox) -> io::Result<Self> {
        if landlock_abi()? < OLDEST {
            return Err(Errno::OPNOTSUPP.into());
        }
        let places = sandbox.writable.iter().map(|path| Place::open(path).map_err(AtPath::of(path)));
        let places = places.collect::<io::Result<Vec<_>>>()?;
        let protected = sandbox
            .protected
            .iter()
            .filter_map(|path| Place::open_if_exists(path).map_err(AtPath::of(path)).transpose());
        let protected = protected.collect::<io::Result<Vec<_>>>()?;
        let masks = Masks::new(&sandbox.hidden, &sandbox.shown, &places, &own_servers::paths()?)?;
        let temporaries = sandbox
            .temporary_bytes
            .map(|bytes| Temporaries::new(bytes, &places, &sandbox.shown))
            .transpose()?;
        let unreadable = sandbox.unreadable.iter().filter_map(|path| real(path).transpose());
        let unreadable = unreadable.collect::<io::Result<Vec<_>>>()?;
        let readable = Place::below(&unreadable, &sandbox.readable)?;
        let Sandbox { metadata, file_bytes, .. } = *sandbox;
        Ok(Self { places, protected, metadata, masks, temporaries, unreadable, readable, file_bytes })
    }

    /// The largest file that the child may write.
    pub(crate) fn file_bytes(&self) -> Option<u64> {
        self.file_bytes
    }

    /// Puts this process and all of its later children into the sandbox. The process must have a single thread. Returns the
    /// active mechanisms. Keeps the working directory.
    ///
    /// # Errors
    ///
    /// If Landlock cannot be applied, or the mount layer failed after a step that cannot be undone. No program may be
    /// executed then. If the machine does not allow the mount layer at all, that is not an error:
    /// [`Mechanism::MountNamespace`] is then missing from the result.
    pub(crate) fn enter(mut self) -> io::Result<Vec<Mechanism>> {
        let layer = if self.metadata {
            Some(mounts::enter(&self.places, &self.protected, &self.masks, self.temporaries.as_ref())?)
        } else {
            None
        };
        close_others_on_exec()?;
        capabilities::drop_dangerous()?;
        let own_terminals = matches!(layer, Some(Layer::Entered { own_terminals: true, .. }));
        if let Some(Layer::Entered { own_temporaries: true, .. }) = layer {
            for path in TEMPORARIES {
                self.places.push(Place::open(Path::new(path))?);
            }
        }
        // In its own view of the file system it can open no devices but the harmless ones already.
        let is_restricted = !self.unreadable.is_empty() || !matches!(layer, Some(Layer::Entered { .. }));
        restrict(&Rules {
            places: &self.places,
            own_terminals,
            hidden: is_restricted.then_some(&self.unreadable[..]),
            shown: &self.readable,
            hides_names: !self.unreadable.is_empty(),
        })?;
        system_calls::refuse_dangerous()?;
        let mut mechanisms = vec![Mechanism::Landlock, Mechanism::Seccomp];
        if matches!(layer, Some(Layer::Entered { .. })) {
            mechanisms.push(Mechanism::MountNamespace);
        }
        Ok(mechanisms)
    }
}
