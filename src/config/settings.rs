//! The settings as the rest of the program reads them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::units::{amount_or_none, count_or_none, millis, millis_or_none, minutes, minutes_or_none};
use crate::agent::{Context, SandboxMode};
use crate::text::{TruncateLimits, text_enum};

/// Every setting. Serialized it has the shape of the `subagents` object of a configuration file, defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own, and named where it is read")]
pub struct Config {
    /// Whether there is a tool at all.
    pub enabled: bool,
    /// How deep delegation may go.
    pub max_depth: u32,
    /// Hard limit of a run; `None` is no limit.
    #[serde(rename = "timeoutMs", with = "millis_or_none")]
    pub timeout: Option<Duration>,
    /// Silence limit of a run; `None` is no limit.
    #[serde(rename = "idleTimeoutMs", with = "millis_or_none")]
    pub idle_timeout: Option<Duration>,
    /// Silence limit while a tool runs; `None` is no limit.
    #[serde(rename = "toolTimeoutMs", with = "millis_or_none")]
    pub tool_timeout: Option<Duration>,
    /// From the polite request to the forced end.
    #[serde(rename = "graceMs", with = "millis")]
    pub grace: Duration,
    /// Agents that are not readonly keep their write tools.
    pub allow_write: bool,
    /// Children may use a tool named `lsp`.
    pub allow_lsp_tools: bool,
    /// What they may do with it.
    pub allowed_lsp_actions: Vec<String>,
    /// What happens to agents that a project defines.
    pub project_agent_policy: ProjectAgentPolicy,
    /// What happens to them when no user can be asked.
    pub non_interactive_policy: NonInteractivePolicy,
    /// Whether the delegation policy is appended to the system prompt.
    pub inject_delegation_policy: bool,
    /// Further attempts after a transient failure.
    pub retry: Retry,
    /// What reaches the model.
    pub output: Output,
    /// How a child is driven.
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
    /// The program that is pi, with its leading arguments; `None` is the pi that hosts this one.
    pub pi_command: Option<Vec<String>>,
    /// Additional environment of children.
    pub env: BTreeMap<String, String>,
    /// Whether a child keeps a session file.
    pub persist_session: bool,
    /// What every child's tools are narrowed to.
    pub tools: Tools,
    /// The read-only sandbox.
    pub sandbox: Sandbox,
    /// Limits of one run's spend.
    pub budget: Budget,
    /// Limits of what one session delegates.
    pub session_budget: SessionBudget,
    /// Limits of one child's process tree.
    pub limits: Limits,
    /// Whether a child's process tree gets a pid namespace of its own.
    pub pid_namespace: bool,
    /// Children of this pi process at once.
    pub max_concurrent: usize,
    /// Children of one parallel call at once.
    pub parallel_concurrency: usize,
    /// Children of all pi processes of this user at once.
    pub max_concurrent_per_user: usize,
    /// Tasks of one parallel call.
    pub max_parallel_tasks: usize,
    /// Steps of one chain call.
    pub max_chain_steps: usize,
    /// Whether a child is booted while its call still arrives.
    pub early_boot: EarlyBoot,
    /// Children kept ready.
    pub spare: Spare,
    /// The agent of a background run that names none.
    pub default_agent: String,
    /// Agents that background runs may use; `*` is any.
    pub allow_agents: Vec<String>,
    /// How the end of a background run is told.
    pub announce: Announce,
    /// What becomes of background runs.
    pub background: Background,
    /// When transcripts are archived; `None` is never.
    #[serde(rename = "archiveAfterMinutes", with = "minutes_or_none")]
    pub archive_after: Option<Duration>,
    /// Bound of all run directories together; 0 is none.
    pub quota_bytes: u64,
    /// Programs that start children elsewhere, by name.
    pub launchers: BTreeMap<String, Launcher>,
    /// The launcher of agents that name none; `None` is this machine.
    pub launcher: Option<String>,
}

text_enum! {
    /// What happens to agents that a project defines.
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
    /// What happens to project agents when no user can be asked.
    pub enum NonInteractivePolicy {
        /// They run.
        Allow = "allow",
        /// They do not run.
        Deny = "deny",
    }
}

