//! Orders to a warden and its reports, each a message of words separated by spaces.

use std::fmt;
use std::path::PathBuf;
use std::str::SplitAsciiWhitespace;

/// The maximum number of characters of a path in a report. The rest of the message has to fit next to it.
const MAX_PATH: usize = 512;

/// Defines an enum whose values each have a word that stands for them in a message.
macro_rules! word_enum {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $( $(#[$value_about:meta])* $value:ident = $word:literal, )+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$value_about])* $value, )+ }

        impl $name {
            /// The word for it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$value => $word, )+
                }
            }

            fn from_word(word: &str) -> Option<Self> {
                [$(Self::$value),+].into_iter().find(|value| value.as_str() == word)
            }
        }
    };
}

word_enum! {
    /// An order from the host to its warden.
    pub enum Order {
        /// Start the child. The message carries the descriptor that becomes the child's standard input.
        Start = "start",
        /// Keep the paths of `unless_kept`: the child gets its work now, so it leaves something worth keeping.
        Keep = "keep",
        /// Keep the descriptor that the message carries open until no process of the tree is left. A lock that it holds is
        /// held until then, even if the host dies.
        Hold = "hold",
        /// Ask every process of the tree to exit.
        Ask = "ask",
        /// Kill every process of the tree.
        Kill = "kill",
        /// Exit: the host has removed the child's remaining files.
        Leave = "leave",
        /// Remove the child's remaining files, because the host cannot, and exit.
        Clean = "clean",
    }
}

/// A report from a warden to its host. After [`Report::Failed`] or [`Report::TreeEnded`] the warden waits for [`Order::Leave`],
/// and then exits. If the host dies first for any reason, the warden removes the files that the host would have removed.
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
        /// The path of the failure, if it has one. Control characters are replaced, and a long path is cut.
        path: Option<PathBuf>,
    },
    /// The child itself has ended; other processes of its tree may still run.
    Ended(Ending),
    /// The tree has exceeded a limit and is being killed.
    OverLimit(OverLimit),
    /// The tree's resource use so far. Sent at most once a second, and only if it has changed.
    Using(Tally),
    /// The tree has ended, except for the processes counted by [`Tally::remaining`].
    TreeEnded(Tally),
}

word_enum! {
    /// A kernel mechanism that holds or restricts a tree.
    pub enum Mechanism {
        /// Landlock, which refuses writes.
        Landlock = "landlock",
        /// A mount namespace in which all but the writable paths is mounted read-only.
        MountNamespace = "mount-ns",
        /// A filter of system calls.
        Seccomp = "seccomp",
        /// A separate sandbox for the programs that the child's tools start. The host adds it to the warden's report.
        ToolSandbox = "tool-sandbox",
        /// A pid namespace that dies with the warden.
        PidNamespace = "pid-ns",
        /// A control group that holds the tree.
        Cgroup = "cgroup",
    }
}

word_enum! {
    /// The stage of a start that failed.
    pub enum Stage {
        /// Setting up the warden itself.
        Warden = "warden",
        /// Applying the sandbox.
        Sandbox = "sandbox",
        /// Creating the pid namespace.
        Namespace = "namespace",
        /// Executing the program.
        Exec = "exec",
    }
}

/// The exit status of the child itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// Its number.
        number: i32,
        /// True if there is a core dump.
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

word_enum! {
    /// The kinds of limits.
    pub enum LimitKind {
        /// Resident memory, in bytes.
        Memory = "memoryBytes",
        /// Processes at the same time.
        Processes = "processes",
        /// CPU time, in seconds.
        Cpu = "cpuSeconds",
        /// Open descriptors.
        OpenFiles = "openFiles",
    }
}

/// The resource use of a tree from its start to its end.
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
    pub remaining: u64,
}

/// Returns the problem of a sandbox whose setup failed with this error number at some path, where the text of the system
/// would mislead.
#[must_use]
pub fn sandbox_problem(errno: i32) -> Option<&'static str> {
    /// `E2BIG` on Linux, the only system with a sandbox.
    const TOO_FULL: i32 = 7;
    (errno == TOO_FULL).then_some(
        "it has too many entries to hide a path in it: move some to another directory, so that at most \
         20000 files and directories remain",
    )
}

