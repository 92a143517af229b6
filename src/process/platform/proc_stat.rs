//! Reads `/proc/<pid>/stat` on Linux.

use std::fs;

/// The fields of the file that are needed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) struct Stat {
    /// Whether the process still runs; a zombie does not.
    pub(in crate::process) alive: bool,
    pub(in crate::process) group: u32,
    pub(in crate::process) session: u32,
}

impl Stat {
    /// Reads the file; `None` when the process is gone.
    pub(in crate::process) fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The fields follow the program's name, which may itself contain anything, parentheses too: state, parent,
    /// group, session.
    fn parse(stat: &[u8]) -> Option<Self> {
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let text = String::from_utf8_lossy(&stat[end + 1..]);
        let mut fields = text.split_ascii_whitespace();
        let alive = !matches!(fields.next()?, "Z" | "X" | "x");
        Some(Self { alive, group: fields.nth(1)?.parse().ok()?, session: fields.next()?.parse().ok()? })
    }
}

/// The ids of all processes that this user can see.
pub(in crate::process) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_parsed_whatever_its_name() {
        for (label, stat, expected) in [
            ("sleeping", "41 (sleep) S 1 40 39 0 -1", Some((true, 40, 39))),
            ("stopped", "41 (sleep) T 1 40 39 0 -1", Some((true, 40, 39))),
            ("zombie", "41 (sleep) Z 1 40 39 0 -1", Some((false, 40, 39))),
            ("hostile name", "41 (x) Z 1 7) S 1 40 39 0 -1", Some((true, 40, 39))),
            ("cut short", "41 (sleep) S 1 40", None),
            ("cut in the name", "41 (sleep", None),
            ("empty", "", None),
        ] {
            let expected = expected.map(|(alive, group, session)| Stat { alive, group, session });
            assert_eq!(Stat::parse(stat.as_bytes()), expected, "{label}");
        }
    }
}
