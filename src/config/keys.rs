//! All configuration keys: type, bounds, default, whether the key has an effect yet, and what a project may do to it;
//! and the settings by key, the form in which files are merged.

use serde_json::{Value, json};

use super::settings::{
    AllowWrite, AnnounceMode, Config, EarlyBoot, NonInteractivePolicy, OnExit, Origin, ProjectAgentPolicy,
    Protocol,
};
use crate::agent::{Context, Isolation, Network, SandboxMode, THINKING_LEVELS};
use crate::text::HomePaths;

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
    /// One line of text. If the key has no default, `inherit` is the same as leaving it out.
    Text,
    /// A list of texts, none of them empty.
    TextList,
    /// A list of absolute paths and of paths below the home directory, `~/…`.
    PlaceList,
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
    InnerPlaceList,
    /// A list of tool names, as an agent file has them.
    ToolNames,
    /// `true`, `false` or a list of names.
    BoolOrList,
}

/// How a project file may change a value set by the user's file or by default.
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
    /// As JSON; `null` means absent.
    pub(super) default: &'static str,
    pub(super) in_force: bool,
    pub(super) project: Tighten,
}

/// A week. A longer limit is as good as none.
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

const fn works(path: &'static str, kind: Kind, default: &'static str, project: Tighten) -> Key {
    Key { path, kind, default, in_force: true, project }
}

#[expect(dead_code, reason = "every key works now; one of a later release is checked before")]
const fn later(path: &'static str, kind: Kind, default: &'static str, project: Tighten) -> Key {
    Key { in_force: false, ..works(path, kind, default, project) }
}

