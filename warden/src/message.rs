//! Orders to a warden and its reports, each a message of words separated by spaces.

use std::fmt;
use std::path::PathBuf;
use std::str::SplitAsciiWhitespace;

/// An order from the host to its warden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Start the child. The message carries the descriptor that becomes the child's standard input.
    Start,
    /// Keep the paths of `unless_kept`: the child gets its work now, so it leaves something worth keeping.
    Keep,
    /// Ask every process of the tree to exit.
    Ask,
    /// Kill every process of the tree.
    Kill,
    /// Exit: the host has read the last report, and removes what the child leaves.
    Leave,
}

/// A report from a warden to its host. After [`Report::Failed`] or [`Report::Gone`] the warden exits as soon as it gets
/// [`Order::Leave`], or the host has died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The control group of the tree. Sent before [`Report::Started`], if there is one.
    Grouped(PathBuf),
    /// The child has executed its program, held by these mechanisms.
    Started(Vec<Mechanism>),
    /// The child was not started; nothing is left running.
    Failed {
        /// The stage that failed.
        stage: Stage,
        /// The system's error number.
        errno: i32,
    },
    /// The child itself has ended; other processes of its tree may still run.
    Ended(Ending),
    /// The tree has exceeded a limit and is being killed.
    OverLimit(OverLimit),
    /// What the tree has used so far. Sent at most once a second, and only when it has changed.
    Using(Tally),
    /// The tree is gone, except for the processes that [`Tally::left`] counts.
    Gone(Tally),
}

/// A kernel mechanism that holds or restricts a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Landlock, which refuses writes.
    Landlock,
    /// A mount namespace in which all but the writable paths is mounted read-only.
    MountNamespace,
    /// A pid namespace that dies with the warden.
    PidNamespace,
    /// A control group that holds the tree.
    Cgroup,
}

/// The stage of a start that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Setting up the warden itself.
    Warden,
    /// Applying the sandbox.
    Sandbox,
    /// Creating the pid namespace.
    Namespace,
    /// Executing the program.
    Exec,
}

/// How the child itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// Its number.
        number: i32,
        /// Whether there is a core dump.
        core: bool,
    },
}

/// A limit that was exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// The kind of limit.
    pub limit: LimitKind,
    /// The value measured over the whole tree, in the unit of the limit.
    pub value: u64,
    /// The configured limit.
    pub allowed: u64,
    /// The process with the largest share.
    pub pid: u32,
    /// The name of that process; control characters are replaced.
    pub name: String,
}

/// The kinds of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Resident memory, in bytes.
    Memory,
    /// Processes at the same time.
    Processes,
    /// CPU time, in seconds.
    Cpu,
    /// Open descriptors.
    OpenFiles,
}

/// What a tree used from its start to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The most resident memory at one time, over all processes. Sampled, but never less than the largest single
    /// process.
    pub peak_rss_bytes: u64,
    /// CPU time of all processes, in milliseconds.
    pub cpu_ms: u64,
    /// The most processes at one time. Sampled.
    pub processes: u64,
    /// Processes that not even SIGKILL ended.
    pub left: u64,
}

/// Each value with the word that stands for it in a message.
type Words<T> = &'static [(T, &'static str)];

const ORDERS: Words<Order> = &[
    (Order::Start, "start"),
    (Order::Keep, "keep"),
    (Order::Ask, "ask"),
    (Order::Kill, "kill"),
    (Order::Leave, "leave"),
];

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
    /// The text of the message.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        word(ORDERS, self)
    }

    /// Parses a message; `None` when this version does not know it.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        value(ORDERS, std::str::from_utf8(message).ok()?)
    }
}

impl Mechanism {
    /// Its name in messages and results.
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
    /// The name of the setting under `limits`.
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
    /// Parses a message; `None` when this version does not know it.
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
    fn every_message_survives_the_round_trip() {
        for order in [Order::Start, Order::Keep, Order::Ask, Order::Kill, Order::Leave] {
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
    fn malformed_messages_are_rejected() {
        for message in ["", "ended", "ended code", "gone 1 2 3", "failed soon 2", "\u{0}"] {
            assert_eq!(Report::parse(message.as_bytes()), None, "{message:?}");
            assert_eq!(Order::parse(message.as_bytes()), None, "{message:?}");
        }
        assert_eq!(Report::parse(b"\xff"), None);
    }
}
