//! All configuration keys: type, bounds, default, and the changes that a project may make. Also the settings by key,
//! the form in which files are merged.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::settings::{
    AllowWrite, AnnounceMode, Config, EarlyBoot, NonInteractivePolicy, OnExit, OnRestart, Origin,
    ProjectAgentPolicy, Protocol,
};
use crate::{Context, Isolation, Network, SandboxMode, THINKING_LEVELS};
use sanitizer::HomePaths;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Bool,
    /// `true`, `false`, or this word.
    BoolOr(&'static str),
    /// A whole number within these bounds, inclusive.
    Integer { min: u64, max: u64 },
    /// An amount, zero or more.
    Amount,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One line of text. If the key has no default, `inherit` means the same as a missing key.
    Text,
    /// A keyboard shortcut in pi's spelling, such as `ctrl+shift+b`, or `none`.
    Shortcut,
    /// A list of non-empty texts.
    TextList,
    /// A list of absolute paths and of paths below the home directory, `~/…`.
    PathList,
    /// A list of exact values and of rules of the sanitizer, `rule:NAME`.
    AllowedList,
    /// A program and its arguments: a list of texts with at least one entry.
    Command,
    /// Environment variables and their values.
    Environment,
    /// Names of language server actions.
    LspActions,
    /// One of these words, or a list of texts.
    ChoiceOrList(&'static [&'static str]),
    /// Launchers by name.
    Launchers,
    /// A list of paths within a project.
    ProjectPathList,
    /// A list of tool names, as an agent file has them.
    ToolNames,
    /// A list of names and patterns of tools that are allowed.
    AllowedTools,
    /// A list of names and patterns of tools that are denied.
    DeniedTools,
    /// `true`, `false` or a list of names.
    BoolOrList,
}

/// The ways in which a project file may change a value of the user's file or a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tighten {
    /// Not at all: a cloned repository must not decide it.
    Never,
    /// Only set it to this value.
    Only(bool),
    /// Make it smaller.
    Smaller,
    /// Make it smaller, where 0 means no limit.
    SmallerLimit,
    /// Move it towards the end of its list of choices, or from the word to `true` to `false`.
    Later,
    /// Add entries.
    More,
    /// Remove entries.
    Fewer,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Relative to `subagents`; a dot separates levels of nesting.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// The default value as JSON; `null` means absent.
    pub(super) default: &'static str,
    pub(super) project: Tighten,
}

/// The keys that a project may not set, and whose default permits more than other values do.
const RESTRICTING: [&str; 7] = [
    "allowAgents",
    "inheritContext",
    "inheritExtensions",
    "launcher",
    "persistSession",
    "piCommand",
    "sanitize.homePaths",
];

impl Key {
    /// Returns true if a value can be stricter than the default. A wrong value of such a key must not fall back to the
    /// default, because the default would permit something that the author of the file meant to forbid.
    pub(super) fn restricts(&self) -> bool {
        match self.project {
            Tighten::Never => RESTRICTING.contains(&self.path),
            Tighten::Only(strict) => self.default != if strict { "true" } else { "false" },
            Tighten::Later => self.default != "false",
            Tighten::Fewer => self.default != "[]",
            Tighten::Smaller | Tighten::SmallerLimit | Tighten::More => true,
        }
    }
}

/// The key of the hidden paths.
pub(super) const HIDDEN: &str = "sandbox.hidden";

/// The maximum duration: a week. A longer limit would be no limit in practice.
const MAX_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// The largest whole number that every JSON reader represents exactly.
pub(super) const MAX_EXACT: u64 = (1 << 53) - 1;

const MS: Kind = Kind::Integer { min: 0, max: MAX_MS };
const COUNT: Kind = Kind::Integer { min: 0, max: MAX_EXACT };
const SLOTS: Kind = Kind::Integer { min: 1, max: 256 };

/// `inherit`, then the levels.
const THINKING: [&str; 1 + THINKING_LEVELS.len()] = {
    let mut choices = ["inherit"; 1 + THINKING_LEVELS.len()];
    let mut index = 0;
    while index < THINKING_LEVELS.len() {
        choices[index + 1] = THINKING_LEVELS[index];
        index += 1;
    }
    choices
};

