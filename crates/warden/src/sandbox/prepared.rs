//! A sandbox that is ready to be entered, and the capabilities that root loses inside.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{Mechanism, Sandbox};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

use super::landlock::{OLDEST, Rules, restrict};
use super::masks::Masks;
use super::mounts::{self, Layer};
use super::place::{AtPath, Place, real};
use super::temporaries::{TEMPORARIES, Temporaries};
use super::{masks, system_calls};
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
        let masks = Masks::new(&sandbox.hidden, &sandbox.shown, &places, &masks::servers()?)?;
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
        drop_capabilities()?;
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

/// Every capability with which a program could undo a sandbox, write around it, or change the system instead of its
/// files.
///
/// The rest lets root work with the files of others, change its identity and use the network.
const DROPPED: CapabilitySet = CapabilitySet::SYS_ADMIN // mounts, other namespaces, attributes of mounts
    .union(CapabilitySet::DAC_READ_SEARCH) // files by handle, which goes past every mount; DAC_OVERRIDE still reads all
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::SYS_TIME)
    .union(CapabilitySet::SYS_PACCT) // the kernel would write the file
    .union(CapabilitySet::SYS_RESOURCE) // limits of others, size of a file system
    .union(CapabilitySet::SYS_TTY_CONFIG)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::LINUX_IMMUTABLE)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::NET_RAW) // what others send and receive, a model on this machine for example
    .union(CapabilitySet::SYS_NICE) // ahead of all others on every processor
    .union(CapabilitySet::IPC_OWNER)
    .union(CapabilitySet::MAC_ADMIN)
    .union(CapabilitySet::MAC_OVERRIDE)
    .union(CapabilitySet::AUDIT_CONTROL)
    .union(CapabilitySet::SYSLOG)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::CHECKPOINT_RESTORE);

/// Gives up [`DROPPED`], for this process and everything it starts.
///
/// A process can always lower its own sets, and no program can regain any capability once it may gain no new privileges, which
/// Landlock requires. The bounding set is lowered too if that is allowed, for programs that inspect it.
fn drop_capabilities() -> io::Result<()> {
    for capability in DROPPED.iter() {
        if remove_capability_from_bounding_set(capability).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let mut sets = capabilities(None)?;
    sets.effective.remove(DROPPED);
    sets.permitted.remove(DROPPED);
    sets.inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, sets)?)
}
