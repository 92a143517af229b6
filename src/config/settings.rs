//! The settings as the rest of the program uses them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::agent_settings::AgentSettings;
use super::launcher::Launcher;
use super::shortcut::NO_KEY;
use super::units::{Limit, Millis, MillisLimit, MinutesLimit};
use crate::agent::{Context, Network, SandboxMode};
use crate::text::{HomePaths, TruncateLimits, text_enum};

/// All settings. Serialized, it has the shape of the `subagents` object of a configuration file, with defaults filled
/// in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own, and named where it is read")]
pub struct Config {
    /// Whether the tools are registered at all.
    pub enabled: bool,
    /// How deep delegation may nest.
    pub max_depth: u32,
    /// Hard timeout of a run; `None` is no limit.
    #[serde(rename = "timeoutMs", with = "MillisLimit")]
    pub timeout: Option<Duration>,
    /// Idle timeout of a run; `None` is no limit.
    #[serde(rename = "idleTimeoutMs", with = "MillisLimit")]
    pub idle_timeout: Option<Duration>,
    /// Idle timeout while a tool runs; `None` is no limit.
    #[serde(rename = "toolTimeoutMs", with = "MillisLimit")]
    pub tool_timeout: Option<Duration>,
    /// Grace period between the polite signal and the kill.
    #[serde(rename = "graceMs", with = "Millis")]
    pub grace: Duration,
    /// Where agents that are not readonly may write.
    pub allow_write: AllowWrite,
    /// Children may use the tool `lsp`.
    pub allow_lsp_tools: bool,
    /// The actions that they may use with it.
    pub allowed_lsp_actions: Vec<String>,
    /// How agents defined by a project are treated.
    pub project_agent_policy: ProjectAgentPolicy,
    /// How they are treated when the user cannot be asked.
    pub non_interactive_policy: NonInteractivePolicy,
    /// More directories with the user's agents; `~/` is the home directory.
    pub agent_dirs: Vec<String>,
    /// Further directories of a project that hold agents, relative to its directories.
    pub project_agent_dirs: Vec<String>,
    /// Settings of single agents by name; those under `*` apply to all, where an agent's own say nothing.
    pub agents: BTreeMap<String, AgentSettings>,
    /// Whether the delegation policy is appended to the system prompt.
    pub inject_delegation_policy: bool,
    /// Waits for a provider whose quota is used up.
    pub quota: Quota,
    /// Retries after a transient failure.
    pub retry: Retry,
    /// How much of a child's answer reaches the model.
    pub output: OutputLimits,
    /// How the child is driven.
    pub protocol: Protocol,
    /// Default model of children; `None` inherits.
    pub model: Option<String>,
    /// Default thinking level of children; `None` inherits.
    pub thinking: Option<String>,
    /// Which context files a child reads.
    pub inherit_context: Context,
    /// Whether a child sees skills.
    pub inherit_skills: bool,
    /// Which extensions a child loads.
    pub inherit_extensions: InheritExtensions,
    /// The pi program with its leading arguments; `None` uses the pi that hosts this one.
    pub pi_command: Option<Vec<String>>,
    /// Additional environment of children.
    pub env: BTreeMap<String, String>,
    /// Whether a child keeps a session file.
    pub persist_session: bool,
    /// Limits on every child's tools.
    pub tools: Tools,
    /// The sandbox of a child.
    pub sandbox: Sandbox,
    /// What is taken out of texts.
    pub sanitize: Sanitize,
    /// Spending limits of one run.
    pub budget: Budget,
    /// What happens to a run whose tool calls repeat.
    #[serde(rename = "loop")]
    pub loops: LoopLimits,
    /// Spending limits of everything that one session delegates.
    pub session_budget: SessionBudget,
    /// Limits of one child's process tree.
    pub limits: Limits,
    /// How an agent's check is run.
    pub check: Check,
    /// Whether a child's process tree gets a pid namespace of its own.
    pub pid_namespace: bool,
    /// Most children of this pi process at once.
    pub max_concurrent: usize,
    /// Most children of one parallel call at once.
    pub parallel_concurrency: usize,
    /// Most children of all this user's pi processes at once.
    pub max_concurrent_per_user: usize,
    /// Most tasks of one parallel call.
    pub max_parallel_tasks: usize,
    /// Most steps of one chain call.
    pub max_chain_steps: usize,
    /// Whether to boot a child while the arguments of its call still arrive.
    pub early_boot: EarlyBoot,
    /// Children that wait for the next call.
    pub spare: Spare,
    /// The agent of a background run that names none.
    pub default_agent: String,
    /// Agents that background runs may use; `*` allows any.
    pub allow_agents: Vec<String>,
    /// How the end of a background run is announced.
    pub announce: Announce,
    /// What happens to background runs when pi exits.
    pub background: Background,
    /// When transcripts are archived; `None` is never.
    #[serde(rename = "archiveAfterMinutes", with = "MinutesLimit")]
    pub archive_after: Option<Duration>,
    /// Most bytes of all run directories together; 0 is no limit.
    pub quota_bytes: u64,
    /// The state of a work tree that is kept before a run changes it.
    pub snapshot: SnapshotSettings,
    /// The private trees of isolated runs.
    pub isolation: IsolationSettings,
    /// Programs that start children elsewhere, by name.
    pub launchers: BTreeMap<String, Launcher>,
    /// Launchers that the user's file defines and that are not valid, with what is wrong and where.
    #[serde(skip)]
    pub broken_launchers: BTreeMap<String, String>,
    /// The launcher of agents that name none; `None` starts children on this machine.
    pub launcher: Option<String>,
}