impl Order {
    /// Parses a message; `None` when this version does not know it.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        Self::from_word(std::str::from_utf8(message).ok()?)
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
            Self::Failed { stage, errno, path } => {
                write!(f, "failed {} {errno}", stage.as_str())?;
                let Some(path) = path else { return Ok(()) };
                write!(f, " {}", shown(&path.to_string_lossy()))
            }
            Self::Ended(Ending::Code(code)) => write!(f, "ended code {code}"),
            Self::Ended(Ending::Signal { number, core }) => {
                write!(f, "ended signal {number} {}", u8::from(*core))
            }
            Self::OverLimit(OverLimit { limit, value, allowed, pid, name }) => {
                write!(f, "over {} {value} {allowed} {pid} {name}", limit.as_str())
            }
            Self::Using(tally) => write!(f, "using {tally}"),
            Self::TreeEnded(tally) => write!(f, "gone {tally}"),
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
            "started" => Self::Started(words.filter_map(Mechanism::from_word).collect()),
            "failed" => Self::Failed {
                stage: Stage::from_word(words.next()?)?,
                errno: number(&mut words)?,
                // A path may have spaces.
                path: text
                    .splitn(4, ' ')
                    .nth(3)
                    .filter(|path| !path.is_empty())
                    .map(|path| shown(path).into()),
            },
            "ended" => Self::Ended(match words.next()? {
                "code" => Ending::Code(number(&mut words)?),
                "signal" => {
                    Ending::Signal { number: number(&mut words)?, core: number::<u8>(&mut words)? != 0 }
                }
                _ => return None,
            }),
            "over" => Self::OverLimit(OverLimit {
                limit: LimitKind::from_word(words.next()?)?,
                value: number(&mut words)?,
                allowed: number(&mut words)?,
                pid: number(&mut words)?,
                name: words.collect::<Vec<_>>().join(" "),
            }),
            "using" => Self::Using(Tally::read(&mut words)?),
            "gone" => Self::TreeEnded(Tally::read(&mut words)?),
            _ => return None,
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peak_rss_bytes, cpu_ms, processes, remaining } = self;
        write!(f, "{peak_rss_bytes} {cpu_ms} {processes} {remaining}")
    }
}

impl Tally {
    fn read(words: &mut SplitAsciiWhitespace<'_>) -> Option<Self> {
        Some(Self {
            peak_rss_bytes: number(words)?,
            cpu_ms: number(words)?,
            processes: number(words)?,
            remaining: number(words)?,
        })
    }
}

/// Returns a path without control characters, cut to its limit.
fn shown(path: &str) -> String {
    let shown = |letter: char| if letter.is_control() { '?' } else { letter };
    path.chars().take(MAX_PATH).map(shown).collect()
}

fn number<T: std::str::FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_survives_the_round_trip() {
        for order in [Order::Start, Order::Keep, Order::Ask, Order::Kill, Order::Leave, Order::Clean] {
            assert_eq!(Order::parse(order.as_str().as_bytes()), Some(order));
        }
        for report in [
            Report::Started(vec![]),
            Report::Started(vec![
                Mechanism::Landlock,
                Mechanism::MountNamespace,
                Mechanism::Seccomp,
                Mechanism::ToolSandbox,
                Mechanism::PidNamespace,
                Mechanism::Cgroup,
            ]),
            Report::Grouped("/sys/fs/cgroup/a  b".into()),
            Report::Failed { stage: Stage::Exec, errno: 2, path: None },
            Report::Failed { stage: Stage::Sandbox, errno: 22, path: Some("/a  b/.mcp.json".into()) },
            Report::Ended(Ending::Code(255)),
            Report::Ended(Ending::Signal { number: 11, core: true }),
            Report::OverLimit(OverLimit {
                limit: LimitKind::Memory,
                value: u64::MAX,
                allowed: 1,
                pid: 9,
                name: "tsc --watch".into(),
            }),
            Report::Using(Tally { peak_rss_bytes: 1, cpu_ms: 2, processes: 3, remaining: 0 }),
            Report::TreeEnded(Tally { peak_rss_bytes: 1, cpu_ms: 2, processes: 3, remaining: 4 }),
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
