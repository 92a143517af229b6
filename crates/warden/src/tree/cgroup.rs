//! A control group for the tree, through which the kernel kills all of it at once. It holds processes that fork without a pause,
//! and processes that have left their parents, their session and their environment.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pi_subagent_warden::remove_group;

use crate::sys::trial::in_a_fork_by;
use crate::sys::{self, Forked};
use crate::unavailable::Unavailable;

/// The prefix of the names of our groups.
const PREFIX: &str = "pi-subagent-";

/// The age from which an empty group counts as left behind. A younger one may be about to be entered.
const ABANDONED_AGE: Duration = Duration::from_secs(60);

/// A group below this process's own group. Dropping it removes it if no process is in it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    /// Opened at once, so that the tree can be killed by a warden that cannot open a file any more.
    kill: File,
}

impl Cgroup {
    /// Creates a group, and removes the groups that killed wardens have left behind.
    ///
    /// # Errors
    ///
    /// If cgroup v2 is missing, if this user may not create a group, or if the kernel cannot kill one (before 5.14).
    pub(crate) fn create() -> io::Result<Self> {
        let parent = own_directory()?;
        let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let path = parent.join(format!("{PREFIX}{:x}-{:x}", age.as_nanos(), std::process::id()));
        fs::create_dir(&path)?;
        let kill = File::options().write(true).open(path.join(KILL)).inspect_err(|_| {
            let _ = fs::remove_dir(&path);
        })?;
        remove_abandoned(&parent);
        Ok(Self { path, kill })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Forks; the new process, and everything it will start, is in the group.
    pub(crate) fn fork(&self) -> io::Result<Forked> {
        sys::fork_into(File::open(&self.path)?.as_fd())
    }

    /// Kills every process in it.
    pub(crate) fn kill(&self) {
        // If this fails, the walk over the tree still kills everything it finds.
        let _ = (&self.kill).write_all(b"1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = remove_group(&self.path);
    }
}

const KILL: &str = "cgroup.kill";

fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let has_prefix = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if has_prefix && age().is_some_and(|age| age > ABANDONED_AGE) {
            let _ = remove_group(&entry.path());
        }
    }
}

/// The directory of this process's own group in the cgroup v2 hierarchy.
fn own_directory() -> io::Result<PathBuf> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).ok_or_else(missing)?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    mounts.lines().find_map(|line| directory_in(line, Path::new(own))).ok_or_else(missing)
}

/// The directory of a group, if this line of `mountinfo` is a cgroup v2 mount that contains it.
fn directory_in(line: &str, group: &Path) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    kind.starts_with("cgroup2 ").then_some(())?;
    let mut fields = mount.split(' ').skip(3);
    let root = fields.next()?;
    let point = fields.next()?;
    // Escaped names are not decoded: this hierarchy is never mounted at such a path.
    Some(Path::new(point).join(group.strip_prefix(root).ok()?))
}

/// Probes whether a tree can get a control group here. Returns the directory in which it can.
pub(crate) fn cgroup() -> Result<String, Unavailable> {
    let group = Cgroup::create().map_err(Unavailable::CreateCgroup)?;
    // Making one is not enough: Docker's default filter, for one, leaves out the call that forks into it.
    in_a_fork_by(|| group.fork(), || Ok(())).map_err(Unavailable::EnterCgroup)?;
    Ok(group.path().parent().unwrap_or(Path::new("/")).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_below_any_mount() {
        let line = |root: &str, kind: &str| {
            format!("30 24 0:26 {root} /sys/fs/cgroup rw,nosuid - {kind} cgroup2 rw")
        };
        for (root, kind, group, expected) in [
            ("/", "cgroup2", "/", Some("/sys/fs/cgroup/")),
            ("/", "cgroup2", "/user.slice/a.scope", Some("/sys/fs/cgroup/user.slice/a.scope")),
            ("/docker/x", "cgroup2", "/docker/x/y", Some("/sys/fs/cgroup/y")),
            ("/docker/x", "cgroup2", "/elsewhere", None),
            ("/", "cgroup", "/", None),
        ] {
            let found = directory_in(&line(root, kind), Path::new(group));
            assert_eq!(found, expected.map(PathBuf::from), "{root} {kind} {group}");
        }
    }
}
