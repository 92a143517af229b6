//! The settings as the rest of the program uses them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::entries::AgentSettings;
use super::entries::Launcher;
use super::shortcut::NO_KEY;
use super::units::{Limit, Millis, MillisLimit, MinutesLimit};
use crate::{Context, Network, SandboxMode};
use sanitizer::{HomePaths, TruncateLimits, text_enum};

/// All settings. Serialized, it has the shape of the `subagents` object of a configuration file, with defaults filled
/// in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own, and named where it is read")]
pub struct Config {
    /// True if the tools are registered at all.
    pub enabled: bool,
    /// The maximum depth of nested delegation.
    pub max_depth: u32,
    /// The hard timeout of a run; `None` is no limit.
    #[serde(rename = "timeoutMs", with = "MillisLimit")]
    pub timeout: Option<Duration>,
    /// The idle timeout of a run; `None` is no limit.
    #[serde(rename = "idleTimeoutMs", with = "MillisLimit")]
    pub idle_timeout: Option<Duration>,
    /// The idle timeout while a tool runs; `None` is no limit.
    #[serde(rename = "toolTimeoutMs", with = "MillisLimit")]
    pub tool_timeout: Option<Duration>,
    /// Grace period between the polite signal and the kill.
    #[serde(rename = "graceMs", with = "Millis")]
    pub grace: Duration,
    /// The places where agents that are not readonly may write.
    pub allow_write: AllowWrite,
    /// Children may use the tool `lsp`.
    pub allow_lsp_tools: bool,
    /// The actions that they may use with it.
    pub allowed_lsp_actions: Vec<String>,
    /// The treatment of agents that a project defines.
    pub project_agent_policy: ProjectAgentPolicy,
    /// The treatment of project agents if the user cannot be asked.
    pub non_interactive_policy: NonInteractivePolicy,
    /// More directories with the user's agents; `~/` is the home directory.
    pub agent_dirs: Vec<String>,
    /// Further directories of a project that hold agents, relative to its directories.
    pub project_agent_dirs: Vec<String>,
    /// Settings of single agents by name; the settings under `*` apply to all agents whose own settings do not set the
    /// value.
    pub agents: BTreeMap<String, AgentSettings>,
    /// True if the delegation policy is appended to the system prompt.
    pub inject_delegation_policy: bool,
    /// The limits for waiting for a provider whose quota is used up.
    pub quota: Quota,
    /// Retries after a transient failure.
    pub retry: Retry,
    /// The part of a child's answer that reaches the model.
    pub output: OutputLimits,
    /// The protocol between the host and the child.
    pub protocol: Protocol,
    /// Default model of children; `None` inherits.
    pub model: Option<String>,
    /// Default thinking level of children; `None` inherits.
    pub thinking: Option<String>,
    /// The context files that a child reads.
    pub inherit_context: Context,
    /// True if a child sees skills.
    pub inherit_skills: bool,
    /// The extensions that a child loads.
    pub inherit_extensions: InheritExtensions,
    /// The pi program with its leading arguments; `None` uses the pi that hosts this one.
    pub pi_command: Option<Vec<String>>,
    /// Additional environment of children.
    pub env: BTreeMap<String, String>,
    /// True if a child keeps a session file.
    pub persist_session: bool,
    /// Limits on every child's tools.
    pub tools: Tools,
    /// The sandbox of a child.
    pub sandbox: Sandbox,
    /// The parts of texts that are redacted.
    pub sanitize: Sanitize,
    /// Spending limits of one run.
    pub budget: Budget,
    /// The limits for runs whose tool calls repeat.
    #[serde(rename = "loop")]
    pub loops: LoopLimits,
    /// Spending limits of everything that one session delegates.
    pub session_budget: SessionBudget,
    /// Limits of one child's process tree.
    pub limits: Limits,
    /// The settings of an agent's check.
    pub check: Check,
    /// True if a child's process tree gets its own pid namespace.
    pub pid_namespace: bool,
    /// The maximum number of children of this pi process at once.
    pub max_concurrent: usize,
    /// The maximum number of children of one parallel call at once.
    pub parallel_concurrency: usize,
    /// The maximum number of children of all pi processes of this user at once.
    pub max_concurrent_per_user: usize,
    /// The maximum number of tasks of one parallel call.
    pub max_parallel_tasks: usize,
    /// The maximum number of steps of one chain call.
    pub max_chain_steps: usize,
    /// The decision to boot a child while the arguments of its call still arrive.
    pub early_boot: EarlyBoot,
    /// The maximum number of children above `maxConcurrent` that boot before their run can start; 0 is none.
    pub boot_ahead: usize,
    /// Children that wait for the next call.
    pub spare: Spare,
    /// The agent of a background run that names none.
    pub default_agent: String,
    /// Agents that background runs may use; `*` allows any.
    pub allow_agents: Vec<String>,
    /// The announcement of a background run's end.
    pub announce: Announce,
    /// The treatment of background runs when pi exits.
    pub background: Background,
    /// The age at which transcripts are archived; `None` is never.
    #[serde(rename = "archiveAfterMinutes", with = "MinutesLimit")]
    pub archive_after: Option<Duration>,
    /// The maximum size of all run directories together, in bytes; 0 is no limit.
    pub quota_bytes: u64,
    /// The scripts of runs.
    pub workflows: Workflows,
    /// The state of a work tree that is kept before a run changes it.
    pub snapshot: SnapshotSettings,
    /// The private trees of isolated runs.
    pub isolation: IsolationSettings,
    /// Programs that start children in other places, such as a remote machine, by name.
    pub launchers: BTreeMap<String, Launcher>,
    /// The invalid launchers of the user's file, each with the mistake and its position.
    #[serde(skip)]
    pub broken_launchers: BTreeMap<String, String>,
    /// The entries of `sandbox.hidden` that only projects' files have: paths in the project, without links.
    #[serde(skip)]
    pub project_hidden: Vec<String>,
    /// The launcher of agents that name none; `None` starts children on this machine.
    pub launcher: Option<String>,
}

