//! How much memory is left for children that wait.

use std::fs;
use std::path::Path;

/// What one waiting child takes, rounded up; `benchmark/RESULTS.md` has the figure.
const CHILD: u64 = 128 << 20;
/// A child is booted to wait only if it takes at most this part of what is available.
const SHARE: u64 = 4;
/// While less than this many children's worth is available, none waits. Less than [`SHARE`], so that one that was just
/// booted does not end itself.
const RESERVE: u64 = 2;

/// Where Linux says what is available.
const MEMORY: &str = "/proc/meminfo";
/// Where it says to which control group this process belongs, and where their limits are.
const OWN_GROUP: &str = "/proc/self/cgroup";
const GROUPS: &str = "/sys/fs/cgroup";

/// The memory that programs can have without pushing others out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In bytes, for this process as its control groups limit it. `None` where the system does not say: then only
    /// `spare.count` bounds how many children wait.
    pub available: Option<u64>,
}

impl Memory {
    /// What one waiting child takes at most, in bytes: an estimate.
    pub const OF_ONE: u64 = CHILD;
    /// What has to be available for another one, in bytes.
    pub const FOR_ANOTHER: u64 = CHILD * SHARE;

    /// Looks at the machine. Blocks.
    #[must_use]
    pub fn look() -> Self {
        let machine = fs::read_to_string(MEMORY).ok().and_then(|text| kilobytes(&text, "MemAvailable:"));
        let groups =
            fs::read_to_string(OWN_GROUP).ok().and_then(|text| left_in_groups(&text, Path::new(GROUPS)));
        Self { available: machine.into_iter().chain(groups).min() }
    }

    /// Whether another child may be booted to wait.
    #[must_use]
    pub fn has_room(self) -> bool {
        self.available.is_none_or(|available| available >= Self::FOR_ANOTHER)
    }

    /// Whether children that wait have to go.
    #[must_use]
    pub fn is_short(self) -> bool {
        self.available.is_some_and(|available| available < CHILD * RESERVE)
    }
}

/// A line of `/proc/meminfo`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least that a group of this process, or one around it, has left. `None` without a limit.
fn left_in_groups(own: &str, root: &Path) -> Option<u64> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = root.join(path);
    let groups = group.ancestors().take_while(|group| group.starts_with(root));
    groups.filter_map(left_in).min()
}

fn left_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let most = number("memory.max")?;
    // The kernel takes this back first when the group needs memory.
    let cache = read("memory.stat").and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok())
    });
    Some(most.saturating_sub(number("memory.current")?.saturating_sub(cache.unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_waits_only_while_it_takes_a_small_part_of_what_is_available() {
        for (available, has_room, is_short) in [
            (Some(0), false, true),
            (Some(CHILD * 2 - 1), false, true),
            (Some(CHILD * 2), false, false),
            (Some(CHILD * 4 - 1), false, false),
            (Some(CHILD * 4), true, false),
            (None, true, false),
        ] {
            let memory = Memory { available };
            assert_eq!((memory.has_room(), memory.is_short()), (has_room, is_short), "{available:?}");
        }
    }

    #[test]
    fn what_is_available_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal:       16384 kB\nMemFree:         1024 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(2 << 20));
        assert_eq!(kilobytes("MemTotal: 1 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn the_tightest_group_around_the_process_counts_and_its_cache_is_free() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let inner = root.path().join("outer/inner");
        fs::create_dir_all(&inner).expect("made");
        let write =
            |folder: &Path, name: &str, text: &str| fs::write(folder.join(name), text).expect("written");
        let outer = root.path().join("outer");
        assert_eq!(left_in_groups("0::/outer/inner\n", root.path()), None, "no limit");
        for (folder, most, current) in [(&inner, "max\n", "5000\n"), (&outer, "8000\n", "6000\n")] {
            write(folder, "memory.max", most);
            write(folder, "memory.current", current);
        }
        assert_eq!(left_in_groups("0::/outer/inner\n", root.path()), Some(2000));
        write(&outer, "memory.stat", "anon 4500\ninactive_file 1500\n");
        assert_eq!(left_in_groups("1:cpu:/x\n0::/outer/inner\n", root.path()), Some(3500));
        assert_eq!(left_in_groups("1:cpu:/x\n", root.path()), None, "not this kind of groups");
    }
}