/// Further attempts after a transient failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Whether there are any.
    pub enabled: bool,
    /// The first one included.
    pub max_attempts: u32,
    /// Pause before the second attempt; doubles from then on.
    #[serde(rename = "backoffMs", with = "millis")]
    pub backoff: Duration,
}

/// What reaches the model of a child's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// At most this many bytes.
    pub max_bytes: usize,
    /// At most this many lines.
    pub max_lines: usize,
}

impl Output {
    /// As the truncator takes it.
    #[must_use]
    pub fn limits(&self) -> TruncateLimits {
        TruncateLimits { max_bytes: self.max_bytes, max_lines: self.max_lines }
    }
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
    /// Those that provide a tool the child has, or its model.
    Auto,
    /// None.
    None,
    /// Every one the host has loaded.
    All,
    /// Exactly these files.
    #[serde(untagged)]
    Only(Vec<String>),
}

/// What every child's tools are narrowed to. `*` in a name stands for any characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    /// Never these. Wins over `allow`.
    pub deny: Vec<String>,
    /// When set, only these.
    pub allow: Option<Vec<String>>,
}

/// The read-only sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Whether there is one.
    pub mode: SandboxMode,
    /// Whether it covers modes, times and attributes of files too.
    pub metadata: bool,
}

/// Limits of one run's spend; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// In USD.
    #[serde(with = "amount_or_none")]
    pub max_cost: Option<f64>,
    /// Of every kind together.
    #[serde(with = "count_or_none")]
    pub max_tokens: Option<u64>,
    /// Answers of the model.
    #[serde(with = "count_or_none")]
    pub max_turns: Option<u64>,
}

/// Limits of what one session delegates; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionBudget {
    /// In USD.
    #[serde(with = "amount_or_none")]
    pub max_cost: Option<f64>,
}

/// Limits of one child's process tree; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Resident memory.
    #[serde(with = "count_or_none")]
    pub memory_bytes: Option<u64>,
    /// Processes.
    #[serde(with = "count_or_none")]
    pub processes: Option<u64>,
    /// CPU time.
    #[serde(with = "count_or_none")]
    pub cpu_seconds: Option<u64>,
    /// Open files.
    #[serde(with = "count_or_none")]
    pub open_files: Option<u64>,
}

text_enum! {
    /// Whether a child is booted while its call still arrives.
    pub enum EarlyBoot {
        /// It is.
        On = "on",
        /// It is not.
        Off = "off",
    }
}

/// Children kept ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spare {
    /// How many.
    pub count: u32,
    /// For how long.
    #[serde(rename = "minutes", with = "minutes")]
    pub keep: Duration,
    /// Whether a finished child becomes one.
    pub reuse: bool,
}

/// How the end of a background run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Announce {
    /// Whether it starts a turn of an idle session.
    pub trigger_turn: bool,
}

/// What becomes of background runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Background {
    /// When pi exits.
    pub on_exit: OnExit,
    /// How long pi waits for them where it has no interface; `None` is not at all.
    #[serde(rename = "headlessWaitMs", with = "millis_or_none")]
    pub headless_wait: Option<Duration>,
}

text_enum! {
    /// What becomes of background runs when pi exits.
    pub enum OnExit {
        /// They end with it.
        End = "end",
        /// They go on.
        Keep = "keep",
    }
}

/// A program that starts a child elsewhere. Its words may contain placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launcher {
    /// Program and arguments; contains `{argv}`.
    pub command: Vec<String>,
    /// The working directory there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `sh`: the child's arguments become one string, quoted for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Variables that cross.
    #[serde(default)]
    pub env: Vec<String>,
    /// Brings the session file back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch: Option<Vec<String>>,
    /// Ends the remote side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Vec<String>>,
    /// Runs at once.
    #[serde(default = "default_launcher_slots")]
    pub max_concurrent: usize,
}

fn default_launcher_slots() -> usize {
    64
}
