//! The files and directories that a child cannot see in its mount namespace: an empty one is mounted over each.
//!
//! Hidden are also the sockets of servers of the user that run commands for all who connect: terminal multiplexers,
//! containers, the session bus, agents with keys, editors.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use pi_subagent_warden::is_transient;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, StatxAttributes, StatxFlags, fstat, mkdirat, openat, statx,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create, fsmount,
    fsopen, move_mount, unmount,
};

use super::copies::{copy, mount_onto};
use super::place::{Place, real};

/// The masked paths, and the paths inside them that are shown. All paths are without links.
#[derive(Debug, Default)]
pub(super) struct Masks {
    /// In the order in which they are mounted: outer paths before inner ones.
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    depth: usize,
    path: PathBuf,
    shows: bool,
}

impl Step {
    fn new(path: PathBuf, shows: bool) -> Self {
        Self { depth: path.components().count(), path, shows }
    }
}

/// The temporary place of the empty files and directories, so that they can be copied from there: kernels before 6.15 copy only
/// mounted ones. Every system has it, and nothing needs it in the meantime.
pub(super) const STAGING: &str = "/proc";
/// The names of the empty file and the empty directory.
const FILE: &str = "file";
const DIRECTORY: &str = "directory";
/// The number of attempts to open a path that disappears while it is mounted over.
const ATTEMPTS: u32 = 100;
/// No one may write, because it would have no effect.
const READ_ONLY: Mode = Mode::from_raw_mode(0o555);
/// The write bits of a mode.
const WRITABLE: u32 = 0o222;

/// Returns the existing paths without links, except the root.
fn real_paths(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(real(path)?.filter(|path| path.parent().is_some()));
    }
    Ok(found)
}

/// Returns true if a shown path makes `place` visible. A mask inside the shown path hides a place that lies in the mask.
fn shows(shown: &Path, masked: &[PathBuf], place: &Path) -> bool {
    let is_hidden =
        masked.iter().any(|mask| mask != shown && mask.starts_with(shown) && place.starts_with(mask));
    place.starts_with(shown) && !is_hidden
}

impl Masks {
    /// Plans masks over `hidden` and, if no place lies in them, over `servers`. Paths that do not exist or cannot be
    /// reached are left out. `shown` and the places stay visible.
    ///
    /// # Errors
    ///
    /// If a resource has run out, so that it is unknown whether a path exists.
    pub(super) fn new(
        hidden: &[PathBuf],
        shown: &[PathBuf],
        places: &[Place],
        servers: &[PathBuf],
    ) -> io::Result<Self> {
        let mut shown = real_paths(shown)?;
        let masked = real_paths(hidden)?;
        for place in places {
            let place = place.path();
            if !shown.iter().any(|shown| shows(shown, &masked, place)) {
                shown.push(place.to_owned());
            }
        }
        let mut hidden = masked;
        for server in real_paths(servers)? {
            if !shown.iter().any(|shown| shown.starts_with(&server)) {
                hidden.push(server);
            }
        }
        hidden.sort();
        hidden.dedup();
        // A path outside of all masks is visible anyway.
        shown.retain(|shown| hidden.iter().any(|hidden| shown.starts_with(hidden)));
        let mut steps: Vec<_> = shown.into_iter().map(|path| Step::new(path, true)).collect();
        steps.extend(hidden.into_iter().map(|path| Step::new(path, false)));
        steps.sort();
        Ok(Self { steps })
    }

