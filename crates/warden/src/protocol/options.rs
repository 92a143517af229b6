//! The arguments of the warden.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// The reason why the options of a warden, or of its shell, cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// There is no argument with this name.
    #[error("unknown argument {}", name.display())]
    UnknownArgument {
        /// The name.
        name: OsString,
    },
    /// The shell has no option with this name.
    #[error("unknown option {}", name.display())]
    UnknownOption {
        /// The name.
        name: OsString,
    },
    /// The value is missing.
    #[error("{name} needs a value")]
    NoValue {
        /// The argument or option.
        name: String,
    },
    /// The value is not a number.
    #[error("{name} needs a number, not {}", value.display())]
    NotANumber {
        /// The argument or option.
        name: String,
        /// The value.
        value: OsString,
    },
    /// The value is neither `on` nor `off`.
    #[error("{name} needs on or off, not {}", value.display())]
    NotASwitch {
        /// The option.
        name: String,
        /// The value.
        value: OsString,
    },
    /// The command is missing.
    #[error("a program is missing after --")]
    NoProgram,
    /// The shell is missing, or its path is relative.
    #[error("the options name no shell")]
    NoShell,
    /// The end of the shell's options is missing.
    #[error("the options are cut short")]
    CutShort,
}

/// The options on the command line of a warden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// From the request to exit to the kill, when the warden ends the tree because its host has died.
    pub grace: Duration,
    /// The sandbox of the child; `None` leaves it unrestricted.
    pub sandbox: Option<Sandbox>,
    /// The limits of the whole tree.
    pub limits: Limits,
    /// The paths to remove once the tree has ended, unless the host has removed them and says so
    /// ([`Order::Leave`](crate::Order::Leave)).
    pub scratch: Vec<PathBuf>,
    /// Paths removed with `scratch`, unless the host has sent [`Order::Keep`](crate::Order::Keep).
    pub unless_kept: Vec<PathBuf>,
    /// The directory removed last, if it is empty by then.
    pub directory: Option<PathBuf>,
    /// A command, the program first, that is run last if the host has died.
    pub last_command: Vec<OsString>,
    /// True if the tree gets its own pid namespace, which dies with the warden, and an IPC namespace.
    pub pid_namespace: bool,
    /// The path of the program, then its arguments. Filled in when a child is started.
    pub command: Vec<OsString>,
}

/// The paths that a sandboxed child may write, and the user's files that it cannot see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Writable files and directories, by paths without links; a directory includes everything below it. They must exist.
    pub writable: Vec<PathBuf>,
    /// Files and directories below a writable one that stay read-only if the child gets a mount namespace. Missing ones are
    /// skipped. A writable path below one of them stays writable.
    pub protected: Vec<PathBuf>,
    /// True if modes, owners, times and attributes are protected too, as far as the kernel allows it.
    pub metadata: bool,
    /// The maximum size of the child's own `/tmp` and `/dev/shm` together, in bytes and at most an eighth of the memory. The
    /// child gets them if it has a mount namespace and the kernel has overlays. Writable or shown paths below them are the
    /// machine's.
    pub temporary_bytes: Option<u64>,
    /// Files and directories that the child cannot see, where it gets a mount namespace; missing ones are skipped.
    /// The warden adds the sockets of well-known servers.
    pub hidden: Vec<PathBuf>,
    /// Files and directories below a hidden one that the child still sees.
    pub shown: Vec<PathBuf>,
    /// Files and directories that the program can neither read nor list, with a mount namespace or without one; missing
    /// ones are skipped. Of the directories above them it can list only the working directory.
    pub unreadable: Vec<PathBuf>,
    /// Readable files and directories below an unreadable one, by paths without links; others are skipped.
    pub readable: Vec<PathBuf>,
    /// The largest file that the child may write, in bytes. Writing beyond fails with `EFBIG`.
    pub file_bytes: Option<u64>,
}

/// The limits of a whole tree; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Resident memory of all processes together, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processes at the same time.
    pub processes: Option<u64>,
    /// CPU time of all processes together, in seconds.
    pub cpu_seconds: Option<u64>,
    /// Open descriptors of all processes together.
    pub open_files: Option<u64>,
}

const GRACE: &str = "--grace-ms";
const READ_ONLY: &str = "--read-only";
const METADATA: &str = "--metadata";
const WRITABLE: &str = "--writable";
const PROTECTED: &str = "--protected";
const TEMPORARY_BYTES: &str = "--temporary-bytes";
const HIDDEN: &str = "--hidden";
const SHOWN: &str = "--shown";
const UNREADABLE: &str = "--unreadable";
const READABLE: &str = "--readable";
const FILE_BYTES: &str = "--file-bytes";
const SCRATCH: &str = "--scratch";
const UNLESS_KEPT: &str = "--unless-kept";
const DIRECTORY: &str = "--directory";
const LAST_COMMAND: &str = "--last-command";
const PID_NAMESPACE: &str = "--pid-namespace";
const MEMORY: &str = "--memory-bytes";
const PROCESSES: &str = "--processes";
const CPU: &str = "--cpu-seconds";
const OPEN_FILES: &str = "--open-files";
const COMMAND: &str = "--";

