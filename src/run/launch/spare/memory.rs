//! Measures the memory that is available for children that wait for a run.

use std::fs;
use std::path::Path;

/// The memory of one waiting child, rounded up. `benchmark/RESULTS.md` has the measurement.
const CHILD_BYTES: u64 = 128 << 20;
/// The divisor for the available memory: a child boots ahead only if it needs at most 1/`SHARE` of it.
const SHARE: u64 = 4;
/// The same divisor for a child that may wait long: with more memory than this, it does not matter.
const PLENTY: u64 = 16;
/// The reserve, in children: with less memory available, no child waits. Smaller than [`SHARE`], so that a child that
/// was just booted does not end itself.
const RESERVE: u64 = 2;

/// The file in which Linux reports the available memory.
const MEMORY: &str = "/proc/meminfo";
/// The file that names the control group of this process, and the directory with the groups' limits.
const OWN_GROUP: &str = "/proc/self/cgroup";
const GROUPS: &str = "/sys/fs/cgroup";

/// The memory that programs can use without swapping out others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The available memory in bytes: the machine's, or less if the control groups of this process leave less. `None`
    /// if the system does not report it. Then only `spare.count` and `bootAhead` limit the waiting children.
    pub available: Option<u64>,
}

impl Memory {
    /// The estimated maximum memory of one waiting child, in bytes.
    pub const PER_CHILD: u64 = CHILD_BYTES;
    /// The memory that must be available for another waiting child, in bytes.
    pub const REQUIRED: u64 = CHILD_BYTES * SHARE;

    /// Reads the memory of this machine. Blocks.
    #[must_use]
    pub fn measure() -> Self {
        let machine = fs::read_to_string(MEMORY).ok().and_then(|text| kilobytes(&text, "MemAvailable:"));
        let groups =
            fs::read_to_string(OWN_GROUP).ok().and_then(|text| remaining_in_groups(&text, Path::new(GROUPS)));
        Self { available: machine.into_iter().chain(groups).min() }
    }

    /// Returns true if another child may boot ahead of its run.
    #[must_use]
    pub fn has_room(self) -> bool {
        self.available.is_none_or(|available| available >= Self::REQUIRED)
    }

    /// Returns true if a child that waits for minutes takes no memory that others could miss.
    #[must_use]
    pub fn is_plentiful(self) -> bool {
        self.available.is_some_and(|available| available >= CHILD_BYTES * PLENTY)
    }

    /// Returns true if there is too little memory for the waiting children.
    #[must_use]
    pub fn is_short(self) -> bool {
        self.available.is_some_and(|available| available < CHILD_BYTES * RESERVE)
    }
}

/// Reads a line of `/proc/meminfo`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the smallest remaining memory of this process's group and the groups around it. `None` without a limit.
fn remaining_in_groups(own: &str, root: &Path) -> Option<u64> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = root.join(path);
    let groups = group.ancestors().take_while(|group| group.starts_with(root));
    groups.filter_map(remaining_in).min()
}

fn remaining_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let max = number("memory.max")?;
    // The kernel reclaims this memory first if the group needs more.
    let cache = read("memory.stat").and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok())
    });
    Some(max.saturating_sub(number("memory.current")?.saturating_sub(cache.unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_child_waits_only_while_it_needs_a_small_part_of_the_available_memory() {
        for (available, has_room, is_short, is_plentiful) in [
            (Some(0), false, true, false),
            (Some(CHILD_BYTES * 2 - 1), false, true, false),
            (Some(CHILD_BYTES * 2), false, false, false),
            (Some(CHILD_BYTES * 4 - 1), false, false, false),
            (Some(CHILD_BYTES * 4), true, false, false),
            (Some(CHILD_BYTES * 16), true, false, true),
            (None, true, false, false),
        ] {
            let memory = Memory { available };
            assert_eq!(
                (memory.has_room(), memory.is_short(), memory.is_plentiful()),
                (has_room, is_short, is_plentiful),
                "{available:?}"
            );
        }
    }

    #[test]
    fn available_memory_is_parsed_from_the_kernel_s_format() {
        let text = "MemTotal:       16384 kB\nMemFree:         1024 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(2 << 20));
        assert_eq!(kilobytes("MemTotal: 1 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn the_smallest_remaining_group_limit_counts_and_cache_counts_as_free() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let inner = root.path().join("outer/inner");
        fs::create_dir_all(&inner).expect("the directory is created");
        let write = |folder: &Path, name: &str, text: &str| {
            fs::write(folder.join(name), text).expect("the file is written");
        };
        let outer = root.path().join("outer");
        assert_eq!(
            remaining_in_groups("0::/outer/inner\n", root.path()),
            None,
            "a group without a limit has no remaining memory"
        );
        for (folder, max, current) in [(&inner, "max\n", "5000\n"), (&outer, "8000\n", "6000\n")] {
            write(folder, "memory.max", max);
            write(folder, "memory.current", current);
        }
        assert_eq!(remaining_in_groups("0::/outer/inner\n", root.path()), Some(2000));
        write(&outer, "memory.stat", "anon 4500\ninactive_file 1500\n");
        assert_eq!(remaining_in_groups("1:cpu:/x\n0::/outer/inner\n", root.path()), Some(3500));
        assert_eq!(remaining_in_groups("1:cpu:/x\n", root.path()), None, "groups of cgroup v1 do not count");
    }
}
