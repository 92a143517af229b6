//! The child's own directories for temporary files and for shared memory.
//!
//! Many programs ignore `TMPDIR` and create files in `/tmp`, and C libraries keep POSIX semaphores and shared memory in
//! `/dev/shm`. In its mount namespace a child gets both in memory. They share one bound and vanish with the namespace.
//!
//! `/tmp` is an overlay. The child reads the files of other programs under their names, because a task may name one, and
//! its changes stay in its own memory. A socket in the overlay has another inode than the socket of its server, so no server can
//! be reached through it. `/dev/shm` is empty, because shared memory concerns running programs only.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use pi_subagent_warden::is_transient;
use rustix::fs::{AtFlags, CWD, FileType, Mode, StatVfsMountFlags, chmodat, fstat, mkdirat, statvfs};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, unmount,
};

use super::copies::{NOTHING, copy, mount_onto};
use super::masks::{STAGING, make};
use super::place::{Place, open_without_links, real};
use crate::unavailable::Unavailable;

/// The directory in which programs put temporary files.
pub(super) const TEMPORARY: &str = "/tmp";
/// The directory in which C libraries keep POSIX semaphores and shared memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// Both directories.
pub(super) const TEMPORARIES: [&str; 2] = [TEMPORARY, SHARED_MEMORY];

/// A child gets at most this part of the machine's memory: one eighth.
const SHARE: u64 = 8;
/// The bytes of the bound for each file or directory that may exist. Each takes about a kilobyte of the kernel's
/// memory, which the bound does not count.
const BYTES_PER_FILE: u64 = 8 << 10;
/// The names of the directories in the memory: two for the overlay, one for `/dev/shm`.
const UPPER: &str = "upper";
const WORK: &str = "work";
const SHARED: &str = "shm";
/// Everyone may create files, and remove only their own.
const ANYONE_MAY_CREATE: Mode = Mode::from_raw_mode(0o1777);

/// The plan for both directories of one child.
#[derive(Debug, Default)]
pub(super) struct Temporaries {
    /// The bound of both together, in bytes.
    bytes: u64,
    /// The machine's files and directories below them that remain visible. All paths are without links.
    visible: Vec<PathBuf>,
}

/// A copy of the mount of a file or directory that remains visible.
struct VisibleMount {
    path: PathBuf,
    mount: OwnedFd,
}

impl Temporaries {
    /// Plans directories of at most `bytes` together, in which `places` and `shown` remain the machine's.
    ///
    /// # Errors
    ///
    /// If a resource has run out.
    pub(super) fn new(bytes: u64, places: &[Place], shown: &[PathBuf]) -> io::Result<Self> {
        let mut visible: Vec<PathBuf> = places.iter().map(|place| place.path().to_owned()).collect();
        for path in shown {
            visible.extend(real(path)?);
        }
        Ok(Self { bytes, visible })
    }

    /// Mounts both directories in this mount namespace, and returns the mounts. They are not there after an error.
    ///
    /// # Errors
    ///
    /// If this machine does not allow it, or a resource has run out.
    pub(super) fn mount(&self) -> io::Result<[OwnedFd; 2]> {
        for path in TEMPORARIES.map(Path::new) {
            if real(path)?.is_none_or(|real| real != path) {
                return Err(Errno::LOOP.into());
            }
        }
        let visible = self.visible_mounts()?;
        let [overlay, shared] = self.make()?;
        mount_at(&overlay, TEMPORARY)?;
        let shown = mount_at(&shared, SHARED_MEMORY).and_then(|()| mount_visible(&visible, &shared));
        if let Err(error) = shown {
            for path in TEMPORARIES {
                // The second one may be missing.
                let _ = unmount(path, UnmountFlags::DETACH);
            }
            return Err(error);
        }
        Ok([overlay, shared])
    }