    /// Returns true if a path lies in a mask.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.steps.iter().any(|step| path.starts_with(&step.path))
    }

    /// Mounts the masks and the shown paths in this mount namespace.
    pub(super) fn mount(&self) -> io::Result<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let shown = |step: &Step| if step.shows { copy(CWD, &step.path).map(Some) } else { Ok(None) };
        let shown = self.steps.iter().map(shown).collect::<io::Result<Vec<_>>>()?;
        let staging = self.make_staging()?;
        move_mount(&staging, "", CWD, STAGING, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        let made = self
            .steps
            .iter()
            .zip(shown)
            .try_for_each(|(step, shown)| self.mount_step(step, shown.as_ref(), &staging));
        unmount(STAGING, UnmountFlags::DETACH)?;
        made
    }

    /// Mounts one step. A server may end or start between the check of its socket and the mount over it. Then the current entry
    /// is mounted over.
    fn mount_step(&self, step: &Step, shown: Option<&OwnedFd>, staging: &OwnedFd) -> io::Result<()> {
        let missing = io::Error::from(Errno::NOENT).raw_os_error();
        for _ in 1..ATTEMPTS {
            match self.mount_step_once(step, shown, staging) {
                Err(error) if error.raw_os_error() == missing => {}
                result => return result,
            }
        }
        self.mount_step_once(step, shown, staging)
    }

    fn mount_step_once(&self, step: &Step, shown: Option<&OwnedFd>, staging: &OwnedFd) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let target = match openat(CWD, &step.path, flags, Mode::empty()) {
            // It no longer exists, or an outer mask already covers it.
            Err(Errno::NOENT) => return Ok(()),
            target => target?,
        };
        match shown {
            Some(shown) => mount_onto(shown, &target),
            None => mount_onto(copy(staging, self.name(step, &target)?.as_str())?, &target),
        }
    }

    /// Makes a file system with an empty file, an empty directory, and a directory for each mask in which something is
    /// shown, with empty ones to mount that onto.
    fn make_staging(&self) -> io::Result<OwnedFd> {
        let kind = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(kind.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let staging = fsmount(kind.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        make_file(&staging, Path::new(FILE))?;
        mkdirat(&staging, DIRECTORY, READ_ONLY)?;
        for (number, mask) in self.steps.iter().enumerate() {
            let inside: Vec<_> = self.shown_in(mask).collect();
            if mask.shows || inside.is_empty() {
                continue;
            }
            let top = PathBuf::from(number.to_string());
            mkdirat(&staging, &top, Mode::RWXU)?;
            for step in inside {
                let path = top.join(step.path.strip_prefix(&mask.path).unwrap_or(&step.path));
                make(&staging, &path, step.path.is_dir())?;
            }
        }
        Ok(staging)
    }

    fn shown_in(&self, mask: &Step) -> impl Iterator<Item = &Step> {
        self.steps
            .iter()
            .filter(|step| step.shows && step.path.starts_with(&mask.path) && step.path != mask.path)
    }

    /// Returns the name of the entry that a mask mounts.
    fn name(&self, mask: &Step, target: &OwnedFd) -> io::Result<String> {
        if FileType::from_raw_mode(fstat(target)?.st_mode) != FileType::Directory {
            return Ok(FILE.to_owned());
        }
        let number = self.steps.iter().position(|step| step == mask);
        let number = number.filter(|_| self.shown_in(mask).next().is_some());
        Ok(number.map_or_else(|| DIRECTORY.to_owned(), |number| number.to_string()))
    }
}

/// Returns true if a path exists and no mask of this process's mount namespace covers it. A mask disappears with its entry: the
/// kernel removes it when a process outside removes or replaces the entry.
///
/// # Errors
///
/// If a resource has run out, so that it is unknown whether a path exists.
pub(super) fn is_open(path: &Path) -> io::Result<bool> {
    let wanted = StatxFlags::TYPE | StatxFlags::MODE | StatxFlags::SIZE;
    let found = match statx(CWD, path, AtFlags::empty(), wanted) {
        Ok(found) => found,
        Err(error) if is_transient(&error.into()) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    // A mask is its own mount, which no one may write. A masked file is empty.
    let is_mount = found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
    let mode = found.stx_mode.into();
    let is_empty = match FileType::from_raw_mode(mode) {
        FileType::Directory => true,
        FileType::RegularFile => found.stx_size == 0,
        _ => false,
    };
    Ok(!(is_mount && is_empty && mode & WRITABLE == 0))
}

/// Makes a file or directory, and the directories it lies in.
pub(super) fn make(staging: &OwnedFd, path: &Path, is_directory: bool) -> io::Result<()> {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let mut directories: Vec<&Path> = above.collect();
    directories.reverse();
    directories.extend(is_directory.then_some(path));
    for directory in directories {
        match mkdirat(staging, directory, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if is_directory { Ok(()) } else { make_file(staging, path) }
}

fn make_file(staging: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    openat(staging, path, flags, Mode::from_raw_mode(0o444))?;
    Ok(())
}

/// The paths at which such servers listen on most systems.
const WELL_KNOWN: [&str; 26] = [
    "/run/user",
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/dbus",
    "/var/run/dbus",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/libvirt",
    "/run/lxd",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/run/incus",
    "/var/lib/incus/unix.socket",
    "/run/screen",
    "/run/tmux",
    "/run/cups",
    "/run/gssproxy.sock",
    "/run/pcscd",
    "/run/supervisor.sock",
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
];

/// The prefixes of the names that other such servers use below `/tmp`.
const IN_TMP: [&str; 10] =
    ["tmux-", "ssh-", "dbus-", "emacs", "nvim", "vscode-", "kitty-", "mykitty", "zellij-", "screens"];

/// The separators between a path and the rest of an environment variable's value: `unix:path=/run/bus,guid=1`, `/tmp/a,1,0`.
const SEPARATORS: [char; 4] = [',', ':', ';', '='];

/// The paths of such servers, with their directories where these hold nothing else. Some may not exist.
///
/// # Errors
///
/// If a resource has run out, so that it is unknown whether a path exists.
pub(super) fn servers() -> io::Result<Vec<PathBuf>> {
    let mut paths = known_servers();
    let in_tmp = match fs::read_dir("/tmp") {
        Err(error) if is_transient(&error) => return Err(error),
        entries => entries.into_iter().flatten().flatten(),
    };
    for entry in in_tmp {
        if entry.file_name().to_str().is_some_and(|name| IN_TMP.iter().any(|begin| name.starts_with(begin))) {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

/// Those whose names are known without looking for them: what may have started since, at little cost.
pub(super) fn known_servers() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = WELL_KNOWN.iter().map(PathBuf::from).collect();
    paths.push(format!("/tmp/tmux-{}", rustix::process::geteuid().as_raw()).into());
    // `SSH_AUTH_SOCK`, `DOCKER_HOST`, `DBUS_SESSION_BUS_ADDRESS`, `TMUX`, `VSCODE_IPC_HOOK`, …
    let values: Vec<OsString> = std::env::vars_os().map(|(_, value)| value).collect();
    let candidates = values.iter().flat_map(|value| value.to_str().unwrap_or_default().split(SEPARATORS));
    let mut candidates: Vec<&str> = candidates.map(|path| path.strip_prefix("//").unwrap_or(path)).collect();
    candidates.retain(|path| path.starts_with('/'));
    // Many name the same files and directories.
    candidates.sort_unstable();
    candidates.dedup();
    paths.extend(candidates.into_iter().filter(|path| is_socket(path)).map(PathBuf::from));
    paths
}

fn is_socket(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_place_in_a_mask_stays_visible_inside_of_a_shown_directory() {
        let directory = tempfile::tempdir().expect("a temporary directory is created");
        let root = directory.path().canonicalize().expect("the path exists");
        let hidden = root.join("agent/subagents");
        let place = root.join("agent/subagents/scratch");
        fs::create_dir_all(&place).expect("the directory is created");
        let places = [Place::open(&place).expect("the place is opened")];
        for shown in [vec![], vec![root.clone()], vec![root.join("agent")]] {
            let masks = Masks::new(std::slice::from_ref(&hidden), &shown, &places, &[])
                .expect("the masks are planned");
            let steps: Vec<_> = masks.steps.iter().map(|step| (step.path.clone(), step.shows)).collect();
            assert_eq!(steps, [(hidden.clone(), false), (place.clone(), true)], "{shown:?}");
        }
    }
}