const fn setting(path: &'static str, kind: Kind, default: &'static str, project: Tighten) -> Key {
    Key { path, kind, default, project }
}

/// All keys.
pub(super) const KEYS: &[Key] = {
    use Kind::{
        AllowedList, AllowedTools, Amount, Bool, BoolOr, Choice, ChoiceOrList, Command, DeniedTools,
        Environment, Integer, Launchers, LspActions, PathList, ProjectPathList, Shortcut, Text, TextList,
    };
    use Tighten::{Fewer, Later, More, Never, Only, Smaller, SmallerLimit};
    &[
        setting("enabled", Bool, "true", Only(false)),
        setting("maxDepth", Integer { min: 0, max: 16 }, "1", Smaller),
        setting("timeoutMs", MS, "900000", SmallerLimit),
        setting("idleTimeoutMs", MS, "180000", SmallerLimit),
        setting("toolTimeoutMs", MS, "0", SmallerLimit),
        setting("graceMs", Integer { min: 0, max: 600_000 }, "5000", Never),
        setting("allowWrite", BoolOr(AllowWrite::EVERYWHERE), "false", Later),
        setting("allowLspTools", Bool, "true", Only(false)),
        setting(
            "allowedLspActions",
            LspActions,
            r#"["definition","references","hover","signature","symbols","diagnostics","workspace-diagnostics","servers"]"#,
            Fewer,
        ),
        setting("projectAgentPolicy", Choice(ProjectAgentPolicy::TEXTS), r#""confirm""#, Later),
        setting("nonInteractivePolicy", Choice(NonInteractivePolicy::TEXTS), r#""deny""#, Later),
        setting("agentDirs", PathList, "[]", Never),
        setting("projectAgentDirs", ProjectPathList, "[]", Never),
        setting("injectDelegationPolicy", Bool, "true", Never),
        setting("output.maxBytes", Integer { min: 256, max: 16 << 20 }, "51200", Smaller),
        setting("output.maxTotalBytes", Integer { min: 256, max: 64 << 20 }, "524288", Smaller),
        setting("output.maxLines", Integer { min: 4, max: 1_000_000 }, "2000", Smaller),
        setting("model", Text, "null", Never),
        setting("thinking", Choice(&THINKING), "null", Never),
        setting("inheritContext", Choice(Context::TEXTS), r#""project""#, Never),
        setting("inheritSkills", Bool, "false", Never),
        setting("inheritExtensions", ChoiceOrList(&["auto", "none", "all"]), r#""auto""#, Never),
        setting("piCommand", Command, "null", Never),
        setting("env", Environment, "{}", Never),
        setting("persistSession", Bool, "true", Never),
        setting("tools.deny", DeniedTools, "[]", More),
        setting("tools.allow", AllowedTools, "null", Fewer),
        setting("protocol", Choice(Protocol::TEXTS), r#""rpc""#, Never),
        setting("quota.maxWaitMs", MS, "21600000", Never),
        setting("quota.headlessMaxWaitMs", MS, "600000", Never),
        setting("retry.enabled", Bool, "true", Never),
        setting("retry.maxAttempts", Integer { min: 1, max: 10 }, "2", Never),
        setting("retry.backoffMs", Integer { min: 0, max: 600_000 }, "1000", Never),
        setting("sandbox.mode", Choice(SandboxMode::TEXTS), r#""auto""#, Later),
        setting("sandbox.metadata", Bool, "true", Only(true)),
        setting("sandbox.network", Choice(Network::TEXTS), r#""on""#, Later),
        setting(HIDDEN, PathList, r#"["~/.ssh","~/.aws","~/.gnupg","~/.config/gh","~/.netrc"]"#, More),
        setting("sandbox.writable", PathList, "[]", Never),
        setting("sandbox.env", TextList, "[]", Fewer),
        setting("sanitize.homePaths", Choice(HomePaths::TEXTS), r#""own""#, Never),
        setting("sanitize.allow", AllowedList, "[]", Never),
        setting("pidNamespace", Bool, "false", Only(true)),
        setting("budget.maxCost", Amount, "0", SmallerLimit),
        setting("budget.maxTokens", COUNT, "0", SmallerLimit),
        setting("budget.maxTurns", Integer { min: 0, max: 1_000_000 }, "0", SmallerLimit),
        setting("loop.warnAfter", Integer { min: 0, max: 10_000 }, "4", SmallerLimit),
        setting("loop.stopAfter", Integer { min: 0, max: 10_000 }, "8", SmallerLimit),
        setting("sessionBudget.maxCost", Amount, "0", SmallerLimit),
        setting("limits.memoryBytes", COUNT, "0", SmallerLimit),
        setting("limits.processes", Integer { min: 0, max: 1 << 22 }, "0", SmallerLimit),
        setting("limits.cpuSeconds", COUNT, "0", SmallerLimit),
        setting("limits.openFiles", Integer { min: 0, max: 1 << 22 }, "0", SmallerLimit),
        setting("check.timeoutMs", Integer { min: 1000, max: MAX_MS }, "600000", Smaller),
        setting("check.attempts", Integer { min: 0, max: 10 }, "1", Smaller),
        setting("maxConcurrent", SLOTS, "8", Smaller),
        setting("parallelConcurrency", SLOTS, "4", Smaller),
        setting("maxConcurrentPerUser", Integer { min: 1, max: 4096 }, "16", Smaller),
        setting("maxParallelTasks", Integer { min: 1, max: 64 }, "8", Smaller),
        setting("maxChainSteps", Integer { min: 1, max: 64 }, "8", Smaller),
        setting("earlyBoot", Choice(EarlyBoot::TEXTS), r#""on""#, Never),
        setting("bootAhead", Integer { min: 0, max: 16 }, "1", Smaller),
        setting("spare.count", Integer { min: 0, max: 16 }, "0", Smaller),
        setting("spare.idleMs", Integer { min: 1_000, max: 3_600_000 }, "60000", Smaller),
        setting("defaultAgent", Text, r#""explorer""#, Never),
        setting("allowAgents", TextList, r#"["*"]"#, Never),
        setting("announce.mode", Choice(AnnounceMode::TEXTS), r#""auto""#, Never),
        setting("announce.triggerTurn", Bool, "true", Never),
        setting("background.onRestart", Choice(OnRestart::TEXTS), r#""tell""#, Never),
        setting("background.onExit", Choice(OnExit::TEXTS), r#""end""#, Never),
        setting("background.headlessWaitMs", MS, "900000", Never),
        setting("background.key", Shortcut, r#""alt+g""#, Never),
        setting("archiveAfterMinutes", Integer { min: 0, max: 525_600 }, "60", Never),
        setting("quotaBytes", COUNT, "1073741824", Never),
        setting("workflows.retentionDays", Integer { min: 0, max: 3_650 }, "30", Never),
        setting("snapshot.maxBytes", COUNT, "268435456", Never),
        setting("isolation.copy", ProjectPathList, "[]", Never),
        setting("isolation.setup", Text, "null", Never),
        setting("isolation.setupTimeoutMs", Integer { min: 1000, max: MAX_MS }, "600000", Smaller),
        setting("launchers", Launchers, "{}", Never),
        setting("launcher", Text, "null", Never),
    ]
};

/// The group whose members are agents by name, and `*`: each an object with the keys of [`AGENT_KEYS`].
pub(super) const AGENTS: &str = "agents";
/// The settings of an agent from a project's files: a member that no file can name.
pub(super) const PROJECT_MEMBER: &str = "project";

/// The keys of one agent, relative to `agents.NAME`. Absent keys leave the agent file unchanged.
pub(super) const AGENT_KEYS: &[Key] = {
    use Kind::{Amount, Bool, BoolOrList, Choice, Integer, Text, ToolNames};
    use Tighten::{Fewer, Later, Never, Only, SmallerLimit};
    &[
        setting("model", Text, "null", Never),
        setting("thinking", Choice(&THINKING), "null", Never),
        setting("check", Text, "null", Never),
        setting("setup", Text, "null", Never),
        setting("tools", ToolNames, "null", Fewer),
        setting("timeoutMs", MS, "null", SmallerLimit),
        setting("idleTimeoutMs", MS, "null", SmallerLimit),
        setting("maxTurns", Integer { min: 0, max: 1_000_000 }, "null", SmallerLimit),
        setting("maxCost", Amount, "null", SmallerLimit),
        setting("loopStopAfter", Integer { min: 0, max: 10_000 }, "null", SmallerLimit),
        setting("skills", BoolOrList, "null", Fewer),
        setting("context", Choice(Context::TEXTS), "null", Later),
        setting("isolation", Choice(Isolation::TEXTS), "null", Later),
        setting("enabled", Bool, "null", Only(false)),
    ]
};

/// Looks up a key by its exact path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Returns true if `path` is a group of keys, which is an object in the file.
pub(super) fn is_group(path: &str) -> bool {
    KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// A value for each key: the JSON object that a [`Config`] is written as.
#[derive(Clone, Debug)]
pub(super) struct Values {
    json: Value,
    /// The invalid launchers, with the reasons. They are not a setting.
    broken_launchers: BTreeMap<String, String>,
    /// The entries of [`HIDDEN`] that only projects have. They are not a setting either.
    project_hidden: Vec<String>,
}

impl Default for Values {
    fn default() -> Self {
        let mut values = Self {
            json: json!({ AGENTS: {} }),
            broken_launchers: BTreeMap::new(),
            project_hidden: Vec::new(),
        };
        for key in KEYS {
            let default = serde_json::from_str(key.default).expect("a test reads the default of every key");
            values.set(key.path, default);
        }
        values
    }
}

impl Values {
    pub(super) fn of(config: &Config) -> Self {
        let json = serde_json::to_value(config).expect("the settings have text keys and finite numbers only");
        Self {
            json,
            broken_launchers: config.broken_launchers.clone(),
            project_hidden: config.project_hidden.clone(),
        }
    }

    pub(super) fn of_key(&self, path: &str) -> &Value {
        path.split('.').fold(&self.json, |group, name| &group[name])
    }

    /// `value` must have passed the check of this key.
    pub(super) fn set(&mut self, path: &'static str, value: Value) {
        *path.split('.').fold(&mut self.json, |group, name| &mut group[name]) = value;
    }

    /// Notes a hidden path that only a project's file has.
    pub(super) fn add_project_hidden(&mut self, path: String) {
        self.project_hidden.push(path);
    }

    /// Notes that a launcher is defined but invalid.
    pub(super) fn add_broken_launcher(&mut self, name: &str, why: String) {
        self.broken_launchers.insert(name.to_owned(), why);
    }

    /// Returns true if a launcher is defined but invalid.
    pub(super) fn is_broken_launcher(&self, name: &str) -> bool {
        self.broken_launchers.contains_key(name)
    }

    /// Returns the value of an agent's key, or `Null` if it has none.
    pub(super) fn of_agent(&self, agent: &str, origin: Origin, path: &str) -> &Value {
        let own = &self.json[AGENTS][agent];
        if origin == Origin::Project { &own[PROJECT_MEMBER][path] } else { &own[path] }
    }

    /// `value` must have passed the check of this key.
    pub(super) fn set_of_agent(&mut self, agent: &str, origin: Origin, path: &str, value: Value) {
        let own = &mut self.json[AGENTS][agent];
        let own = if origin == Origin::Project { &mut own[PROJECT_MEMBER] } else { own };
        own[path] = value;
    }

    pub(super) fn into_config(self) -> Config {
        let config = serde_json::from_value(self.json);
        let config: Config =
            config.expect("the check of each key admits only values that its field can read");
        Config { broken_launchers: self.broken_launchers, project_hidden: self.project_hidden, ..config }
    }
}

impl Default for Config {
    fn default() -> Self {
        Values::default().into_config()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_defaults_are_json() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..index].iter().all(|earlier| earlier.path != key.path), "{}", key.path);
            assert!(serde_json::from_str::<serde_json::Value>(key.default).is_ok(), "{}", key.path);
            assert!(!is_group(key.path), "{} is a key and a group", key.path);
        }
    }
}