    /// Copies the mounts of the paths that remain visible. Only outer ones are copied, because each copy has everything
    /// below it.
    fn visible_mounts(&self) -> io::Result<Vec<VisibleMount>> {
        let is_inside = |path: &PathBuf| TEMPORARIES.iter().any(|own| path.starts_with(own));
        // An overlay does not show other mounts below the directory.
        let mut paths: Vec<PathBuf> = self
            .visible
            .iter()
            .filter(|path| is_inside(path))
            .cloned()
            .chain(mounts_in(TEMPORARY)?)
            .collect();
        paths.sort();
        let mut visible: Vec<VisibleMount> = Vec::new();
        for path in paths {
            if visible.iter().any(|outer| path.starts_with(&outer.path)) {
                continue;
            }
            match open_without_links(&path).and_then(|found| copy(found, NOTHING)) {
                Ok(mount) => visible.push(VisibleMount { path, mount }),
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(visible)
    }

    /// Makes the mounts of `/tmp` and `/dev/shm`, on the same memory.
    fn make(&self) -> io::Result<[OwnedFd; 2]> {
        let memory = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        let bytes = bound(self.bytes);
        fsconfig_set_string(memory.as_fd(), "size", bytes.to_string())?;
        fsconfig_set_string(memory.as_fd(), "nr_inodes", (bytes / BYTES_PER_FILE).to_string())?;
        fsconfig_set_string(memory.as_fd(), "mode", "0700")?;
        let memory = mount_unattached(&memory, SHARED_MEMORY)?;
        for (name, mode) in [(UPPER, ANYONE_MAY_CREATE), (WORK, Mode::RWXU), (SHARED, ANYONE_MAY_CREATE)] {
            mkdirat(&memory, name, mode)?;
            // The process may create files with fewer rights.
            chmodat(&memory, name, mode, AtFlags::empty())?;
        }
        // An overlay is made of paths.
        mount_at(&memory, STAGING)?;
        let made = overlay().and_then(|overlay| Ok([overlay, copy(&memory, SHARED)?]));
        unmount(STAGING, UnmountFlags::DETACH)?;
        made
    }
}

/// The bound in bytes, which depends on the machine's memory.
fn bound(bytes: u64) -> u64 {
    let machine = rustix::system::sysinfo();
    #[expect(clippy::useless_conversion, reason = "the number has half the size on 32-bit systems")]
    let memory = u64::from(machine.totalram).saturating_mul(machine.mem_unit.into());
    bytes.min(memory / SHARE)
}

/// Makes an overlay over `/tmp`, whose changes go into the memory that is mounted at [`STAGING`].
fn overlay() -> io::Result<OwnedFd> {
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let path = |name| format!("{STAGING}/{name}");
    fsconfig_set_string(overlay.as_fd(), "lowerdir", TEMPORARY)?;
    fsconfig_set_string(overlay.as_fd(), "upperdir", path(UPPER))?;
    fsconfig_set_string(overlay.as_fd(), "workdir", path(WORK))?;
    // Other attributes need rights over the whole machine. These also switch off redirections, which would be a way to a
    // file by another name.
    fsconfig_set_flag(overlay.as_fd(), "userxattr")?;
    mount_unattached(&overlay, TEMPORARY)
}

/// Mounts a new file system that replaces a directory, without attaching it. Where the machine's directory does not allow
/// programs to be executed, the new one does not, either.
fn mount_unattached(kind: &OwnedFd, replaced: &str) -> io::Result<OwnedFd> {
    fsconfig_create(kind.as_fd())?;
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    if statvfs(replaced)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        attributes |= MountAttrFlags::MOUNT_ATTR_NOEXEC;
    }
    Ok(fsmount(kind.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

fn mount_at(mount: &OwnedFd, path: &str) -> io::Result<()> {
    Ok(move_mount(mount, NOTHING, CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Mounts the copies at their old paths.
fn mount_visible(visible: &[VisibleMount], shared: &OwnedFd) -> io::Result<()> {
    for VisibleMount { path, mount } in visible {
        if let Ok(name) = path.strip_prefix(SHARED_MEMORY) {
            let is_directory = FileType::from_raw_mode(fstat(mount)?.st_mode) == FileType::Directory;
            make(shared, name, is_directory)?;
        }
        match open_without_links(path).and_then(|target| mount_onto(mount, target)) {
            Err(error) if !is_missing(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the reason why the kernel refused the overlay over `/tmp`.
pub(super) fn refused_overlay() -> Unavailable {
    let below = mounts_in(TEMPORARY).unwrap_or_default().into_iter().next();
    below.map_or(Unavailable::OverlayRefused, Unavailable::MountBelow)
}

/// Returns the reason why one of the directories cannot be covered. `None` if both are directories by now.
pub(super) fn unusable_temporary() -> Option<Unavailable> {
    TEMPORARIES.into_iter().find_map(|path| match real(Path::new(path)) {
        Ok(None) => Some(Unavailable::NoTemporary(path)),
        Ok(Some(real)) if real != Path::new(path) => Some(Unavailable::LinkedTemporary(path)),
        _ => None,
    })
}

/// Returns true if the file has been removed.
fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound && !is_transient(error)
}

/// The paths below a directory at which something is mounted.
fn mounts_in(directory: &str) -> io::Result<Vec<PathBuf>> {
    let mounts = fs::read("/proc/self/mountinfo")?;
    let path = |line: &[u8]| Some(unescaped(line.split(|byte| *byte == b' ').nth(4)?));
    let paths = mounts.split(|byte| *byte == b'\n').filter_map(path);
    Ok(paths.filter(|path| path.starts_with(directory) && path != Path::new(directory)).collect())
}

/// A path of `mountinfo`, in which the kernel writes some bytes as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *byte == b'\\').and_then(|three| str::from_utf8(three).ok());
        if let Some(code) = digits.and_then(|three| u8::from_str_radix(three, 8).ok()) {
            bytes.push(code);
            rest = &after[3..];
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_mount_point_is_decoded() {
        for (text, path) in [
            ("/tmp/a", "/tmp/a"),
            (r"/tmp/a\040b\134", r"/tmp/a b\"),
            (r"/tmp/\12", r"/tmp/\12"),
            (r"\9", r"\9"),
        ] {
            assert_eq!(unescaped(text.as_bytes()), Path::new(path), "{text}");
        }
    }

    #[test]
    fn a_child_gets_at_most_a_share_of_the_memory() {
        assert_eq!(bound(4096), 4096);
        assert!(bound(u64::MAX) < u64::MAX / SHARE);
    }
}
