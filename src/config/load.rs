//! Reads the files, checks every key, and merges them with the defaults.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::check::{check, shown};
use super::keys::{KEYS, Key, Tighten, is_group, key};
use super::locate::ConfigPaths;
use super::located::{Json, Located, Member, parse};
use super::settings::Config;
use super::tighten::{Tightened, tighten};
use super::values::Values;
use crate::text::{Diagnostic, Position, Severity, nearest, quoted, text_enum};

/// A configuration file has some dozens of lines.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// A file with more problems is probably not a configuration file.
const MAX_DIAGNOSTICS: usize = 100;
const ROOT: &str = "subagents";
/// A group that may also be written as a single value, which then sets this member.
const SHORTHAND: (&str, &str) = ("sandbox", "sandbox.mode");

const SYNTAX: &str = "CONFIG_SYNTAX";
const READ_FAILED: &str = "CONFIG_READ_FAILED";
const VALUE_INVALID: &str = "CONFIG_VALUE_INVALID";
const KEY_UNKNOWN: &str = "CONFIG_KEY_UNKNOWN";
const KEY_DUPLICATE: &str = "CONFIG_KEY_DUPLICATE";
const NOT_IN_FORCE: &str = "CONFIG_KEY_NOT_IN_FORCE";
const PROJECT_REFUSED: &str = "CONFIG_PROJECT_REFUSED";

text_enum! {
    /// Whose configuration file it is.
    pub enum Origin {
        /// The user's own.
        User = "user",
        /// The project's.
        Project = "project",
    }
}

/// A file that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigSource {
    /// Whose it is.
    pub origin: Origin,
    /// Its path.
    pub path: PathBuf,
    /// Whether it exists.
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
    /// Set when a file could not be read at all. Its settings are unknown, so nothing may run. It is also among the
    /// diagnostics, the first of its kind.
    pub broken: Option<Diagnostic>,
}

/// Reads the configuration. Never fails. Blocking.
#[must_use]
pub fn load(paths: &ConfigPaths) -> LoadedConfig {
    let mut values = Values::default();
    let mut loaded = LoadedConfig {
        config: Config::default(),
        sources: Vec::new(),
        diagnostics: Vec::new(),
        broken: None,
    };
    let project = paths.projects.iter().map(|path| (Origin::Project, path));
    for (origin, path) in std::iter::once((Origin::User, &paths.user)).chain(project) {
        let mut reader = Reader { origin: Some(origin), path: Some(path), diagnostics: Vec::new() };
        let text = read(path);
        loaded.sources.push(ConfigSource { origin, path: path.clone(), present: !matches!(text, Ok(None)) });
        let broken = match text {
            Ok(None) => None,
            Ok(Some(text)) => reader.file(&text, &mut values).err(),
            Err(error) => Some(reader.diagnostic(
                Severity::Error,
                READ_FAILED,
                None,
                format!("cannot be read: {error}"),
            )),
        };
        loaded.diagnostics.extend(broken.clone());
        loaded.broken = loaded.broken.or(broken);
        loaded.diagnostics.append(&mut reader.diagnostics);
        loaded.diagnostics.truncate(MAX_DIAGNOSTICS);
    }
    loaded.config = values.into_config();
    loaded
}

/// Lays the values of an in-process caller over the configuration. `object` has the shape of the `subagents` object;
/// unlike a project, a caller may also loosen a setting. `null` leaves a setting unchanged.
///
/// # Errors
///
/// At the first key that is unknown or has a wrong value.
pub fn overlay(config: &Config, object: &Value) -> Result<Config, Diagnostic> {
    let mut values = Values::of(config);
    let mut reader = Reader { origin: None, path: None, diagnostics: Vec::new() };
    let root = Located::from_value(object);
    let Json::Object(members) = &root.json else {
        let message = format!("the configuration is {}; expected an object", shown(&root.json));
        return Err(reader.diagnostic(Severity::Error, VALUE_INVALID, None, message));
    };
    // A caller may also pass the whole content of a file.
    let members = match &members[..] {
        [Member { name, value: Located { json: Json::Object(inner), .. }, .. }] if name == ROOT => inner,
        _ => members,
    };
    reader.object("", members, &mut values);
    match reader.diagnostics.into_iter().find(|found| found.severity != Severity::Info) {
        Some(diagnostic) => Err(diagnostic),
        None => Ok(values.into_config()),
    }
}