/// All keys, also those without an effect yet: a file written for a later release is still checked.
pub(super) const KEYS: &[Key] = {
    use Kind::{
        AllowedList, Amount, Bool, BoolOr, Choice, ChoiceOrList, Command, Environment, InnerPlaceList,
        Integer, Launchers, LspActions, PlaceList, Text, TextList,
    };
    use Tighten::{Fewer, Later, More, Never, Only, Smaller, SmallerLimit};
    &[
        works("enabled", Bool, "true", Only(false)),
        works("maxDepth", Integer { min: 0, max: 16 }, "1", Smaller),
        works("timeoutMs", MS, "900000", SmallerLimit),
        works("idleTimeoutMs", MS, "180000", SmallerLimit),
        works("toolTimeoutMs", MS, "0", SmallerLimit),
        works("graceMs", Integer { min: 0, max: 600_000 }, "5000", Never),
        works("allowWrite", BoolOr(AllowWrite::EVERYWHERE), "false", Later),
        works("allowLspTools", Bool, "true", Only(false)),
        works(
            "allowedLspActions",
            LspActions,
            r#"["definition","references","hover","signature","symbols","diagnostics","workspace-diagnostics","servers"]"#,
            Fewer,
        ),
        works("projectAgentPolicy", Choice(ProjectAgentPolicy::TEXTS), r#""confirm""#, Later),
        works("nonInteractivePolicy", Choice(NonInteractivePolicy::TEXTS), r#""deny""#, Later),
        works("agentDirs", PlaceList, "[]", Never),
        works("projectAgentDirs", InnerPlaceList, "[]", Never),
        works("injectDelegationPolicy", Bool, "true", Never),
        works("output.maxBytes", Integer { min: 256, max: 16 << 20 }, "51200", Smaller),
        works("output.maxLines", Integer { min: 4, max: 1_000_000 }, "2000", Smaller),
        works("model", Text, "null", Never),
        works("thinking", Choice(&THINKING), "null", Never),
        works("inheritContext", Choice(Context::TEXTS), r#""project""#, Never),
        works("inheritSkills", Bool, "false", Never),
        works("inheritExtensions", ChoiceOrList(&["auto", "none", "all"]), r#""auto""#, Never),
        works("piCommand", Command, "null", Never),
        works("env", Environment, "{}", Never),
        works("persistSession", Bool, "true", Never),
        works("tools.deny", TextList, "[]", More),
        works("tools.allow", TextList, "null", Fewer),
        works("protocol", Choice(Protocol::TEXTS), r#""rpc""#, Never),
        works("retry.enabled", Bool, "true", Never),
        works("retry.maxAttempts", Integer { min: 1, max: 10 }, "2", Never),
        works("retry.backoffMs", Integer { min: 0, max: 600_000 }, "1000", Never),
        works("sandbox.mode", Choice(SandboxMode::TEXTS), r#""auto""#, Later),
        works("sandbox.metadata", Bool, "true", Only(true)),
        works("sandbox.network", Choice(Network::TEXTS), r#""on""#, Later),
        works(
            "sandbox.hidden",
            PlaceList,
            r#"["~/.ssh","~/.aws","~/.gnupg","~/.config/gh","~/.netrc"]"#,
            More,
        ),
        works("sandbox.writable", PlaceList, "[]", Never),
        works("sandbox.env", TextList, "[]", Fewer),
        works("sanitize.homePaths", Choice(HomePaths::TEXTS), r#""own""#, Never),
        works("sanitize.allow", AllowedList, "[]", Never),
        works("pidNamespace", Bool, "false", Only(true)),
        works("budget.maxCost", Amount, "0", SmallerLimit),
        works("budget.maxTokens", COUNT, "0", SmallerLimit),
        works("budget.maxTurns", Integer { min: 0, max: 1_000_000 }, "0", SmallerLimit),
        works("loop.warnAfter", Integer { min: 0, max: 10_000 }, "4", SmallerLimit),
        works("loop.stopAfter", Integer { min: 0, max: 10_000 }, "8", SmallerLimit),
        works("sessionBudget.maxCost", Amount, "0", SmallerLimit),
        works("limits.memoryBytes", COUNT, "0", SmallerLimit),
        works("limits.processes", Integer { min: 0, max: 1 << 22 }, "0", SmallerLimit),
        works("limits.cpuSeconds", COUNT, "0", SmallerLimit),
        works("limits.openFiles", Integer { min: 0, max: 1 << 22 }, "0", SmallerLimit),
        works("check.timeoutMs", Integer { min: 1000, max: MAX_MS }, "600000", Smaller),
        works("check.attempts", Integer { min: 0, max: 10 }, "1", Smaller),
        works("maxConcurrent", SLOTS, "8", Smaller),
        works("parallelConcurrency", SLOTS, "4", Smaller),
        works("maxConcurrentPerUser", Integer { min: 1, max: 4096 }, "16", Smaller),
        works("maxParallelTasks", Integer { min: 1, max: 64 }, "8", Smaller),
        works("maxChainSteps", Integer { min: 1, max: 64 }, "8", Smaller),
        works("earlyBoot", Choice(EarlyBoot::TEXTS), r#""on""#, Never),
        works("spare.count", Integer { min: 0, max: 16 }, "0", Smaller),
        works("spare.idleMs", Integer { min: 1_000, max: 3_600_000 }, "60000", Smaller),
        works("defaultAgent", Text, r#""explorer""#, Never),
        works("allowAgents", TextList, r#"["*"]"#, Never),
        works("announce.mode", Choice(AnnounceMode::TEXTS), r#""auto""#, Never),
        works("announce.triggerTurn", Bool, "true", Never),
        works("background.onExit", Choice(OnExit::TEXTS), r#""end""#, Never),
        works("background.headlessWaitMs", MS, "900000", Never),
        works("background.key", Text, r#""alt+g""#, Never),
        works("archiveAfterMinutes", Integer { min: 0, max: 525_600 }, "60", Never),
        works("quotaBytes", COUNT, "1073741824", Never),
        works("snapshot.maxBytes", COUNT, "268435456", Never),
        works("isolation.copy", InnerPlaceList, "[]", Never),
        works("launchers", Launchers, "{}", Never),
        works("launcher", Text, "null", Never),
    ]
};

/// The group whose members are agents by name, and `*`: each an object with the keys of [`AGENT_KEYS`].
pub(super) const AGENTS: &str = "agents";
/// What a project's files say about an agent: a member of its settings that no file can name.
pub(super) const OF_PROJECT: &str = "project";

/// The keys of one agent, relative to `agents.NAME`. Absent ones leave the agent file as it is.
pub(super) const AGENT_KEYS: &[Key] = {
    use Kind::{Amount, Bool, BoolOrList, Choice, Integer, Text, ToolNames};
    use Tighten::{Fewer, Later, Never, Only, SmallerLimit};
    &[
        works("model", Text, "null", Never),
        works("thinking", Choice(&THINKING), "null", Never),
        works("check", Text, "null", Never),
        works("tools", ToolNames, "null", Fewer),
        works("timeoutMs", MS, "null", SmallerLimit),
        works("idleTimeoutMs", MS, "null", SmallerLimit),
        works("maxTurns", Integer { min: 0, max: 1_000_000 }, "null", SmallerLimit),
        works("maxCost", Amount, "null", SmallerLimit),
        works("loopStopAfter", Integer { min: 0, max: 10_000 }, "null", SmallerLimit),
        works("skills", BoolOrList, "null", Fewer),
        works("context", Choice(Context::TEXTS), "null", Later),
        works("isolation", Choice(Isolation::TEXTS), "null", Later),
        works("enabled", Bool, "null", Only(false)),
    ]
};

/// Looks up a key by its exact path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Whether `path` is a group of keys, which is an object in the file.
pub(super) fn is_group(path: &str) -> bool {
    KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// A value for each key: the JSON object that a [`Config`] is written as.
#[derive(Clone, Debug)]
pub(super) struct Values(Value);

impl Default for Values {
    fn default() -> Self {
        let mut values = Self(json!({ AGENTS: {} }));
        for key in KEYS {
            let default = serde_json::from_str(key.default).expect("a test reads the default of every key");
            values.set(key.path, default);
        }
        values
    }
}

impl Values {
    pub(super) fn of(config: &Config) -> Self {
        Self(serde_json::to_value(config).expect("the settings have text keys and finite numbers only"))
    }

    pub(super) fn of_key(&self, path: &str) -> &Value {
        path.split('.').fold(&self.0, |group, name| &group[name])
    }

    /// `value` must have passed the check of this key.
    pub(super) fn set(&mut self, path: &'static str, value: Value) {
        *path.split('.').fold(&mut self.0, |group, name| &mut group[name]) = value;
    }

    /// The value of an agent's key, `Null` if it has none.
    pub(super) fn of_agent(&self, agent: &str, origin: Origin, path: &str) -> &Value {
        let own = &self.0[AGENTS][agent];
        if origin == Origin::Project { &own[OF_PROJECT][path] } else { &own[path] }
    }

    /// `value` must have passed the check of this key.
    pub(super) fn set_of_agent(&mut self, agent: &str, origin: Origin, path: &str, value: Value) {
        let own = &mut self.0[AGENTS][agent];
        let own = if origin == Origin::Project { &mut own[OF_PROJECT] } else { own };
        own[path] = value;
    }

    pub(super) fn into_config(self) -> Config {
        serde_json::from_value(self.0).expect("the check of each key admits only what its field reads")
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
