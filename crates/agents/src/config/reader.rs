//! Reads the text of one file, or the object of a caller: checks every key, and merges it into the settings.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::{check, check_launcher, check_of_agent, shown};
use super::entries::LOCAL;
use super::keys::{AGENT_KEYS, AGENTS, HIDDEN, KEYS, Key, Kind, Tighten, Values, is_group, key};
use super::located::{Json, Located, Member, parse};
use super::paths::ConfigPaths;
use super::settings::Origin;
use super::tighten::{Tightened, hideable, tighten};
use crate::is_agent_name;
use sanitizer::{Code, Diagnostic, Position, Severity, nearest, quoted, suggestion};

/// The maximum number of diagnostics. A file with more problems is probably not a configuration file.
const MAX_DIAGNOSTICS: usize = 10;
const ROOT: &str = "subagents";
const LAUNCHER: &str = "launcher";
const LAUNCHERS: &str = "launchers";
/// The maximum number of launchers. No configuration needs more.
const MAX_LAUNCHERS: usize = 256;
const ALLOW_AGENTS: &str = "allowAgents";
const DEFAULT_AGENT: &str = "defaultAgent";
/// The name that means all agents.
pub const ALL: &str = "*";
/// A group that may also be written as a single value, which then sets this member.
const SHORTHAND: (&str, &str) = ("sandbox", "sandbox.mode");

const SYNTAX: Code = (Severity::Error, "CONFIG_SYNTAX");
pub(super) const READ_FAILED: Code = (Severity::Error, "CONFIG_READ_FAILED");
const VALUE_INVALID: Code = (Severity::Error, "CONFIG_VALUE_INVALID");
const KEY_UNKNOWN: Code = (Severity::Warning, "CONFIG_KEY_UNKNOWN");
const KEY_REMOVED: Code = (Severity::Warning, "CONFIG_KEY_REMOVED");
const KEY_DUPLICATE: Code = (Severity::Error, "CONFIG_KEY_DUPLICATE");
const TOO_MANY: Code = (Severity::Warning, "CONFIG_TOO_MANY_PROBLEMS");
pub(super) const FOREIGN: Code = (Severity::Warning, "CONFIG_FILE_FOREIGN");
const PROJECT_REFUSED: Code = (Severity::Warning, "CONFIG_PROJECT_REFUSED");

/// Merges the settings of one origin.
pub(super) struct Reader<'a> {
    /// The file, or `None` for an in-process caller.
    file: Option<(Origin, &'a Path)>,
    values: &'a mut Values,
    /// The diagnostics about settings that are ignored or have no effect yet.
    diagnostics: Vec<Diagnostic>,
    /// The number of further diagnostics.
    unlisted: usize,
    /// The agents that the file names.
    named: Vec<NamedAgent>,
    /// The tools that the file names.
    named_tools: Vec<NamedTool>,
    /// The place where the file names a launcher.
    launcher_at: Option<Position>,
    /// The first mistake in a setting that restricts.
    refusal: Option<Diagnostic>,
    /// The files of the user.
    user: Option<&'a ConfigPaths>,
}

/// The removed keys of earlier versions, with their replacements.
const REMOVED: [(&str, &str); 1] = [(
    "recordings",
    "runs are no longer recorded; set `PI_SUBAGENT_LOG=debug` in pi's environment to write a log",
)];

/// The end of a message about a setting that restricts.
const REFUSES: &str = "Nothing is delegated until this is corrected";

/// A tool that a file names, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTool {
    /// The key of the list that holds it.
    pub key: String,
    /// As the file spells it.
    pub name: String,
    /// True if the list forbids the name.
    pub denies: bool,
    /// The file.
    pub path: PathBuf,
    /// The position of the name in the file.
    pub at: Position,
}

