//! Reads the files of a working directory, and merges them with the defaults.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::keys::Values;
use super::paths::ConfigPaths;
use super::reader::{FOREIGN, NamedAgent, NamedTool, READ_FAILED, Reader};
use super::settings::{Config, Origin};
use files::open;
use sanitizer::{Diagnostic, Severity, chain, lossy_path};

/// The maximum size of a configuration file, in bytes. Such a file normally has a few dozen lines.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// A file that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigSource {
    /// The owner of the file.
    pub origin: Origin,
    /// Its path.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// True if the file exists.
    pub present: bool,
}

/// The configuration read from the files.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// The defaults, the user's file, and the projects' files, merged.
    pub config: Config,
    /// The files, in reading order.
    pub sources: Vec<ConfigSource>,
    /// Settings that are ignored or have no effect yet.
    pub diagnostics: Vec<Diagnostic>,
    /// The agents that files name. This module does not know which agents exist.
    pub named: Vec<NamedAgent>,
    /// The tools that files name. This module does not know which tools exist.
    pub named_tools: Vec<NamedTool>,
    /// The reason why nothing may run: a file that could not be read at all, or the first mistake in a setting that
    /// restricts. It is also among the diagnostics.
    pub broken: Option<Diagnostic>,
}

impl LoadedConfig {
    /// Creates the result for a configuration that could not be read at all, with the reason.
    #[must_use]
    pub fn unreadable(why: String) -> Self {
        let broken = Diagnostic::new(READ_FAILED, why, None, None);
        let diagnostics = vec![broken.clone()];
        let config = Config::default();
        let sources = Vec::new();
        let named = Vec::new();
        let named_tools = Vec::new();
        Self { config, sources, diagnostics, named, named_tools, broken: Some(broken) }
    }

    /// Logs the files that were read, and the settings that have no effect as written.
    pub fn log(&self) {
        for ConfigSource { path, .. } in self.sources.iter().filter(|source| source.present) {
            tracing::debug!(target: "config", file = %path.display(), "the configuration is read");
        }
        for reason in &self.diagnostics {
            tracing::warn!(target: "config", %reason, "a setting has no effect as written");
        }
    }
}

/// Reads the configuration. Never fails. Blocks.
#[must_use]
pub fn load(paths: &ConfigPaths) -> LoadedConfig {
    let mut values = Values::default();
    let mut sources = Vec::new();
    let mut diagnostics = Vec::new();
    let mut broken = None;
    let mut named = Vec::new();
    let mut named_tools = Vec::new();
    let project = paths.projects.iter().map(|path| (Origin::Project, path));
    for (origin, path) in std::iter::once((Origin::User, &paths.user)).chain(project) {
        let mut reader = Reader::new(Some((origin, path)), &mut values).with_user(paths);
        let text = read(origin, path);
        sources.push(ConfigSource { origin, path: path.clone(), present: !matches!(text, Ok(None)) });
        let failed = match text {
            Ok(None) => None,
            Ok(Some(text)) => reader.text(&text).err(),
            // Otherwise any user who can write to a directory above could switch delegation off.
            Err(error) if open::is_foreign(&error) => {
                diagnostics.push(Diagnostic::new(FOREIGN, format!("is ignored: {error}"), Some(path), None));
                None
            }
            Err(error) => Some(Diagnostic::new(
                READ_FAILED,
                format!("cannot be read: {}", chain(&error)),
                Some(path),
                None,
            )),
        };
        reader.check_launcher();
        diagnostics.extend(failed.clone());
        broken = broken.or(failed).or(reader.take_refusal());
        let (agents, tools) = reader.take_named();
        named.extend(agents);
        named_tools.extend(tools);
        diagnostics.extend(reader.into_diagnostics());
    }
    LoadedConfig { config: values.into_config(), sources, diagnostics, named, named_tools, broken }
}

/// Lays the values of an in-process caller over the configuration. `object` has the shape of the `subagents` object;
/// unlike a project, a caller may also loosen a setting. `null` leaves a setting unchanged.
///
/// # Errors
///
/// Returns an error for the first key that is unknown or has a wrong value.
pub fn overlay(config: &Config, object: &Value) -> Result<Config, Diagnostic> {
    let mut values = Values::of(config);
    let mut reader = Reader::new(None, &mut values);
    reader.settings(&object.to_string())?;
    match reader.into_diagnostics().into_iter().find(|found| found.severity != Severity::Info) {
        Some(diagnostic) => Err(diagnostic),
        None => Ok(values.into_config()),
    }
}

/// Reads the file. Returns `None` if it does not exist.
fn read(origin: Origin, path: &Path) -> io::Result<Option<String>> {
    let invalid = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    let opened = if origin == Origin::Project { open::of_project(path) } else { open::regular(path) };
    let bytes = match opened.and_then(|file| open::read(file, MAX_FILE_BYTES)) {
        Ok(bytes) => bytes,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound if path.is_symlink() => {
                return Err(invalid("the symbolic link points to nothing"));
            }
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => return Ok(None),
            _ => return Err(error),
        },
    };
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8"))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}
