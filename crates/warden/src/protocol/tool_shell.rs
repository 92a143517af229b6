//! The tools' sandbox, which the warden applies when it acts as the shell of a child's tools.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

#[cfg(unix)]
use super::options::{OptionsError, number};

/// The options that the warden reads when it is run as a shell: when the last part of the path it was started by is
/// [`ToolShell::NAME`]. It enters the tools' sandbox, which lies inside the child's own, and executes `shell` with the arguments
/// it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolShell {
    /// The path of the program that is executed.
    pub shell: PathBuf,
    /// Writable files and directories; a directory includes everything below it. They must exist.
    pub writable: Vec<PathBuf>,
    /// Files and directories that cannot be read; missing ones are skipped.
    pub hidden: Vec<PathBuf>,
    /// Readable files and directories below a hidden one; missing ones are skipped.
    pub shown: Vec<PathBuf>,
    /// Files and directories that the child's own sandbox masks. If such a path is no longer masked because something
    /// else has taken its place, or was missing when the child started, it cannot be read.
    pub masked: Vec<PathBuf>,
    /// True if the shell may write in `/tmp` and `/dev/shm`, provided that these are the child's own.
    pub temporaries: bool,
    /// True if the network can be used. Otherwise only sockets between processes of this machine remain.
    pub network: bool,
    /// True if Unix sockets may be created, because the child's mount namespace hides the user's servers. Otherwise, or
    /// if a server has started since, only pairs of connected sockets remain.
    pub unix_sockets: bool,
    /// The user's `PATH`, if the child has a shorter one.
    pub path: Option<OsString>,
    /// The child's `PATH`. pi may add directories in front of it.
    pub child_path: Option<OsString>,
    /// The environment variables that are removed.
    pub unset: Vec<OsString>,
    /// The largest file that may be written, in bytes. Writing beyond fails with `EFBIG`.
    pub file_bytes: Option<u64>,
}

const SHELL: &str = "shell";
const WRITABLE: &str = "writable";
const HIDDEN: &str = "hidden";
const SHOWN: &str = "shown";
const MASKED: &str = "masked";
const TEMPORARIES: &str = "temporaries";
const NETWORK: &str = "network";
const UNIX_SOCKETS: &str = "unix-sockets";
const PATH: &str = "path";
const CHILD_PATH: &str = "child-path";
const UNSET: &str = "unset";
const FILE_BYTES: &str = "file-bytes";

impl ToolShell {
    /// The file name by which the warden knows that it is run as a shell.
    pub const NAME: &str = "shell";
    /// The suffix of the path of the options file, after the path of the shell.
    pub const OPTIONS_SUFFIX: &str = ".options";
    /// The longest file of options that is read, in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Builds the content of the options file: names and their values, each ended by NUL. A value that contains NUL
    /// cannot be a path or the name of a variable. The part after the NUL is rejected when the file is read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut add = |name: &str, value: &OsStr| {
            for word in [name.as_bytes(), value.as_encoded_bytes()] {
                bytes.extend_from_slice(word);
                bytes.push(0);
            }
        };
        add(SHELL, self.shell.as_os_str());
        for path in &self.writable {
            add(WRITABLE, path.as_os_str());
        }
        for path in &self.hidden {
            add(HIDDEN, path.as_os_str());
        }
        for path in &self.shown {
            add(SHOWN, path.as_os_str());
        }
        for path in &self.masked {
            add(MASKED, path.as_os_str());
        }
        for (name, allowed) in
            [(TEMPORARIES, self.temporaries), (NETWORK, self.network), (UNIX_SOCKETS, self.unix_sockets)]
        {
            add(name, OsStr::new(if allowed { "on" } else { "off" }));
        }
        for (name, path) in [(PATH, &self.path), (CHILD_PATH, &self.child_path)] {
            if let Some(path) = path {
                add(name, path);
            }
        }
        for variable in &self.unset {
            add(UNSET, variable);
        }
        if let Some(limit) = self.file_bytes {
            add(FILE_BYTES, OsStr::new(&limit.to_string()));
        }
        bytes
    }

    /// Parses the content of the file with the options.
    ///
    /// # Errors
    ///
    /// For an unknown name, a missing or malformed value, and a missing shell.
    #[cfg(unix)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, OptionsError> {
        use std::os::unix::ffi::OsStrExt as _;
        let fields = bytes.strip_suffix(&[0]).ok_or(OptionsError::CutShort)?;
        let mut fields = fields.split(|byte| *byte == 0).map(OsStr::from_bytes);
        let mut options = Self::default();
        while let Some(name) = fields.next() {
            let unknown = || OptionsError::UnknownOption { name: name.to_owned() };
            let name = name.to_str().ok_or_else(unknown)?;
            let value = fields.next().ok_or_else(|| OptionsError::NoValue { name: name.to_owned() })?;
            match name {
                SHELL => options.shell = value.into(),
                WRITABLE => options.writable.push(value.into()),
                HIDDEN => options.hidden.push(value.into()),
                SHOWN => options.shown.push(value.into()),
                MASKED => options.masked.push(value.into()),
                TEMPORARIES => options.temporaries = switch(name, value)?,
                NETWORK => options.network = switch(name, value)?,
                UNIX_SOCKETS => options.unix_sockets = switch(name, value)?,
                PATH => options.path = Some(value.to_owned()),
                CHILD_PATH => options.child_path = Some(value.to_owned()),
                UNSET => options.unset.push(value.into()),
                FILE_BYTES => options.file_bytes = Some(number(name, value)?),
                _ => return Err(unknown()),
            }
        }
        if !options.shell.is_absolute() {
            return Err(OptionsError::NoShell);
        }
        Ok(options)
    }
}

#[cfg(unix)]
fn switch(name: &str, value: &OsStr) -> Result<bool, OptionsError> {
    match value.to_str() {
        Some("on") => Ok(true),
        Some("off") => Ok(false),
        _ => Err(OptionsError::NotASwitch { name: name.to_owned(), value: value.to_owned() }),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_round_trip() {
        let all = ToolShell {
            shell: "/bin/bash".into(),
            writable: vec!["/tmp/a b".into(), "hidden".into()],
            hidden: vec!["/home/auth\n.json".into(), String::new().into()],
            shown: vec!["/home/trees/own".into()],
            masked: vec!["/home/.ssh".into()],
            temporaries: true,
            network: true,
            unix_sockets: true,
            path: Some("/home/.venv/bin:/bin".into()),
            child_path: Some("/bin".into()),
            unset: vec!["A_TOKEN".into(), "shell".into()],
            file_bytes: Some(u64::MAX),
        };
        let few = ToolShell { shell: "/bin/sh".into(), ..ToolShell::default() };
        for options in [all, few] {
            assert_eq!(ToolShell::from_bytes(&options.to_bytes()), Ok(options));
        }
    }

    #[test]
    fn invalid_options_are_reported() {
        for (bytes, complaint) in [
            (&b""[..], "the options are cut short"),
            (b"shell\0/bin/sh", "the options are cut short"),
            (b"shell\0", "shell needs a value"),
            (b"shell\0sh\0", "the options name no shell"),
            (b"network\0on\0", "the options name no shell"),
            (b"network\0maybe\0", "network needs on or off, not maybe"),
            (b"file-bytes\0much\0", "file-bytes needs a number, not much"),
            (b"loud\0on\0", "unknown option loud"),
        ] {
            let parsed = ToolShell::from_bytes(bytes);
            assert_eq!(parsed.map_err(|error| error.to_string()), Err(complaint.into()));
        }
    }
}
