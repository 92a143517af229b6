//! Finds the pi that a child runs, and the features of its version.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::run::context::HostContext;
use files::canonical;
use files::open;
use supervisor::{NotFound, resolve_program};

/// The number of directories above a script that are searched for pi's `package.json`.
const PACKAGE_SEARCH_DEPTH: usize = 6;
/// The maximum size of a `package.json`, in bytes.
const MAX_PACKAGE_BYTES: u64 = 1024 * 1024;
/// The names under which pi has been published.
const PACKAGE_NAMES: [&str; 2] = ["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"];

/// A version of pi.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PiVersion {
    /// Major, minor, patch.
    pub parts: [u32; 3],
}

impl PiVersion {
    /// The oldest version of pi that is tested.
    pub(crate) const OLDEST: Self = Self { parts: [0, 87, 1] };
    /// The first version whose `--no-extensions` also disables built-in extensions, and that loads these by name.
    const NAMES_BUILTIN: Self = Self { parts: [0, 99, 0] };
    /// The first version that knows `--no-mcp`. An older one exits at an unknown option.
    const NO_MCP: Self = Self { parts: [1, 0, 4] };

    /// Reads `1.6.0`, with or without a suffix.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let core = text.trim().trim_start_matches('v').split(['-', '+']).next()?;
        let mut numbers = core.split('.').map(str::parse::<u32>);
        let mut part = || numbers.next()?.ok();
        Some(Self { parts: [part()?, part()?, part()?] })
    }

    /// Returns the line of the output of `pi --version` that is a version, else the first line that is not empty.
    /// Version 0.74.0 prints it to standard error.
    pub(crate) fn line_of<'a>(mut printed: impl Iterator<Item = &'a str> + Clone) -> &'a str {
        let is_version = |line: &&str| Self::parse(line).is_some();
        let line = printed.clone().find(is_version).or_else(|| printed.find(|line| !line.trim().is_empty()));
        line.unwrap_or_default().trim()
    }

    /// Returns true if built-in extensions have names, which a child that loads only some extensions must list. An
    /// older pi always loads them.
    #[must_use]
    pub fn names_builtin_extensions(self) -> bool {
        self >= Self::NAMES_BUILTIN
    }

    /// Returns true if the child accepts `--no-mcp`.
    #[must_use]
    pub fn knows_no_mcp(self) -> bool {
        self >= Self::NO_MCP
    }
}

impl std::fmt::Display for PiVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.parts;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The command that starts a child pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PiProgram {
    /// The program.
    pub program: PathBuf,
    /// Arguments that come before pi's own.
    pub args: Vec<OsString>,
    /// The version, read from the package. pi is never started to find it.
    pub version: Option<PiVersion>,
    /// The source of this choice.
    pub origin: Origin,
}

/// The source of the choice of pi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The caller or the configuration (`piCommand`).
    Configured,
    /// The pi that hosts this addon.
    Host,
    /// The first pi in `PATH`.
    Path,
}

/// The reason why there is no pi to run.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PiError {
    /// The configured command has no words.
    #[error("`piCommand` is empty; it needs at least a program")]
    EmptyCommand,
    /// The program is neither a name nor an absolute path.
    #[error("`{0}` is relative; the program of `piCommand` must be a name in PATH or an absolute path")]
    RelativeProgram(String),
    /// A word names a file in the child's working directory.
    #[error(
        "`{word}` names a file of `{cwd}`; `piCommand` must name files by absolute paths, or a clone could supply them"
    )]
    RelativeFile {
        /// The word as configured.
        word: String,
        /// The child's working directory.
        cwd: String,
    },
    /// A configured program does not exist.
    #[error("`{0}` was not found{note}; `piCommand` must name a program that exists", note = .1.note())]
    Configured(String, NotFound),
    /// No host is known and `PATH` has no pi.
    #[error("`pi` was not found in PATH{note}; install pi or set `subagents.piCommand`", note = .0.note())]
    NotInPath(NotFound),
}

impl PiProgram {
    /// Chooses the pi for a child that works in `cwd`: a configured command, else the pi that hosts us, else the one
    /// in `PATH` outside of the directories `untrusted`.
    ///
    /// # Errors
    ///
    /// Fails if the configured program does not exist or no pi can be found.
    pub fn locate(
        configured: Option<&[String]>,
        cwd: &Path,
        untrusted: &[PathBuf],
        context: &HostContext,
    ) -> Result<Self, PiError> {
        if let Some(command) = context.pi_command.as_deref().or(configured) {
            return Self::configured(command, cwd, untrusted, context);
        }
        if let Some(program) = Self::host(context) {
            return Ok(program);
        }
        let program = resolve_program("pi".as_ref(), &context.env, untrusted).map_err(PiError::NotInPath)?;
        Ok(Self::from_script_or_shim(&program))
    }

