//! The state of processes in `/proc`, on Linux.

use std::fs;

/// The fields of `/proc/<pid>/stat` that a warden or its host needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The name of the program; control characters are replaced.
    pub name: String,
    /// True if the process still runs. A zombie does not.
    pub alive: bool,
    /// The id of its parent; 0 outside this pid namespace.
    pub parent: i32,
    /// The id of its process group.
    pub group: i32,
    /// The id of its session.
    pub session: i32,
    /// CPU time of the process and of the children it has waited for, in clock ticks.
    pub cpu_ticks: u64,
    /// Resident memory in pages.
    pub rss_pages: u64,
}

impl Stat {
    /// Reads the file; `None` if the process has ended.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The fields follow the program's name, which may itself contain anything, parentheses too.
    fn parse(stat: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stat);
        let open = text.find('(')?;
        let close = text.rfind(')')?;
        let name = text.get(open + 1..close)?.replace(char::is_control, "?");
        let fields: Vec<&str> = text[close + 1..].split_ascii_whitespace().collect();
        // Numbered as in proc(5), where the state is the third field.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let id = |field: usize| fields.get(field - 3)?.parse::<i32>().ok();
        Some(Self {
            name,
            alive: !matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: id(4)?,
            group: id(5)?,
            session: id(6)?,
            cpu_ticks: (14..=17).filter_map(number).sum(),
            rss_pages: number(24)?,
        })
    }
}

/// The ids of all processes that this user can see.
pub fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_parsed_with_any_name() {
        for (name, state, shown, alive) in [
            ("sleep", "S", "sleep", true),
            ("sleep", "T", "sleep", true),
            ("sleep", "Z", "sleep", false),
            ("x) Z 1 7", "S", "x) Z 1 7", true),
            ("a) b\n(c", "S", "a) b?(c", true),
        ] {
            let line =
                format!("41 ({name}) {state} 40 42 39 0 -1 4194304 1 0 0 0 5 6 7 8 20 0 1 0 99 1000 250 0 0");
            let expected = Stat {
                name: shown.into(),
                alive,
                parent: 40,
                group: 42,
                session: 39,
                cpu_ticks: 26,
                rss_pages: 250,
            };
            assert_eq!(Stat::parse(line.as_bytes()), Some(expected), "{line}");
        }
        for short in ["", "41", "41 (x", "41 (x) S", "41 (x) S 1 2", "41 (x) S 0 1 1 0 -1 0"] {
            assert_eq!(Stat::parse(short.as_bytes()), None, "{short}");
        }
    }
}