impl Options {
    /// Builds the arguments, without the program's own name.
    #[must_use]
    pub fn to_args(&self) -> Vec<OsString> {
        let Limits { memory_bytes, processes, cpu_seconds, open_files } = self.limits;
        let sandbox = self.sandbox.clone().unwrap_or_default();
        let numbers = [
            (GRACE, u64::try_from(self.grace.as_millis()).ok()),
            (MEMORY, memory_bytes),
            (PROCESSES, processes),
            (CPU, cpu_seconds),
            (OPEN_FILES, open_files),
            (FILE_BYTES, sandbox.file_bytes),
            (TEMPORARY_BYTES, sandbox.temporary_bytes),
        ];
        let paths = [
            (SCRATCH, &self.scratch[..]),
            (UNLESS_KEPT, &self.unless_kept),
            (DIRECTORY, self.directory.as_slice()),
            (WRITABLE, &sandbox.writable),
            (PROTECTED, &sandbox.protected),
            (HIDDEN, &sandbox.hidden),
            (SHOWN, &sandbox.shown),
            (UNREADABLE, &sandbox.unreadable),
            (READABLE, &sandbox.readable),
        ];
        let mut args = Vec::new();
        for (name, number) in numbers {
            args.extend(number.into_iter().flat_map(|number| [name.into(), number.to_string().into()]));
        }
        for (name, paths) in paths {
            args.extend(paths.iter().flat_map(|path| [name.into(), path.into()]));
        }
        args.extend(self.last_command.iter().flat_map(|word| [LAST_COMMAND.into(), word.clone()]));
        let flags = [
            (READ_ONLY, self.sandbox.is_some()),
            (METADATA, sandbox.metadata),
            (PID_NAMESPACE, self.pid_namespace),
            (COMMAND, true),
        ];
        args.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.into()));
        args.extend(self.command.iter().cloned());
        args
    }

    /// Parses the arguments, without the program's own name.
    ///
    /// # Errors
    ///
    /// For an unknown argument, a missing or malformed value, and a missing command.
    pub fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, OptionsError> {
        let mut args = args.into_iter();
        let mut options = Self::default();
        let mut sandbox = Sandbox::default();
        let mut read_only = false;
        while let Some(arg) = args.next() {
            let unknown = || OptionsError::UnknownArgument { name: arg.clone() };
            let name = arg.to_str().ok_or_else(unknown)?;
            let mut value = || args.next().ok_or_else(|| OptionsError::NoValue { name: name.to_owned() });
            match name {
                GRACE => options.grace = Duration::from_millis(number(name, &value()?)?),
                MEMORY => options.limits.memory_bytes = Some(number(name, &value()?)?),
                PROCESSES => options.limits.processes = Some(number(name, &value()?)?),
                CPU => options.limits.cpu_seconds = Some(number(name, &value()?)?),
                OPEN_FILES => options.limits.open_files = Some(number(name, &value()?)?),
                SCRATCH => options.scratch.push(value()?.into()),
                UNLESS_KEPT => options.unless_kept.push(value()?.into()),
                DIRECTORY => options.directory = Some(value()?.into()),
                LAST_COMMAND => options.last_command.push(value()?),
                WRITABLE => sandbox.writable.push(value()?.into()),
                PROTECTED => sandbox.protected.push(value()?.into()),
                HIDDEN => sandbox.hidden.push(value()?.into()),
                SHOWN => sandbox.shown.push(value()?.into()),
                UNREADABLE => sandbox.unreadable.push(value()?.into()),
                READABLE => sandbox.readable.push(value()?.into()),
                FILE_BYTES => sandbox.file_bytes = Some(number(name, &value()?)?),
                TEMPORARY_BYTES => sandbox.temporary_bytes = Some(number(name, &value()?)?),
                READ_ONLY => read_only = true,
                METADATA => sandbox.metadata = true,
                PID_NAMESPACE => options.pid_namespace = true,
                COMMAND => {
                    options.command = args.by_ref().collect();
                    break;
                }
                _ => return Err(unknown()),
            }
        }
        if options.command.is_empty() {
            return Err(OptionsError::NoProgram);
        }
        options.sandbox = read_only.then_some(sandbox);
        Ok(options)
    }
}

pub(crate) fn number(name: &str, value: &OsStr) -> Result<u64, OptionsError> {
    let number = value.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| OptionsError::NotANumber { name: name.to_owned(), value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_round_trip_through_arguments() {
        let all = Options {
            grace: Duration::from_millis(1500),
            sandbox: Some(Sandbox {
                writable: vec!["/a b".into(), "--".into()],
                protected: vec!["/a b/.git".into()],
                metadata: true,
                temporary_bytes: Some(6),
                hidden: vec!["/home/.ssh".into()],
                shown: vec!["/c".into(), "--hidden".into()],
                unreadable: vec!["/d e".into(), "--readable".into()],
                readable: vec!["/d e/f".into()],
                file_bytes: Some(5),
            }),
            limits: Limits {
                memory_bytes: Some(1),
                processes: Some(2),
                cpu_seconds: Some(3),
                open_files: Some(4),
            },
            scratch: vec!["/tmp/x".into()],
            unless_kept: vec!["/tmp/y".into(), "--directory".into()],
            directory: Some("/tmp/z".into()),
            last_command: vec!["scancel".into(), "--".into()],
            pid_namespace: true,
            command: vec!["/bin/sh".into(), "--".into(), "--grace-ms".into(), String::new().into()],
        };
        let few = Options { command: vec!["/bin/true".into()], ..Options::default() };
        for options in [all, few] {
            assert_eq!(Options::from_args(options.to_args()), Ok(options));
        }
    }

    #[test]
    fn invalid_arguments_are_reported() {
        for (args, complaint) in [
            (vec!["--grace-ms", "soon", "--", "x"], "--grace-ms needs a number, not soon"),
            (vec!["--writable"], "--writable needs a value"),
            (vec!["--loud", "--", "x"], "unknown argument --loud"),
            (vec!["--read-only", "--"], "a program is missing after --"),
            (vec![], "a program is missing after --"),
        ] {
            let parsed = Options::from_args(args.into_iter().map(OsString::from));
            assert_eq!(parsed.map_err(|error| error.to_string()), Err(complaint.into()));
        }
    }
}
