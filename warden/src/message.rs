//! Orders to a warden and its reports: one line of words each.

use std::fmt;
use std::path::PathBuf;
use std::str::SplitAsciiWhitespace;

/// What a host asks of its warden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Start the child. The message carries the descriptor that becomes its standard input.
    Start,
    /// The child has its work: from now on it leaves something worth keeping.
    Keep,
    /// Ask every process of the tree to leave.
    Ask,
    /// End every process of the tree.
    Kill,
}

/// What a warden tells its host. After [`Report::Failed`] or [`Report::Gone`] it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The control group that the tree is in. Comes before [`Report::Started`], if there is one.
    Grouped(PathBuf),
    /// The child has executed its program, and this is what holds it.
    Started(Vec<Mechanism>),
    /// The child was not started, and nothing runs.
    Failed {
        /// What did not work.
        stage: Stage,
        /// The system's error number.
        errno: i32,
    },
    /// The child itself has ended; others of its tree may still be there.
    Ended(Ending),
    /// The tree has reached a limit and is being ended.
    OverLimit(OverLimit),
    /// What the tree has used so far. Comes once a second at most, and only when it is something else.
    Using(Tally),
    /// The tree has ended: but for [`Tally::left`], no process of it is there any more.
    Gone(Tally),
}

/// Something that the kernel does for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Landlock refuses writing.
    Landlock,
    /// A mount namespace in which everything else is mounted read-only.
    MountNamespace,
    /// A pid namespace that dies with the warden.
    PidNamespace,
    /// A control group that holds the tree.
    Cgroup,
}

/// What was being done when a start failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The warden made itself ready.
    Warden,
    /// The sandbox was applied.
    Sandbox,
    /// The namespace was made.
    Namespace,
    /// The program was executed.
    Exec,
}

/// How the child itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By leaving with this code.
    Code(i32),
    /// By this signal.
    Signal {
        /// Its number.
        number: i32,
        /// Whether there is a core dump.
        core: bool,
    },
}

/// A limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// Which one.
    pub limit: LimitKind,
    /// What was measured over the whole tree.
    pub value: u64,
    /// What was allowed.
    pub allowed: u64,
    /// The process with the largest share.
    pub pid: u32,
    /// Its name, of printable characters.
    pub name: String,
}

/// The kinds of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Resident memory, in bytes.
    Memory,
    /// Processes at once.
    Processes,
    /// Processor time, in seconds.
    Cpu,
    /// Open descriptors.
    OpenFiles,
}

/// What a tree used from its start to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The most resident memory at once, over all processes. Sampled, and never less than the largest single process.
    pub peak_rss_bytes: u64,
    /// Processor time of all processes.
    pub cpu_ms: u64,
    /// The most processes at once. Sampled.
    pub processes: u64,
    /// Processes that could not be ended, not even by force.
    pub left: u64,
}

/// Pairs of values and words.
type Words<T> = &'static [(T, &'static str)];

const ORDERS: Words<Order> =
    &[(Order::Start, "start"), (Order::Keep, "keep"), (Order::Ask, "ask"), (Order::Kill, "kill")];

const MECHANISMS: Words<Mechanism> = &[
    (Mechanism::Landlock, "landlock"),
    (Mechanism::MountNamespace, "mount-ns"),
    (Mechanism::PidNamespace, "pid-ns"),
    (Mechanism::Cgroup, "cgroup"),
];

const STAGES: Words<Stage> = &[
    (Stage::Warden, "warden"),
    (Stage::Sandbox, "sandbox"),
    (Stage::Namespace, "namespace"),
    (Stage::Exec, "exec"),
];

const LIMITS: Words<LimitKind> = &[
    (LimitKind::Memory, "memoryBytes"),
    (LimitKind::Processes, "processes"),
    (LimitKind::Cpu, "cpuSeconds"),
    (LimitKind::OpenFiles, "openFiles"),
];

fn word<T: Copy + PartialEq>(words: Words<T>, value: T) -> &'static str {
    words.iter().find(|(known, _)| *known == value).map_or("", |(_, word)| word)
}

fn value<T: Copy>(words: Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

impl Order {
    /// The message.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        word(ORDERS, self)
    }

    /// Reads a message; `None` for one that means nothing.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        value(ORDERS, std::str::from_utf8(message).ok()?)
    }
}

impl Mechanism {
    /// Its name in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        word(MECHANISMS, self)
    }
}