/// Where agents that are not readonly may write. In a file `true`, `false` or `"all"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllowWrite {
    /// Nowhere: they lose their write tools.
    #[default]
    Nowhere,
    /// In the work tree of their directory, as far as the kernel can hold them there.
    Tree,
    /// Wherever the user can.
    Everywhere,
}

impl AllowWrite {
    /// The word for [`Self::Everywhere`].
    pub const EVERYWHERE: &str = "all";

    /// Whether they keep their write tools.
    #[must_use]
    pub fn is_on(self) -> bool {
        self != Self::Nowhere
    }
}

impl Serialize for AllowWrite {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Everywhere => serializer.serialize_str(Self::EVERYWHERE),
            _ => serializer.serialize_bool(self.is_on()),
        }
    }
}

impl<'de> Deserialize<'de> for AllowWrite {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Bool(false) => Ok(Self::Nowhere),
            serde_json::Value::Bool(true) => Ok(Self::Tree),
            serde_json::Value::String(word) if word == Self::EVERYWHERE => Ok(Self::Everywhere),
            _ => Err(serde::de::Error::custom("expected true, false or \"all\"")),
        }
    }
}

text_enum! {
    /// Whose configuration file it is.
    pub enum Origin {
        /// The user's own.
        User = "user",
        /// The project's.
        Project = "project",
    }
}

text_enum! {
    /// How agents defined by a project are treated.
    pub enum ProjectAgentPolicy {
        /// They run.
        Allow = "allow",
        /// The user is asked once per definition.
        Confirm = "confirm",
        /// They do not run.
        Deny = "deny",
    }
}

text_enum! {
    /// How project agents are treated when the user cannot be asked.
    pub enum NonInteractivePolicy {
        /// They run.
        Allow = "allow",
        /// They do not run.
        Deny = "deny",
    }
}

/// How much of the answers of children reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputLimits {
    /// Bytes of one answer.
    pub max_bytes: usize,
    /// Lines of one answer.
    pub max_lines: usize,
    /// Bytes of several answers in one result or message. The default lets ten pass whole, about 130,000 tokens: an eighth
    /// of a context of a million, and still below one of 200,000.
    pub max_total_bytes: usize,
}

impl OutputLimits {
    /// The limits of one answer alone.
    #[must_use]
    pub fn one(self) -> TruncateLimits {
        TruncateLimits { max_bytes: self.max_bytes, max_lines: self.max_lines }
    }

    /// The limits of each of `count` answers in one text: those of one alone, unless all together would be too much.
    #[must_use]
    pub fn each_of(self, count: usize) -> TruncateLimits {
        let share = if count > 1 { self.max_total_bytes / count } else { self.max_bytes };
        TruncateLimits { max_bytes: self.max_bytes.min(share).max(1), ..self.one() }
    }

    /// The limits of a text with `count` answers, never less than those of one. Lines bound each answer, and no sum of them.
    #[must_use]
    pub fn all_of(self, count: usize) -> TruncateLimits {
        if count <= 1 {
            return self.one();
        }
        TruncateLimits { max_bytes: self.max_total_bytes.max(self.max_bytes), max_lines: usize::MAX }
    }
}

/// Waits for a provider whose quota is used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// The longest wait of a run in a pi with a user. Zero: such a run fails at once.
    #[serde(rename = "maxWaitMs", with = "Millis")]
    pub max_wait: Duration,
    /// The longest wait of a run in a pi without a user: print and JSON mode.
    #[serde(rename = "headlessMaxWaitMs", with = "Millis")]
    pub headless_max_wait: Duration,
}

/// Retries after a transient failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Whether to retry.
    pub enabled: bool,
    /// Includes the first attempt.
    pub max_attempts: u32,
    /// Pause before the second attempt; doubles with each further one.
    #[serde(rename = "backoffMs", with = "Millis")]
    pub backoff: Duration,
}

text_enum! {
    /// How a child is driven.
    pub enum Protocol {
        /// One shot: the task goes in, events come out.
        Json = "json",
        /// Commands in, events out.
        Rpc = "rpc",
    }
}

/// Which extensions a child loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InheritExtensions {
    /// Those that provide the child's model or one of its tools.
    Auto,
    /// None.
    None,
    /// All that the host has loaded.
    All,
    /// Exactly these files.
    #[serde(untagged)]
    Only(Vec<String>),
}

/// Limits on every child's tools. `*` in a name matches any characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    /// Never these. Wins over `allow`.
    pub deny: Vec<String>,
    /// If set, only these.
    pub allow: Option<Vec<String>>,
}