/// An agent that a file names, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    /// The key that names it.
    pub key: String,
    /// As the file spells it; `*` is all.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The position of the name in the file.
    pub at: Position,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: Option<(Origin, &'a Path)>, values: &'a mut Values) -> Self {
        Self {
            file,
            values,
            diagnostics: Vec::new(),
            unlisted: 0,
            named: Vec::new(),
            named_tools: Vec::new(),
            launcher_at: None,
            refusal: None,
            user: None,
        }
    }

    /// Sets the paths of the user, which a project may not hide.
    pub(super) fn with_user(self, user: &'a ConfigPaths) -> Self {
        Self { user: Some(user), ..self }
    }

    /// Reports the launcher that the file names if it does not exist. Call this after the whole file is read, because
    /// `launchers` may come last.
    pub(super) fn check_launcher(&mut self) {
        let Some(at) = self.launcher_at else { return };
        let known = self.values.of_key(LAUNCHERS).as_object().map(|launchers| launchers.keys().cloned());
        let known: Vec<String> = known.into_iter().flatten().collect();
        let Some(name) = self.values.of_key(LAUNCHER).as_str().filter(|name| *name != LOCAL) else { return };
        if known.iter().all(|known| known != name) && !self.values.is_broken_launcher(name) {
            let meant = suggestion(nearest(name, known.iter().map(String::as_str)));
            let message =
                format!("`{LAUNCHER}` is {}, which `{LAUNCHERS}` does not define{meant}", quoted(name));
            self.report(VALUE_INVALID, at, message);
        }
    }

    /// Returns the first mistake in a setting that restricts: with its default the setting would permit more than the
    /// file says.
    pub(super) fn take_refusal(&mut self) -> Option<Diagnostic> {
        self.refusal.take()
    }

    /// Returns the agents and the tools that the file names.
    pub(super) fn take_named(&mut self) -> (Vec<NamedAgent>, Vec<NamedTool>) {
        (std::mem::take(&mut self.named), std::mem::take(&mut self.named_tools))
    }

    /// Returns the diagnostics about settings that are ignored or have no effect yet. If there are too many, the last
    /// one says how many more there are.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        if self.unlisted > 0 {
            self.diagnostics.pop();
            let message = format!("{} more problems are not listed", self.unlisted + 1);
            let path = self.file.map(|(_, path)| path);
            self.diagnostics.push(Diagnostic::new(TOO_MANY, message, path, None));
        }
        self.diagnostics
    }

    /// Reads the text of a file. Fails if the text cannot be parsed.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Diagnostic> {
        let root = self.parsed("file", SYNTAX, text)?;
        let Json::Object(members) = &root.json else {
            let message = format!("the file is {}; expected {{ \"{ROOT}\": {{ … }} }}", shown(&root.json));
            return Err(self.diagnostic(SYNTAX, root.at, message));
        };
        let mut found = None;
        for member in members {
            if member.name != ROOT {
                self.member_outside(member);
            } else if found.is_some() {
                self.duplicate(ROOT, true, member.name_at);
            } else {
                found = Some(&member.value);
            }
        }
        match found {
            None => {}
            Some(Located { json: Json::Object(members), .. }) => self.object("", members),
            Some(other) => {
                let message = format!("`{ROOT}` is {}; expected an object", shown(&other.json));
                return Err(self.diagnostic(SYNTAX, other.at, message));
            }
        }
        Ok(())
    }

    /// Reads the settings of a caller. Fails if they are not an object.
    pub(super) fn settings(&mut self, text: &str) -> Result<(), Diagnostic> {
        let root = self.parsed("configuration", VALUE_INVALID, text)?;
        let Json::Object(members) = &root.json else {
            let message = format!("the configuration is {}; expected an object", shown(&root.json));
            return Err(self.diagnostic(VALUE_INVALID, root.at, message));
        };
        // A caller may also pass the whole content of a file.
        match &members[..] {
            [Member { name, value: Located { json: Json::Object(inner), .. }, .. }] if name == ROOT => {
                self.object("", inner);
            }
            _ => self.object("", members),
        }
        Ok(())
    }

    fn parsed(&self, what: &str, code: Code, text: &str) -> Result<Located, Diagnostic> {
        parse(text).map_err(|error| {
            self.diagnostic(code, error.at, format!("the {what} is not valid JSON: {}", error.message))
        })
    }

    /// Handles a member next to `subagents`.
    fn member_outside(&mut self, member: &Member) {
        let hint = if key(&member.name).is_some() || is_group(&member.name) || member.name == AGENTS {
            format!("; it belongs inside `{ROOT}`")
        } else {
            suggestion(nearest(&member.name, [ROOT]))
        };
        let message = format!("{} is ignored; the file holds one key, `{ROOT}`{hint}", quoted(&member.name));
        let restricts = member.name == AGENTS
            || restricting_group(&member.name)
            || key(&member.name).is_some_and(Key::restricts);
        self.mistake(restricts, KEY_UNKNOWN, member.name_at, message);
    }

    fn object(&mut self, group: &str, members: &[Member]) {
        let mut seen = HashSet::new();
        for Member { name, name_at, value } in members {
            let path = if group.is_empty() { name.clone() } else { format!("{group}.{name}") };
            // Otherwise a member named `a.b` would be read as the member `b` of `a`.
            let known = if name.contains('.') { None } else { key(&path) };
            let is_group = !name.contains('.') && is_group(&path);
            if !seen.insert(name.as_str()) {
                self.duplicate(
                    &path,
                    restricting_group(&path) || known.is_some_and(Key::restricts),
                    *name_at,
                );
            } else if path == AGENTS {
                self.agents(value);
            } else if let Some(key) = known {
                self.value(key, value, *name_at);
            } else if let (Json::Object(members), true) = (&value.json, is_group) {
                self.object(&path, members);
            } else if let (true, Some(key)) = (path == SHORTHAND.0, key(SHORTHAND.1)) {
                self.value(key, value, *name_at);
            } else if let Some((_, instead)) = REMOVED.iter().find(|(removed, _)| *removed == path) {
                self.report(KEY_REMOVED, *name_at, format!("`{path}` has no effect: {instead}"));
            } else if !is_group {
                self.unknown(&path, *name_at);
            } else if !self.is_unset(value) {
                let message = format!("`{path}` is {}; expected an object", shown(&value.json));
                self.mistake(restricting_group(&path), VALUE_INVALID, value.at, message);
            }
        }
    }

    /// Reads the settings of agents, by name.
    fn agents(&mut self, value: &Located) {
        let Some(agents) = self.members(AGENTS, value, "an object of agents by name") else { return };
        let mut seen = HashSet::new();
        for Member { name, name_at, value } in agents {
            let path = format!("{AGENTS}.{name}");
            if name != ALL && !is_agent_name(name) {
                let message =
                    format!("{} names no agent; expected `{ALL}` or the name of one", quoted(&path));
                self.mistake(true, VALUE_INVALID, *name_at, message);
            } else if !seen.insert(name.as_str()) {
                self.duplicate(&path, true, *name_at);
            } else if let Some(members) = self.members(&path, value, "an object of settings") {
                let path_of_file = self.file.map(|(_, path)| path.to_path_buf());
                self.named.extend(path_of_file.map(|path| NamedAgent {
                    key: format!("{AGENTS}.{name}"),
                    name: name.clone(),
                    path,
                    at: *name_at,
                }));
                self.agent(name, members);
            }
        }
    }

    fn agent(&mut self, agent: &str, members: &[Member]) {
        let mut seen = HashSet::new();
        for Member { name, name_at, value } in members {
            let path = format!("{AGENTS}.{agent}.{name}");
            let known = AGENT_KEYS.iter().find(|key| key.path == name);
            if !seen.insert(name.as_str()) {
                self.duplicate(&path, known.is_some_and(Key::restricts), *name_at);
            } else if let Some(key) = known {
                self.value_of_agent(agent, key, &path, value, *name_at);
            } else {
                let near = nearest(name, AGENT_KEYS.iter().map(|key| key.path));
                let restricts = AGENT_KEYS.iter().any(|key| Some(key.path) == near && key.restricts());
                let message = format!("{} is not a setting of an agent{}", quoted(&path), suggestion(near));
                self.mistake(restricts, KEY_UNKNOWN, *name_at, message);
            }
        }
    }

    fn value_of_agent(&mut self, agent: &str, key: &Key, path: &str, value: &Located, name_at: Position) {
        if self.is_unset(value) {
            return;
        }
        let is_project = matches!(self.file, Some((Origin::Project, _)));
        if is_project && key.project == Tighten::Never {
            return self.refuse(path, name_at);
        }
        self.note_names(path, key.kind, value);
        let checked = match check_of_agent(key, path, value) {
            Ok(checked) => checked,
            Err(wrong) => return self.mistake(key.restricts(), VALUE_INVALID, wrong.at, wrong.message),
        };
        if !is_project {
            return self.values.set_of_agent(agent, Origin::User, key.path, checked);
        }
        // The agent file's own value is not known here. If a project's value is looser than that value, it has no
        // effect later.
        let stated =
            [(agent, Origin::Project), (agent, Origin::User), (ALL, Origin::Project), (ALL, Origin::User)];
        let current = stated.into_iter().map(|(agent, origin)| self.values.of_agent(agent, origin, key.path));
        let current = current.into_iter().find(|value| !value.is_null()).cloned().unwrap_or_default();
        let accepted = self.tightened(key, path, &current, checked, value);
        if let Some(accepted) = accepted {
            self.values.set_of_agent(agent, Origin::Project, key.path, accepted);
        }
    }

    /// Returns the members of an object. Reports any other value.
    fn members<'v>(&mut self, path: &str, value: &'v Located, expected: &str) -> Option<&'v [Member]> {
        if let Json::Object(members) = &value.json {
            return Some(members);
        }
        if !self.is_unset(value) {
            let message = format!("{} is {}; expected {expected}", quoted(path), shown(&value.json));
            self.mistake(true, VALUE_INVALID, value.at, message);
        }
        None
    }

    fn refuse(&mut self, path: &str, name_at: Position) {
        let message =
            format!("{} is ignored: a project file may not set it, only the user's own may", quoted(path));
        self.report(PROJECT_REFUSED, name_at, message);
    }

    /// Returns the accepted part of a project's value, and reports the rest.
    fn tightened(
        &mut self,
        key: &Key,
        path: &str,
        current: &Value,
        checked: Value,
        value: &Located,
    ) -> Option<Value> {
        match tighten(key, current, checked) {
            Tightened::Whole(accepted) => Some(accepted),
            Tightened::Partly(accepted, why) => {
                self.report(PROJECT_REFUSED, value.at, format!("{} is reduced: {why}", quoted(path)));
                Some(accepted)
            }
            Tightened::Refused(why) => {
                let message = format!("{} is {} and is ignored: {why}", quoted(path), shown(&value.json));
                self.report(PROJECT_REFUSED, value.at, message);
                None
            }
        }
    }

    /// Returns true for `null` from a caller, which leaves a setting unchanged.
    fn is_unset(&self, value: &Located) -> bool {
        self.file.is_none() && matches!(value.json, Json::Null)
    }

    fn value(&mut self, key: &'static Key, value: &Located, name_at: Position) {
        if self.is_unset(value) {
            return;
        }
        let is_project = matches!(self.file, Some((Origin::Project, _)));
        if is_project && key.project == Tighten::Never {
            return self.refuse(key.path, name_at);
        }
        self.note_names(key.path, key.kind, value);
        if let (Kind::Launchers, Some((_, path)), Json::Object(members)) = (key.kind, self.file, &value.json)
        {
            return self.launchers(key, path, members);
        }
        let checked = match check(key, value) {
            Ok(checked) => checked,
            Err(wrong) => return self.mistake(key.restricts(), VALUE_INVALID, wrong.at, wrong.message),
        };
        if !is_project {
            if key.path == LAUNCHER {
                self.launcher_at = Some(value.at);
            }
            return self.values.set(key.path, checked);
        }
        let checked = if key.path == HIDDEN { self.own_paths(checked, value) } else { checked };
        let current = self.values.of_key(key.path).clone();
        if let Some(accepted) = self.tightened(key, key.path, &current, checked, value) {
            self.values.set(key.path, accepted);
        }
    }

    /// Returns the paths that a project may hide, without links, and reports the other ones.
    fn own_paths(&mut self, wanted: Value, value: &Located) -> Value {
        let Some((file, user)) = self.file.zip(self.user).map(|((_, file), user)| (file, user)) else {
            return wanted;
        };
        let Value::Array(wanted) = wanted else { return wanted };
        let known = self.values.of_key(HIDDEN).as_array().cloned().unwrap_or_default();
        let mut accepted = Vec::new();
        let mut refused = Vec::new();
        for path in wanted {
            if known.contains(&path) {
                continue;
            }
            match path.as_str().and_then(|path| hideable(path, file, user)) {
                Some(path) => {
                    self.values.add_project_hidden(path.clone());
                    accepted.push(path.into());
                }
                None => refused.push(path),
            }
        }
        if !refused.is_empty() {
            let message = format!(
                "`{HIDDEN}` is reduced: a project file may only hide files of the project, except \
                 repositories and the configuration of agents; {} is ignored",
                Value::Array(refused)
            );
            self.report(PROJECT_REFUSED, value.at, message);
        }
        Value::Array(accepted)
    }

    /// Reads the launchers of a file one by one. A call that uses an invalid launcher gets the reason.
    fn launchers(&mut self, key: &'static Key, path: &Path, members: &[Member]) {
        let mut launchers = serde_json::Map::new();
        if members.len() > MAX_LAUNCHERS {
            let message =
                format!("`{LAUNCHERS}` has {} entries; expected at most {MAX_LAUNCHERS}", members.len());
            return self.report(VALUE_INVALID, members[MAX_LAUNCHERS].name_at, message);
        }
        for member in members {
            let at = member.name_at;
            if launchers.contains_key(&member.name) || self.values.is_broken_launcher(&member.name) {
                self.duplicate(&format!("{LAUNCHERS}.{}", member.name), true, at);
                continue;
            }
            match check_launcher(key, member) {
                Ok(launcher) => drop(launchers.insert(member.name.clone(), launcher)),
                Err(mistake) => {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    let why = format!("is not valid ({file}:{}): {}", mistake.at.line, mistake.message);
                    self.values.add_broken_launcher(&member.name, why);
                    self.report(VALUE_INVALID, mistake.at, mistake.message);
                }
            }
        }
        self.values.set(key.path, Value::Object(launchers));
    }

    /// Remembers the agents and the tools that a file names. This module does not know which of them exist.
    fn note_names(&mut self, key: &str, kind: Kind, value: &Located) {
        let Some((_, path)) = self.file else { return };
        let items = match &value.json {
            Json::List(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let texts = items.iter().filter_map(|item| match &item.json {
            Json::Text(text) => Some((text.clone(), item.at)),
            _ => None,
        });
        let is_of_agents = matches!(key, ALLOW_AGENTS | DEFAULT_AGENT);
        let is_of_tools = matches!(kind, Kind::AllowedTools | Kind::DeniedTools | Kind::ToolNames);
        for (name, at) in texts.filter(|_| is_of_agents || is_of_tools) {
            let key = key.to_owned();
            let path = path.to_path_buf();
            if is_of_agents {
                self.named.push(NamedAgent { key, name, path, at });
            } else {
                let denies = kind == Kind::DeniedTools;
                self.named_tools.push(NamedTool { key, name, denies, path, at });
            }
        }
    }

    fn unknown(&mut self, path: &str, at: Position) {
        let (hint, meant) = if let Some((group, name)) = path.split_once('.').filter(|_| key(path).is_some())
        {
            (format!("; written as `\"{group}\": {{ \"{name}\": … }}` it is"), Some(path))
        } else {
            let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
            let typed = path.rsplit('.').next().unwrap_or(path);
            let near = nearest(path, KEYS.iter().map(|key| key.path).chain([AGENTS])).or_else(|| {
                let name = nearest(typed, KEYS.iter().map(|key| last(key.path)))?;
                KEYS.iter().map(|key| key.path).find(|path| last(path) == name)
            });
            (suggestion(near), near)
        };
        let restricts = meant.is_some_and(|path| path == AGENTS || key(path).is_some_and(Key::restricts));
        self.mistake(restricts, KEY_UNKNOWN, at, format!("{} is not a known key{hint}", quoted(path)));
    }

    fn duplicate(&mut self, path: &str, restricts: bool, at: Position) {
        let message = format!("{} is given twice; the first one counts", quoted(path));
        self.mistake(restricts, KEY_DUPLICATE, at, message);
    }

    /// Reports a mistake. In a file, a mistake in a setting that restricts is the reason to delegate nothing; a caller
    /// in this process gets each mistake as an error anyway.
    fn mistake(&mut self, restricts: bool, code: Code, at: Position, message: String) {
        if !restricts || self.file.is_none() {
            return self.report(code, at, message);
        }
        let code = (Severity::Error, code.1);
        if self.refusal.is_none() {
            self.refusal = Some(self.diagnostic(code, at, message.clone()));
        }
        let end = if message.ends_with('?') { " " } else { ". " };
        self.report(code, at, format!("{message}{end}{REFUSES}"));
    }

    fn report(&mut self, code: Code, at: Position, message: String) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(self.diagnostic(code, at, message));
        } else {
            self.unlisted += 1;
        }
    }

    fn diagnostic(&self, code: Code, at: Position, message: String) -> Diagnostic {
        let (path, at) = self.file.map(|(_, path)| (path, at)).unzip();
        Diagnostic::new(code, message, path, at)
    }
}

/// Returns true if a group has a key that restricts.
fn restricting_group(path: &str) -> bool {
    let in_group = |key: &&Key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    path == AGENTS || KEYS.iter().filter(in_group).any(Key::restricts)
}