impl Stage {
    /// Its name in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        word(STAGES, self)
    }
}

impl LimitKind {
    /// The name of the setting below `limits`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        word(LIMITS, self)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(mechanisms) => {
                f.write_str("started")?;
                mechanisms.iter().try_for_each(|mechanism| write!(f, " {}", mechanism.as_str()))
            }
            Self::Grouped(path) => write!(f, "grouped {}", path.display()),
            Self::Failed { stage, errno } => write!(f, "failed {} {errno}", stage.as_str()),
            Self::Ended(Ending::Code(code)) => write!(f, "ended code {code}"),
            Self::Ended(Ending::Signal { number, core }) => {
                write!(f, "ended signal {number} {}", u8::from(*core))
            }
            Self::OverLimit(OverLimit { limit, value, allowed, pid, name }) => {
                write!(f, "over {} {value} {allowed} {pid} {name}", limit.as_str())
            }
            Self::Using(tally) => write!(f, "using {tally}"),
            Self::Gone(tally) => write!(f, "gone {tally}"),
        }
    }
}

impl Report {
    /// Reads a message; `None` for one that means nothing.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(message).ok()?;
        if let Some(path) = text.strip_prefix("grouped ") {
            return Some(Self::Grouped(path.into()));
        }
        let mut words = text.split_ascii_whitespace();
        Some(match words.next()? {
            "started" => Self::Started(words.filter_map(|word| value(MECHANISMS, word)).collect()),
            "failed" => Self::Failed { stage: value(STAGES, words.next()?)?, errno: number(&mut words)? },
            "ended" => Self::Ended(match words.next()? {
                "code" => Ending::Code(number(&mut words)?),
                "signal" => {
                    Ending::Signal { number: number(&mut words)?, core: number::<u8>(&mut words)? != 0 }
                }
                _ => return None,
            }),
            "over" => Self::OverLimit(OverLimit {
                limit: value(LIMITS, words.next()?)?,
                value: number(&mut words)?,
                allowed: number(&mut words)?,
                pid: number(&mut words)?,
                name: words.collect::<Vec<_>>().join(" "),
            }),
            "using" => Self::Using(Tally::read(&mut words)?),
            "gone" => Self::Gone(Tally::read(&mut words)?),
            _ => return None,
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peak_rss_bytes, cpu_ms, processes, left } = self;
        write!(f, "{peak_rss_bytes} {cpu_ms} {processes} {left}")
    }
}

impl Tally {
    fn read(words: &mut SplitAsciiWhitespace<'_>) -> Option<Self> {
        Some(Self {
            peak_rss_bytes: number(words)?,
            cpu_ms: number(words)?,
            processes: number(words)?,
            left: number(words)?,
        })
    }
}

fn number<T: std::str::FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_read_as_it_was_meant() {
        for order in [Order::Start, Order::Keep, Order::Ask, Order::Kill] {
            assert_eq!(Order::parse(order.as_str().as_bytes()), Some(order));
        }
        for report in [
            Report::Started(vec![]),
            Report::Started(vec![
                Mechanism::Landlock,
                Mechanism::MountNamespace,
                Mechanism::PidNamespace,
                Mechanism::Cgroup,
            ]),
            Report::Grouped("/sys/fs/cgroup/a  b".into()),
            Report::Failed { stage: Stage::Exec, errno: 2 },
            Report::Ended(Ending::Code(255)),
            Report::Ended(Ending::Signal { number: 11, core: true }),
            Report::OverLimit(OverLimit {
                limit: LimitKind::Memory,
                value: u64::MAX,
                allowed: 1,
                pid: 9,
                name: "tsc --watch".into(),
            }),
            Report::Using(Tally { peak_rss_bytes: 1, cpu_ms: 2, processes: 3, left: 0 }),
            Report::Gone(Tally { peak_rss_bytes: 1, cpu_ms: 2, processes: 3, left: 4 }),
        ] {
            assert_eq!(Report::parse(report.to_string().as_bytes()), Some(report));
        }
    }

    #[test]
    fn nonsense_is_no_message() {
        for message in ["", "ended", "ended code", "gone 1 2 3", "failed soon 2", "\u{0}"] {
            assert_eq!(Report::parse(message.as_bytes()), None, "{message:?}");
            assert_eq!(Order::parse(message.as_bytes()), None, "{message:?}");
        }
        assert_eq!(Report::parse(b"\xff"), None);
    }
}