/// The read-only sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// When it is used.
    pub mode: SandboxMode,
    /// Whether it also protects modes, times and attributes of files.
    pub metadata: bool,
    /// Whether the shell of a child reaches the network.
    pub network: Network,
    /// Files and directories that a child does not see; `~/` is the home directory.
    pub hidden: Vec<String>,
    /// What a child may write beside its tree, where its agent may write; `~/` is the home directory.
    pub writable: Vec<String>,
    /// Environment variables that its shell keeps although their names say that they hold a secret. `*` matches any
    /// characters.
    pub env: Vec<String>,
}

/// Limits of the state of a work tree that is kept before a run changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotSettings {
    /// Most bytes of all files together that are not committed.
    pub max_bytes: u64,
}

/// The private trees of isolated runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IsolationSettings {
    /// Ignored files and directories that they get a copy of, relative to the root of the tree.
    pub copy: Vec<String>,
    /// The shell command that prepares them, for agents that name none.
    pub setup: Option<String>,
    /// The longest that a command may prepare one.
    #[serde(rename = "setupTimeoutMs", with = "Millis")]
    pub setup_timeout: Duration,
}

/// What is taken out of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sanitize {
    /// Which home directories become `~`.
    pub home_paths: HomePaths,
    /// Exact values, and rules as `rule:NAME`, that are left alone.
    pub allow: Vec<String>,
}

/// Spending limits of one run; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// In USD.
    #[serde(with = "Limit")]
    pub max_cost: Option<f64>,
    /// All kinds of tokens together.
    #[serde(with = "Limit")]
    pub max_tokens: Option<u64>,
    /// Assistant messages of the model.
    #[serde(with = "Limit")]
    pub max_turns: Option<u64>,
}

/// How often a run may repeat the same tool calls with the same results; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopLimits {
    /// After this many times the child is told.
    #[serde(with = "Limit")]
    pub warn_after: Option<u64>,
    /// After this many times the run ends.
    #[serde(with = "Limit")]
    pub stop_after: Option<u64>,
}

/// How the command that checks an agent's work is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The longest that it may run.
    #[serde(rename = "timeoutMs", with = "Millis")]
    pub timeout: Duration,
    /// How often a failed check is given to the child to mend.
    pub attempts: u32,
}

/// Spending limits of everything that one session delegates; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionBudget {
    /// In USD.
    #[serde(with = "Limit")]
    pub max_cost: Option<f64>,
}

/// Limits of one child's process tree; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Resident memory.
    #[serde(with = "Limit")]
    pub memory_bytes: Option<u64>,
    /// Processes.
    #[serde(with = "Limit")]
    pub processes: Option<u64>,
    /// CPU time.
    #[serde(with = "Limit")]
    pub cpu_seconds: Option<u64>,
    /// Open files.
    #[serde(with = "Limit")]
    pub open_files: Option<u64>,
}

text_enum! {
    /// Whether to boot a child while the arguments of its call still arrive.
    pub enum EarlyBoot {
        /// Boot it early.
        On = "on",
        /// Wait for the complete call.
        Off = "off",
    }
}

/// Children that wait for the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spare {
    /// Most of them at once; 0 is none.
    pub count: usize,
    /// How long one waits.
    #[serde(rename = "idleMs", with = "Millis")]
    pub idle: Duration,
}

/// How the end of a background run is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Announce {
    /// What is told of it.
    pub mode: AnnounceMode,
    /// Whether it starts a turn of an idle session.
    pub trigger_turn: bool,
}

text_enum! {
    /// What the conversation is told of a run that has done its work.
    pub enum AnnounceMode {
        /// The child's final answer; a child without one is asked.
        Auto = "auto",
        /// What the child answers when it is asked.
        Ask = "ask",
        /// The child's final answer; nobody is asked.
        Never = "never",
    }
}

/// What happens to background runs when pi exits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Background {
    /// What happens to them when pi exits.
    pub on_exit: OnExit,
    /// What happens to interrupted runs when their session is opened again.
    pub on_restart: OnRestart,
    /// How long pi waits for them when it has no interface; `None` is as long as they take.
    #[serde(rename = "headlessWaitMs", with = "MillisLimit")]
    pub headless_wait: Option<Duration>,
    /// The key that moves what calls wait for to the background, as pi spells keys; `none` is no key.
    pub key: String,
}

impl Background {
    /// The key, unless there is none.
    #[must_use]
    pub fn shortcut(self) -> Option<String> {
        (self.key != NO_KEY).then_some(self.key)
    }
}

text_enum! {
    /// What happens to interrupted background runs when their session is opened again.
    pub enum OnRestart {
        /// Their ends are delivered.
        Tell = "tell",
        /// The user is also asked whether they are resumed.
        Ask = "ask",
        /// They are also resumed.
        Resume = "resume",
    }
}

text_enum! {
    /// What happens to background runs when pi exits.
    pub enum OnExit {
        /// They end with pi.
        End = "end",
        /// They continue.
        Keep = "keep",
    }
}
