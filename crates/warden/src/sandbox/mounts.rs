//! The mount layer, which refuses changes of modes, owners, times and attributes, and hides files that the child does not need.
//! It is a view of the file system in which everything is read-only, some paths are masked, and only harmless devices can be
//! opened. Otherwise a child as root could read every hidden file from the disk itself.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use pi_subagent_warden::is_transient;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
};
use rustix::thread::UnshareFlags;

use super::copies::{NOTHING, copy, mount_onto};
use super::landlock::DEVICES;
use super::masks::Masks;
use super::place::{AtPath, Place};
use super::temporaries::{TEMPORARIES, Temporaries};
use crate::sys::sandbox::{allow_devices, set_tree_read_only, set_writable};
use crate::sys::trial::in_a_fork;
use crate::sys::{unshare, unshare_with_user};

/// The state of the layer.
#[derive(Debug)]
pub(super) enum Layer {
    /// It is active.
    Entered {
        /// True if the process has its own pseudoterminals, so that no terminal outside can be opened by name.
        own_terminals: bool,
        /// True if the process has its own `/tmp` and `/dev/shm`.
        own_temporaries: bool,
    },
    /// This machine does not allow it. Nothing that a program could notice has changed.
    Unavailable(io::Error),
}

impl Layer {
    /// A shortage of a resource is an error and does not leave the layer out: the sandbox would be weaker than this
    /// machine allows.
    fn unavailable(error: io::Error) -> io::Result<Self> {
        if is_transient(&error) { Err(error) } else { Ok(Self::Unavailable(error)) }
    }
}

/// Gives this process a view of the file system in which only `places` can be changed, except the `protected` paths inside them,
/// and masked paths are empty. The process gets its own `temporaries` if the machine allows it.
///
/// # Errors
///
/// If it failed after a step that cannot be undone, or because a resource has run out. This process must not continue
/// then.
pub(super) fn enter(
    places: &[Place],
    protected: &[Place],
    masks: &Masks,
    temporaries: Option<&Temporaries>,
) -> io::Result<Layer> {
    let arrange = || arrange(places, protected, masks, temporaries);
    // Sets the layer up for a process without rights over mounts.
    let unprivileged = || unshare_with_user(UnshareFlags::NEWNS).and_then(|()| arrange()?.close());
    // With a mount namespace alone, a failure before it is read-only changes nothing that a program could notice.
    match unshare(UnshareFlags::NEWNS) {
        Ok(()) => return arrange().map_or_else(Layer::unavailable, Arranged::close),
        Err(error) if is_transient(&error) => return Err(error),
        Err(_) => {}
    }
    // A process cannot leave a user namespace again, and some systems grant one without any rights. So a fork tries first.
    match in_a_fork(|| unprivileged().map(drop)) {
        Ok(()) => unprivileged(),
        Err(error) => Layer::unavailable(error),
    }
}

/// A namespace in which every mount is in place, and still as writable as before.
struct Arranged {
    root: OwnedFd,
    writable: Vec<OwnedFd>,
    /// Mounts with the devices that may be opened.
    devices: Vec<OwnedFd>,
    own_terminals: bool,
    own_temporaries: bool,
}