/// The places where agents that are not readonly may write. In a file: `true`, `false` or `"all"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllowWrite {
    /// Nowhere: they lose their write tools.
    #[default]
    Nowhere,
    /// In the work tree of their directory, as far as the kernel can confine them to it.
    Tree,
    /// Every place where the user can write.
    Everywhere,
}

impl AllowWrite {
    /// The word for [`Self::Everywhere`].
    pub const EVERYWHERE: &str = "all";

    /// Returns true if agents keep their write tools.
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
    /// The owner of a configuration file.
    pub enum Origin {
        /// The user's own.
        User = "user",
        /// The project's.
        Project = "project",
    }
}

text_enum! {
    /// The treatment of agents that a project defines.
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
    /// The treatment of project agents if the user cannot be asked.
    pub enum NonInteractivePolicy {
        /// They run.
        Allow = "allow",
        /// They do not run.
        Deny = "deny",
    }
}

/// The part of children's answers that reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputLimits {
    /// Bytes of one answer.
    pub max_bytes: usize,
    /// Lines of one answer.
    pub max_lines: usize,
    /// Bytes of several answers in one result or message. The default lets ten pass whole, about 130,000 tokens: an
    /// eighth of a context of a million, and still below one of 200,000.
    pub max_total_bytes: usize,
}

impl OutputLimits {
    /// Returns the limits of a single answer.
    #[must_use]
    pub fn single(self) -> TruncateLimits {
        TruncateLimits { max_bytes: self.max_bytes, max_lines: self.max_lines }
    }

    /// Returns the limits of each of `count` answers in one text: the limits of a single answer, unless the whole would
    /// be too large.
    #[must_use]
    pub fn per_answer(self, count: usize) -> TruncateLimits {
        let share = if count > 1 { self.max_total_bytes / count } else { self.max_bytes };
        TruncateLimits { max_bytes: self.max_bytes.min(share).max(1), ..self.single() }
    }

    /// Returns the limits of a text with `count` answers, at least those of one answer. Lines limit each answer and
    /// never their sum.
    #[must_use]
    pub fn total(self, count: usize) -> TruncateLimits {
        if count <= 1 {
            return self.single();
        }
        TruncateLimits { max_bytes: self.max_total_bytes.max(self.max_bytes), max_lines: usize::MAX }
    }
}

/// The limits for waiting for a provider whose quota is used up.
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
    /// True if a run is retried after a transient failure.
    pub enabled: bool,
    /// The maximum number of attempts, including the first.
    pub max_attempts: u32,
    /// The pause before the second attempt. It doubles before each further attempt.
    #[serde(rename = "backoffMs", with = "Millis")]
    pub backoff: Duration,
}

text_enum! {
    /// The protocols between the host and a child.
    pub enum Protocol {
        /// One shot: the task goes in, events come out.
        Json = "json",
        /// Commands in, events out.
        Rpc = "rpc",
    }
}

/// The extensions that a child loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InheritExtensions {
    /// The extensions that provide the child's model or one of its tools.
    Auto,
    /// None.
    None,
    /// All extensions that the host has loaded.
    All,
    /// Exactly these files.
    #[serde(untagged)]
    Only(Vec<String>),
}

/// Limits on every child's tools. `*` in a name matches any characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    /// The tools that a child never gets. It wins over `allow`.
    pub deny: Vec<String>,
    /// If set, the only tools that a child may get.
    pub allow: Option<Vec<String>>,
}