/// Reads the file. `None`: it does not exist.
fn read(path: &Path) -> io::Result<Option<String>> {
    let invalid = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(invalid("it is not a regular file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if path.is_symlink() {
                Err(invalid("the symbolic link points to nothing"))
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(invalid(&format!("it has more than {MAX_FILE_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8"))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

struct Reader<'a> {
    /// `None`: an in-process caller.
    origin: Option<Origin>,
    path: Option<&'a Path>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Fails when the file cannot be parsed.
    fn file(&mut self, text: &str, values: &mut Values) -> Result<(), Diagnostic> {
        let root = parse(text).map_err(|error| {
            let message = format!("the file is not valid JSON: {}", error.message);
            self.diagnostic(Severity::Error, SYNTAX, Some(error.at), message)
        })?;
        let Json::Object(members) = &root.json else {
            let message = format!("the file is {}; expected {{ \"{ROOT}\": {{ … }} }}", shown(&root.json));
            return Err(self.diagnostic(Severity::Error, SYNTAX, root.at, message));
        };
        let mut found = None;
        for member in members {
            if member.name != ROOT {
                self.outside(member);
            } else if found.is_some() {
                self.duplicate(ROOT, member.name_at);
            } else {
                found = Some(&member.value);
            }
        }
        match found {
            None => Ok(()),
            Some(Located { json: Json::Object(members), .. }) => {
                self.object("", members, values);
                Ok(())
            }
            Some(other) => {
                let message = format!("`{ROOT}` is {}; expected an object", shown(&other.json));
                Err(self.diagnostic(Severity::Error, SYNTAX, other.at, message))
            }
        }
    }

    /// A member next to `subagents`.
    fn outside(&mut self, member: &Member) {
        let hint = if key(&member.name).is_some() || is_group(&member.name) {
            format!("; it belongs inside `{ROOT}`")
        } else if nearest(&member.name, [ROOT]).is_some() {
            format!("; did you mean `{ROOT}`?")
        } else {
            String::new()
        };
        let message = format!("{} is ignored; the file holds one key, `{ROOT}`{hint}", quoted(&member.name));
        self.report(Severity::Warning, KEY_UNKNOWN, member.name_at, message);
    }

    fn object(&mut self, group: &str, members: &[Member], values: &mut Values) {
        for (index, Member { name, name_at, value }) in members.iter().enumerate() {
            let path = if group.is_empty() { name.clone() } else { format!("{group}.{name}") };
            // Otherwise a member named `a.b` would pass for the member `b` of `a`.
            let dotted = name.contains('.');
            if members[..index].iter().any(|earlier| earlier.name == *name) {
                self.duplicate(&path, *name_at);
            } else if let Some(key) = key(&path).filter(|_| !dotted) {
                self.value(key, value, *name_at, values);
            } else if let (Json::Object(members), true) = (&value.json, is_group(&path) && !dotted) {
                self.object(&path, members, values);
            } else if let (true, Some(key)) = (path == SHORTHAND.0, key(SHORTHAND.1)) {
                self.value(key, value, *name_at, values);
            } else if is_group(&path) && !dotted {
                if self.origin.is_some() || !matches!(value.json, Json::Null) {
                    let message = format!("`{path}` is {}; expected an object", shown(&value.json));
                    self.report(Severity::Error, VALUE_INVALID, value.at, message);
                }
            } else {
                self.unknown(&path, *name_at);
            }
        }
    }

    fn value(&mut self, key: &'static Key, value: &Located, name_at: Option<Position>, values: &mut Values) {
        if self.origin.is_none() && matches!(value.json, Json::Null) {
            return;
        }
        if self.origin == Some(Origin::Project) && key.project == Tighten::Never {
            let message =
                format!("`{}` is ignored: a project file may not set it, only the user's own may", key.path);
            self.report(Severity::Warning, PROJECT_REFUSED, name_at, message);
            return;
        }
        let checked = match check(key, value) {
            Ok(checked) => checked,
            Err(wrong) => {
                self.report(Severity::Error, VALUE_INVALID, wrong.at.or(value.at), wrong.message);
                return;
            }
        };
        if !key.in_force {
            let message = format!("`{}` is understood and not yet in force in this version", key.path);
            self.report(Severity::Info, NOT_IN_FORCE, name_at, message);
        }
        if self.origin != Some(Origin::Project) {
            values.set(key.path, checked);
            return;
        }
        match tighten(key, values.of_key(key.path), checked) {
            Tightened::Whole(taken) => values.set(key.path, taken),
            Tightened::Partly(taken, why) => {
                values.set(key.path, taken);
                self.report(
                    Severity::Warning,
                    PROJECT_REFUSED,
                    value.at,
                    format!("`{}` is cut: {why}", key.path),
                );
            }
            Tightened::Refused(why) => {
                let message = format!("`{}` is {} and is ignored: {why}", key.path, shown(&value.json));
                self.report(Severity::Warning, PROJECT_REFUSED, value.at, message);
            }
        }
    }

    fn unknown(&mut self, path: &str, at: Option<Position>) {
        let hint = if let Some((group, name)) = path.split_once('.').filter(|_| key(path).is_some()) {
            format!("; written as `\"{group}\": {{ \"{name}\": … }}` it is")
        } else {
            let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
            let typed = path.rsplit('.').next().unwrap_or(path);
            let near = nearest(path, KEYS.iter().map(|key| key.path)).or_else(|| {
                let name = nearest(typed, KEYS.iter().map(|key| last(key.path)))?;
                KEYS.iter().map(|key| key.path).find(|path| last(path) == name)
            });
            near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
        };
        self.report(Severity::Warning, KEY_UNKNOWN, at, format!("{} is not a known key{hint}", quoted(path)));
    }

    fn duplicate(&mut self, path: &str, at: Option<Position>) {
        let message = format!("{} is given twice; the first one counts", quoted(path));
        self.report(Severity::Error, KEY_DUPLICATE, at, message);
    }

    fn report(&mut self, severity: Severity, code: &'static str, at: Option<Position>, message: String) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            let diagnostic = self.diagnostic(severity, code, at, message);
            self.diagnostics.push(diagnostic);
        }
    }

    fn diagnostic(
        &self,
        severity: Severity,
        code: &'static str,
        at: Option<Position>,
        message: String,
    ) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(severity, code, message);
        if let Some(path) = self.path {
            diagnostic = diagnostic.in_file(path);
        }
        match at {
            Some(at) => diagnostic.at(at.line, at.column),
            None => diagnostic,
        }
    }
}