fn arrange(
    places: &[Place],
    protected: &[Place],
    masks: &Masks,
    temporaries: Option<&Temporaries>,
) -> io::Result<Arranged> {
    let here = std::env::current_dir();
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let (mut devices, own_terminals) = match own_terminals() {
        Err(error) if is_transient(&error) => return Err(error),
        Ok(mounts) => (Vec::from(mounts), true),
        Err(_) => (Vec::new(), false),
    };
    for device in DEVICES {
        match copy(CWD, device).and_then(|copy| mount_at(copy, device)) {
            Ok(mount) => devices.push(mount),
            Err(error) if is_transient(&error) => return Err(error),
            // This system lacks it.
            Err(_) => {}
        }
    }
    let mut writable = match temporaries.map(Temporaries::mount) {
        Some(Err(error)) if is_transient(&error) => return Err(error),
        Some(Ok(mounts)) => Vec::from(mounts),
        // The machine's directories stay, and become read-only like everything else.
        Some(Err(_)) | None => Vec::new(),
    };
    let own_temporaries = !writable.is_empty();
    masks.mount()?;
    for (place, is_writable) in own_mounts(places, protected)? {
        match attach(place) {
            Ok(mount) => writable.extend(is_writable.then_some(mount)),
            // It lies under a mask, so the child does not see it.
            Err(error) if !is_writable && !is_transient(&error) && masks.covers(place.path()) => {}
            Err(error) => return Err(AtPath::of(place.path())(error)),
        }
    }
    // The old working directory lies below the new mount, on the mount that becomes read-only or under a mask, so it is entered
    // again.
    let is_covered = |here: &PathBuf| {
        places.iter().any(|place| here.starts_with(place.path()))
            || masks.covers(here)
            || (own_temporaries && TEMPORARIES.iter().any(|own| here.starts_with(own)))
    };
    if let Some(here) = here.ok().filter(is_covered) {
        rustix::process::chdir(&here)?;
    }
    let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    Ok(Arranged { root, writable, devices, own_terminals, own_temporaries })
}

/// Makes a place its own mount, and returns the mount's descriptor.
fn attach(place: &Place) -> io::Result<OwnedFd> {
    let target = place.reopen()?;
    let mount = copy(&target, NOTHING)?;
    mount_onto(&mount, &target)?;
    Ok(mount)
}

/// Returns the paths that become their own mounts, outer ones before inner ones, and whether each may be written: all
/// protected paths, and each place that does not get its rights from the mount around it. Fewer mounts are better:
/// nothing can be renamed or linked between mounts, and no mount can be removed.
fn own_mounts<'a>(places: &'a [Place], protected: &'a [Place]) -> io::Result<Vec<(&'a Place, bool)>> {
    let protected = protected.iter().map(|place| (place, false));
    let mut all: Vec<_> = protected.chain(places.iter().map(|place| (place, true))).collect();
    all.sort_by_key(|(place, is_writable)| (place.path(), *is_writable));
    let mut mounts: Vec<(&Place, bool)> = Vec::new();
    for (place, is_writable) in all {
        let around = mounts.iter().rfind(|(outer, _)| place.path().starts_with(outer.path()));
        let is_inherited = match around {
            // Only the mount itself becomes writable, not another file system that is mounted below it.
            Some((outer, true)) => is_writable && place.is_on_same_file_system(outer)?,
            // Nothing can be written there anyway.
            Some((_, false)) | None => !is_writable,
        };
        if !is_inherited {
            mounts.push((place, is_writable));
        }
    }
    Ok(mounts)
}

/// Mounts an empty `devpts`, which hides the pseudoterminals of others, and its multiplexer. Returns both mounts.
fn own_terminals() -> io::Result<[OwnedFd; 2]> {
    let kind = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(kind.as_fd(), "mode", "0600")?;
    fsconfig_set_string(kind.as_fd(), "ptmxmode", "0666")?;
    fsconfig_create(kind.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let mount = fsmount(kind.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    let terminals = mount_at(mount, "/dev/pts")?;
    // Often a link to this very file; then it is mounted onto itself.
    let multiplexer = mount_at(copy(CWD, "/dev/pts/ptmx")?, "/dev/ptmx")?;
    Ok([terminals, multiplexer])
}

/// Mounts something onto a path, and returns the mount.
fn mount_at(mount: OwnedFd, path: &str) -> io::Result<OwnedFd> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_SYMLINKS;
    move_mount(&mount, NOTHING, CWD, path, flags)?;
    Ok(mount)
}

impl Arranged {
    /// Makes everything read-only except the writable places.
    fn close(self) -> io::Result<Layer> {
        if let Err(error) = set_tree_read_only(self.root.as_fd()) {
            return Layer::unavailable(error);
        }
        for mount in &self.writable {
            set_writable(mount.as_fd())?;
        }
        for mount in &self.devices {
            match allow_devices(mount.as_fd()) {
                // Outside it could not be opened, either.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                allowed => allowed?,
            }
        }
        let Self { own_terminals, own_temporaries, .. } = self;
        Ok(Layer::Entered { own_terminals, own_temporaries })
    }
}