/// The read-only sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// The condition under which the sandbox is used.
    pub mode: SandboxMode,
    /// True if the sandbox also protects modes, times and attributes of files.
    pub metadata: bool,
    /// The network access of a child's shell.
    pub network: Network,
    /// Files and directories that a child does not see; `~/` is the home directory.
    pub hidden: Vec<String>,
    /// The paths that a child may write besides its tree if its agent may write; `~/` is the home directory.
    pub writable: Vec<String>,
    /// Environment variables that its shell keeps although their names look like the name of a secret. `*` matches any
    /// characters.
    pub env: Vec<String>,
}

/// Limits of the state of a work tree that is kept before a run changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotSettings {
    /// The maximum size of all uncommitted files together, in bytes.
    pub max_bytes: u64,
}

/// The private trees of isolated runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IsolationSettings {
    /// The ignored files and directories that are copied into a private tree, relative to the root of the tree.
    pub copy: Vec<String>,
    /// The shell command that prepares a private tree, for agents that name none.
    pub setup: Option<String>,
    /// The maximum time of that command.
    #[serde(rename = "setupTimeoutMs", with = "Millis")]
    pub setup_timeout: Duration,
}

/// The parts of texts that are redacted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sanitize {
    /// The home directories that become `~`.
    pub home_paths: HomePaths,
    /// Exact values, and rules as `rule:NAME`, that are not redacted.
    pub allow: Vec<String>,
}

/// Spending limits of one run; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// In USD.
    #[serde(with = "Limit")]
    pub max_cost: Option<f64>,
    /// The maximum number of tokens of all kinds together.
    #[serde(with = "Limit")]
    pub max_tokens: Option<u64>,
    /// The maximum number of assistant messages.
    #[serde(with = "Limit")]
    pub max_turns: Option<u64>,
}

impl Budget {
    /// Returns the stricter of both limits of each kind.
    #[must_use]
    pub fn at_most(self, other: Self) -> Self {
        let stricter = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let costs = self.max_cost.into_iter().chain(other.max_cost);
        Self {
            max_cost: costs.reduce(f64::min),
            max_tokens: stricter(self.max_tokens, other.max_tokens),
            max_turns: stricter(self.max_turns, other.max_turns),
        }
    }
}

/// The limits for repeated tool calls with the same results; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopLimits {
    /// The number of repetitions after which the child gets a warning.
    #[serde(with = "Limit")]
    pub warn_after: Option<u64>,
    /// The number of repetitions after which the run ends.
    #[serde(with = "Limit")]
    pub stop_after: Option<u64>,
}

/// The settings of the command that checks an agent's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The maximum time of the command.
    #[serde(rename = "timeoutMs", with = "Millis")]
    pub timeout: Duration,
    /// The number of times that the child may fix a failed check.
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

/// The scripts of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflows {
    /// The days for which a workflow is kept after the last activity in it; 0 is until it is removed.
    pub retention_days: u32,
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
    /// The time at which a child boots.
    pub enum EarlyBoot {
        /// While the arguments of its call still arrive.
        On = "on",
        /// After the call is complete.
        Off = "off",
    }
}

/// Children that wait for the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spare {
    /// The maximum number of spare children at once; 0 is none.
    pub count: usize,
    /// The time that an idle spare child waits for a call.
    #[serde(rename = "idleMs", with = "Millis")]
    pub idle: Duration,
}

/// The announcement of a background run's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Announce {
    /// The content of the announcement.
    pub mode: AnnounceMode,
    /// True if the announcement starts a turn of an idle session.
    pub trigger_turn: bool,
}

text_enum! {
    /// The content of the announcement after a completed run.
    pub enum AnnounceMode {
        /// The child's final answer; a child without one is asked.
        Auto = "auto",
        /// The child's answer to a request for an announcement.
        Ask = "ask",
        /// The child's final answer; the child is not asked.
        Never = "never",
    }
}

/// The treatment of background runs when pi exits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Background {
    /// The treatment of background runs when pi exits.
    pub on_exit: OnExit,
    /// The treatment of interrupted runs when their session is opened again.
    pub on_restart: OnRestart,
    /// The time for which pi without an interface waits for them; `None` is no limit.
    #[serde(rename = "headlessWaitMs", with = "MillisLimit")]
    pub headless_wait: Option<Duration>,
    /// The key that moves the runs of waiting calls to the background, in pi's spelling; `none` is no key.
    pub key: String,
}

impl Background {
    /// Returns the key, unless it is `none`.
    #[must_use]
    pub fn shortcut(self) -> Option<String> {
        (self.key != NO_KEY).then_some(self.key)
    }
}

text_enum! {
    /// The treatment of interrupted background runs when their session is opened again.
    pub enum OnRestart {
        /// Their ends are delivered.
        Notify = "tell",
        /// The user is also asked whether they are resumed.
        Ask = "ask",
        /// They are also resumed.
        Resume = "resume",
    }
}

text_enum! {
    /// The treatment of background runs when pi exits.
    pub enum OnExit {
        /// They end with pi.
        End = "end",
        /// They continue.
        Keep = "keep",
    }
}