    fn configured(
        command: &[String],
        cwd: &Path,
        untrusted: &[PathBuf],
        context: &HostContext,
    ) -> Result<Self, PiError> {
        let (program, args) = command.split_first().ok_or(PiError::EmptyCommand)?;
        if program.trim().is_empty() {
            return Err(PiError::EmptyCommand);
        }
        let is_name =
            Path::new(program).components().count() == 1 && !program.contains(std::path::MAIN_SEPARATOR);
        if !is_name && !Path::new(program).is_absolute() {
            return Err(PiError::RelativeProgram(program.clone()));
        }
        // The child starts in the project, so such a word would run a file of the project.
        if let Some(word) = args.iter().find(|word| Path::new(word).is_relative() && cwd.join(word).is_file())
        {
            return Err(PiError::RelativeFile {
                word: word.clone(),
                cwd: cwd.to_string_lossy().into_owned(),
            });
        }
        let resolved = resolve_program(program.as_ref(), &context.env, untrusted)
            .map_err(|missing| PiError::Configured(program.clone(), missing))?;
        let version = args
            .iter()
            .map(Path::new)
            .filter(|argument| argument.is_file())
            .chain(std::iter::once(resolved.as_path()))
            .find_map(package_version);
        Ok(Self {
            program: resolved,
            args: args.iter().map(Into::into).collect(),
            version,
            origin: Origin::Configured,
        })
    }

    /// Returns the hosting pi: an interpreter with its script, or an executable that is pi itself.
    fn host(context: &HostContext) -> Option<Self> {
        let executable = context.host.executable.clone()?;
        // A compiled pi names a script inside its own image, which does not exist on disk.
        let script = context.host.script.clone().filter(|script| script.is_file());
        let version = package_version(script.as_ref().unwrap_or(&executable));
        let is_compiled_pi =
            || executable.file_stem().is_some_and(|stem| stem == "pi") && executable.is_file();
        let is_pi = if script.is_some() { version.is_some() } else { is_compiled_pi() };
        let args = script.into_iter().map(PathBuf::into_os_string).collect();
        is_pi.then_some(Self { program: executable, args, version, origin: Origin::Host })
    }

    /// Returns the program for a pi that was found in `PATH`. On Windows it is a batch file; then the script behind it
    /// is used instead, if that is found.
    fn from_script_or_shim(found: &Path) -> Self {
        let version = package_version(found);
        let shim = found.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("cmd"));
        if shim && let Some(folder) = found.parent() {
            for name in PACKAGE_NAMES {
                let script = folder.join("node_modules").join(name).join("dist/bundle/cli.js");
                if script.is_file() {
                    let version = package_version(&script);
                    let args = vec![script.into_os_string()];
                    return Self { program: PathBuf::from("node"), args, version, origin: Origin::Path };
                }
            }
        }
        Self { program: found.to_path_buf(), args: Vec::new(), version, origin: Origin::Path }
    }

    /// Formats the command as a person would type it.
    #[must_use]
    pub fn display(&self) -> String {
        let mut parts = vec![self.program.to_string_lossy().into_owned()];
        parts.extend(self.args.iter().map(|argument| argument.to_string_lossy().into_owned()));
        parts.join(" ")
    }
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Returns the possible paths of the `package.json` of a file's package, the nearest first.
pub(crate) fn package_files(file: &Path) -> impl Iterator<Item = PathBuf> {
    let real = canonical(file);
    let folders: Vec<PathBuf> =
        real.ancestors().skip(1).take(PACKAGE_SEARCH_DEPTH).map(Path::to_path_buf).collect();
    folders.into_iter().map(|folder| folder.join("package.json"))
}

/// Returns the version of the pi package that contains a file.
fn package_version(file: &Path) -> Option<PiVersion> {
    package_files(file).find_map(|file| {
        let file = open::regular(&file).ok()?;
        let package: Package = serde_json::from_slice(&open::read(file, MAX_PACKAGE_BYTES).ok()?).ok()?;
        PACKAGE_NAMES.contains(&package.name.as_str()).then(|| PiVersion::parse(&package.version))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        for (text, expected) in [
            ("1.6.0", Some([1, 6, 0])),
            ("v0.87.1", Some([0, 87, 1])),
            ("1.6.0-beta.1", Some([1, 6, 0])),
            ("1.5", None),
            ("one.two.three", None),
            ("", None),
        ] {
            assert_eq!(PiVersion::parse(text).map(|version| version.parts), expected, "{text}");
        }
        for (printed, expected) in [
            ("1.6.0\n", "1.6.0"),
            ("(node:7) Warning: old\n0.74.0\n", "0.74.0"),
            ("\nnone of ours\nat all", "none of ours"),
            ("", ""),
        ] {
            assert_eq!(PiVersion::line_of(printed.lines()), expected, "{printed}");
        }
        assert!(PiVersion { parts: [1, 10, 0] }.knows_no_mcp());
        assert!(!PiVersion { parts: [0, 87, 1] }.knows_no_mcp());
        assert!(PiVersion { parts: [1, 0, 0] }.names_builtin_extensions());
        assert!(!PiVersion { parts: [0, 87, 1] }.names_builtin_extensions());
    }
}
