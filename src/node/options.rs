//! The options that JavaScript passes in, converted to the core's types.
//!
//! A call has the fields of [`SurfaceOptions`] and its own. JavaScript sees one flat object: `types.d.ts` extends the
//! interfaces of this file.

#![expect(unsafe_code, reason = "the methods of napi's traits for conversions are unsafe")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::FromNapiValue;
use napi::sys;
use napi_derive::napi;
use serde::Deserialize;
use serde_json::Value;

use super::background::host_process::host_process;
use super::context::{absolute, context_now};
use super::json::Parsed;
use crate::orchestrate::background::{ConversationScope, KnownDeliveries, SpawnRequest};
use crate::orchestrate::queue::Group;
use crate::orchestrate::{TaskSpec, TasksSpec};
use crate::run::{
    Host, HostContext, HostExtension, HostSkill, HostTool, RunOverrides, RunSpec, SessionKey, TakenName,
    Timeout, WorkflowRun,
};
use agents::Tool;
use agents::config::Budget;
use supervisor::Cancel;

/// An entry of `takenNames`. Entries of a kind that this version does not know are skipped.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum NameEntry {
    /// An entry of a known kind.
    Known(TakenName),
    /// Any other entry with a kind.
    Unknown {
        /// The kind.
        #[serde(rename = "kind")]
        _kind: String,
    },
}

fn known_names(entries: Vec<NameEntry>) -> Vec<TakenName> {
    let known = |entry| match entry {
        NameEntry::Known(name) => Some(name),
        NameEntry::Unknown { .. } => None,
    };
    entries.into_iter().filter_map(known).collect()
}

/// A directory and the pi around it: what every call has.
#[napi(object, object_to_js = false)]
pub struct SurfaceOptions {
    /// The directory of the conversation. Absolute, or relative to the process's own.
    pub cwd: String,
    /// pi's directory for agents, settings and sessions.
    /// @default `PI_CODING_AGENT_DIR`, else `~/.pi/agent`
    pub agent_dir: Option<String>,
    /// The session file of the conversation. The sessions of children are kept next to it.
    pub parent_session_file: Option<String>,
    /// The id of the conversation. Its cost is counted under this id, or under `parentSessionFile` without it.
    pub session_id: Option<String>,
    /// The model of the conversation, `provider/id`. A child inherits it unless its agent or the configuration
    /// names one.
    pub model: Option<String>,
    /// True when an extension provides that model; a child then loads all extensions.
    /// @default false
    pub model_from_extension: Option<bool>,
    /// The providers that extensions have registered; a child whose model is one of theirs loads all
    /// extensions.
    /// @default []
    pub extension_providers: Option<Vec<String>>,
    /// Those of `extensionProviders` that pi does not know without an extension. A call is refused if its child
    /// would not know its model.
    /// @default []
    pub extension_only_providers: Option<Vec<String>>,
    /// The thinking level of the conversation. A child inherits it unless its agent or the configuration names
    /// one.
    pub thinking: Option<String>,
    /// The tools of the hosting pi. Absent: unknown, and no tool is dropped for being unavailable.
    #[napi(ts_type = "Array<HostTool>")]
    pub tools: Option<Parsed<Vec<HostTool>>>,
    /// The extensions of the user that the hosting pi loads, without this package. Every child that may write
    /// loads those of them that watch tool calls. Absent: unknown, and pi's own files are read.
    #[napi(ts_type = "Array<HostExtension>")]
    pub extensions: Option<Parsed<Vec<HostExtension>>>,
    /// True when the hosting pi loads only the extensions that its command line names (`--no-extensions`); a child
    /// then loads no others.
    /// @default false
    pub only_named_extensions: Option<bool>,
    /// Keys that the hosting pi holds in its memory only, as `--api-key` gives them. A child gets them in its copy of
    /// `auth.json`, and they are redacted.
    /// @default []
    #[napi(ts_type = "Array<SessionKey>")]
    pub session_keys: Option<Parsed<Vec<SessionKey>>>,
    /// The names of this package that the hosting pi gives to something else; `doctor` names them.
    /// @default []
    #[napi(ts_type = "Array<TakenName>")]
    pub taken_names: Option<Parsed<Vec<NameEntry>>>,
    /// The texts of the agents that the program defines itself, in the form of agent files. They win over files.
    /// @default []
    pub agents: Option<Vec<String>>,
    /// The account of a group of runs whose cost counts together, in place of the conversation's: `sessionBudget`
    /// limits it.
    pub account: Option<String>,
    /// The skills of the hosting pi. Absent: unknown, and agents that name skills get none.
    #[napi(ts_type = "Array<HostSkill>")]
    pub skills: Option<Parsed<Vec<HostSkill>>>,
    /// Values laid over the configuration files: the object under `subagents`.
    #[napi(ts_type = "Record<string, unknown>")]
    pub config: Option<Value>,
    /// Variables added to a child's environment, which is otherwise this process's own.
    pub env: Option<HashMap<String, String>>,
    /// The command that starts pi, program first.
    /// @default the hosting pi, else `pi` from `PATH`
    pub pi_command: Option<Vec<String>>,
    /// The executable of the hosting pi: its `process.execPath`.
    pub host_executable: Option<String>,
    /// The script of the hosting pi: its `process.argv[1]`.
    pub host_script: Option<String>,
}

/// The options of a call: its own, and the options of every call.
pub struct CallOptions<Own> {
    pub(super) own: Own,
    pub(super) host: SurfaceOptions,
}

impl<Own: FromNapiValue> FromNapiValue for CallOptions<Own> {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        // SAFETY: the caller promises that both are valid.
        unsafe {
            let own = Own::from_napi_value(env, value)?;
            Ok(Self { own, host: SurfaceOptions::from_napi_value(env, value)? })
        }
    }
}

/// One agent, one task, and the pi that asks.
#[napi(object, object_to_js = false, js_name = "RunOptions")]
pub struct OwnRunOptions {
    /// The agent's name.
    pub agent: String,
    /// The task; not blank. The child reads it unchanged, unless it begins with a slash: pi would take that
    /// for a command. A line end then comes before it, in the `json` protocol the word `Task:`.
    pub task: String,
    /// The directory the child works in, as `cwd` of `TaskOptions`.
    /// @default the directory of the conversation
    pub child_cwd: Option<String>,
    /// As in `SpawnOptions`: a model that wins over agent and configuration.
    pub child_model: Option<String>,
    /// As in `SpawnOptions`: a thinking level that wins over agent and configuration.
    pub child_thinking: Option<String>,
    /// A JSON Schema of the result: the child submits one of this shape, and `structured` of the result has it. Wins
    /// over the agent's. At most 16 KiB.
    #[napi(ts_type = "Record<string, unknown>")]
    pub output_schema: Option<Value>,
    /// The time limit of the run, in milliseconds. A shorter one of the agent still applies.
    pub timeout_ms: Option<f64>,
    /// The budget of the run: `maxCost` in USD, `maxTokens` and `maxTurns`. Stricter limits of the agent or the configuration
    /// still apply.
    #[napi(ts_type = "RunBudget")]
    pub budget: Option<Parsed<Budget>>,
    /// The place of the run in a workflow. A completed run with the same key and the same request gives its stored result, one
    /// under way is waited for, and an interrupted one continues in its session.
    #[napi(ts_type = "WorkflowKey")]
    pub workflow: Option<Parsed<WorkflowRun>>,
    /// The group of the run. If the group has as many children as its limit allows, the run waits in the queue.
    pub group: Option<RunGroup>,
    /// The host's id of the call; the run claims the child that `bootEarly` booted under it, unless it has an
    /// `outputSchema`.
    pub call_id: Option<String>,
    /// True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`.
    /// @default false
    pub aborted: Option<bool>,
}

/// Runs that belong together, each with a call of its own. While a run waits for the others, its child may boot
/// ahead (`bootAhead`).
#[napi(object, object_to_js = false)]
pub struct RunGroup {
    /// The id of the group, the same for all of its runs in this process.
    pub id: String,
    /// The maximum number of its children at the same time; 0 counts as 1.
    pub limit: u32,
}

/// Several tasks side by side, and the pi that asks.
#[napi(object, object_to_js = false, js_name = "ParallelOptions")]
pub struct OwnParallelOptions {
    /// 1 to `maxParallelTasks` tasks (8 unless configured, never more than 64).
    #[napi(ts_type = "Array<TaskOptions>")]
    pub tasks: Parsed<Vec<TaskSpec>>,
    /// The host's id of the call; its runs claim the children that `bootEarly` booted under it.
    pub call_id: Option<String>,
    /// True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`.
    /// @default false
    pub aborted: Option<bool>,
}

/// Several tasks one after the other, and the pi that asks.
#[napi(object, object_to_js = false, js_name = "ChainOptions")]
pub struct OwnChainOptions {
    /// 1 to `maxChainSteps` steps (8 unless configured, never more than 64).
    #[napi(ts_type = "Array<TaskOptions>")]
    pub steps: Parsed<Vec<TaskSpec>>,
    /// The host's id of the call; its first step claims the child that `bootEarly` booted under it.
    pub call_id: Option<String>,
    /// True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`.
    /// @default false
    pub aborted: Option<bool>,
}

/// A background run, and the pi that asks.
#[napi(object, object_to_js = false, js_name = "SpawnOptions")]
pub struct OwnSpawnOptions {
    /// The task; not blank.
    pub task: String,
    /// The agent's name.
    /// @default the configured `defaultAgent`
    pub agent: Option<String>,
    /// A name for people; cut at 80 characters.
    pub label: Option<String>,
    /// A model that wins over agent and configuration, named as pi names models, or without the callback `model`
    /// `provider/id` or an id that is unique among `models`. An unknown one is skipped with a warning.
    pub child_model: Option<String>,
    /// A thinking level that wins over agent and configuration: `off`, `minimal`, `low`, `medium`, `high`,
    /// `xhigh` or `max`. An unknown one is skipped with a warning.
    pub child_thinking: Option<String>,
    /// The limit of the whole run in seconds, 0 to 604800 (a week); 0 is no limit but that on silence and
    /// the agent's own `timeoutMs`.
    /// @default 0
    pub run_timeout_seconds: Option<f64>,
    /// The rule for archiving the transcript: `keep`: after `archiveAfterMinutes`; `delete`: once the result was
    /// delivered.
    /// @default \"keep\"
    pub cleanup: Option<String>,
    /// A JSON Schema of the result, as in `RunOptions`.
    #[napi(ts_type = "Record<string, unknown>")]
    pub output_schema: Option<Value>,
    /// Every model of the hosting pi, `provider/id`. Absent: unknown, and any `provider/id` is accepted.
    pub models: Option<Vec<String>>,
    /// The host's id of the tool call, to claim the child that was booted for it; see `bootEarly`.
    pub call_id: Option<String>,
}

/// A conversation to open, and the pi around it. `sessionId` or `parentSessionFile` names it.
#[napi(object, object_to_js = false, js_name = "BackgroundOptions")]
pub struct OwnBackgroundOptions {
    /// The ids of the deliveries that are in the conversation already.
    pub delivered: Vec<String>,
    /// The ids of deliveries that this process is still putting into it; they are not offered again.
    /// @default []
    pub sent: Option<Vec<String>>,
}

/// A call whose arguments are still arriving, and the pi that asks.
#[napi(object, object_to_js = false, js_name = "EarlyOptions")]
pub struct OwnEarlyOptions {
    /// The tool that is being called.
    #[napi(
        ts_type = "\"subagent\" | \"subagent_parallel\" | \"subagent_chain\" | \"sessions_spawn\" | \"sessions_send\""
    )]
    pub tool: String,
    /// The host's id of the call, which `startRun`, `startParallel`, `startChain`, `spawnSession` or `useTool` gets as well.
    pub call_id: String,
}

/// Options of JavaScript.
pub type RunOptions = CallOptions<OwnRunOptions>;
pub type ParallelOptions = CallOptions<OwnParallelOptions>;
pub type ChainOptions = CallOptions<OwnChainOptions>;
pub type SpawnOptions = CallOptions<OwnSpawnOptions>;
pub type BackgroundOptions = CallOptions<OwnBackgroundOptions>;
pub type EarlyOptions = CallOptions<OwnEarlyOptions>;

/// A call, the id its host gave it, and whether the host has aborted it already.
pub(super) struct CallRequest<T> {
    pub(super) spec: T,
    pub(super) host_id: Option<String>,
    /// The group of a call with one task, and the group's limit.
    pub(super) group: Option<(Group, usize)>,
    pub(super) is_aborted: bool,
}

impl RunOptions {
    pub(super) fn into_request(self) -> CallRequest<(RunSpec, Option<WorkflowRun>)> {
        let (cwd, context) = self.host.into_context();
        let OwnRunOptions { agent, task, child_cwd, child_model, child_thinking, output_schema, .. } =
            self.own;
        let cwd = child_cwd.map_or_else(|| cwd.clone(), |child| cwd.join(child));
        // A child that was booted early has no such tool.
        let host_id = self.own.call_id.filter(|_| output_schema.is_none());
        let model = child_model;
        let thinking = child_thinking;
        let context = Arc::new(context);
        let timeout = self.own.timeout_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok());
        let overrides = RunOverrides {
            model,
            thinking,
            output_schema,
            timeout: timeout.map(Timeout::AsBefore).unwrap_or_default(),
            budget: self.own.budget.map(|Parsed(budget)| budget).unwrap_or_default(),
            ..RunOverrides::default()
        };
        let spec = RunSpec { agent, label: None, task, cwd, context, share: 1, siblings: 1, overrides };
        let workflow = self.own.workflow.map(|Parsed(workflow)| workflow);
        let group = self.own.group.map(|RunGroup { id, limit }| (Group::named(&id), limit as usize));
        CallRequest { spec: (spec, workflow), host_id, group, is_aborted: self.own.aborted == Some(true) }
    }
}

impl ParallelOptions {
    pub(super) fn into_request(self) -> CallRequest<TasksSpec> {
        let OwnParallelOptions { tasks, call_id, aborted } = self.own;
        tasks_request(self.host, tasks, call_id, aborted)
    }
}

impl ChainOptions {
    pub(super) fn into_request(self) -> CallRequest<TasksSpec> {
        let OwnChainOptions { steps, call_id, aborted } = self.own;
        tasks_request(self.host, steps, call_id, aborted)
    }
}

fn tasks_request(
    host: SurfaceOptions,
    Parsed(tasks): Parsed<Vec<TaskSpec>>,
    host_id: Option<String>,
    aborted: Option<bool>,
) -> CallRequest<TasksSpec> {
    let (cwd, context) = host.into_context();
    let spec = TasksSpec { tasks, cwd, context: Arc::new(context) };
    CallRequest { spec, host_id, group: None, is_aborted: aborted == Some(true) }
}

impl SpawnOptions {
    /// The request; `ends_with` ends the run as the end of its host would.
    pub(super) fn into_request(self, ends_with: Cancel) -> SpawnRequest {
        let (cwd, context) = self.host.into_context();
        let own = self.own;
        SpawnRequest {
            agent: own.agent,
            label: own.label,
            model: own.child_model,
            thinking: own.child_thinking,
            run_timeout_seconds: own.run_timeout_seconds,
            cleanup: own.cleanup,
            output_schema: own.output_schema,
            models: own.models,
            host_id: own.call_id,
            ends_with: Some(ends_with),
            host_process: host_process(),
            ..SpawnRequest::new(own.task, cwd, Arc::new(context))
        }
    }
}

impl BackgroundOptions {
    /// Returns the conversation, its scope, and the deliveries that it has.
    pub(super) fn into_parts(self, ends_with: Cancel) -> (String, ConversationScope, KnownDeliveries) {
        let (cwd, context) = self.host.into_context();
        let session = context.session().unwrap_or_default().to_owned();
        let OwnBackgroundOptions { delivered, sent } = self.own;
        let known = KnownDeliveries { delivered, sent: sent.unwrap_or_default() };
        (session, ConversationScope { cwd, context: Arc::new(context), ends_with }, known)
    }
}

impl EarlyOptions {
    /// The call's id, its tool, the directory, and the host as it is now.
    pub(super) fn into_parts(self) -> (String, Option<Tool>, PathBuf, HostContext) {
        let (cwd, context) = self.host.into_context();
        (self.own.call_id, Tool::parse(&self.own.tool), cwd, context)
    }

    pub(super) fn call_id(&self) -> &str {
        &self.own.call_id
    }
}

impl SurfaceOptions {
    /// Returns the directory of the conversation, and the host as it is now. A child may work in another directory.
    pub(super) fn into_context(self) -> (PathBuf, HostContext) {
        let cwd = absolute(&self.cwd);
        let extensions = self.extensions.map(|Parsed(extensions)| {
            let absolute = |HostExtension { path, package }| HostExtension {
                path: absolute(path),
                package: package.map(absolute),
            };
            extensions.into_iter().map(absolute).collect()
        });
        let host = Host {
            executable: self.host_executable.map(absolute),
            script: self.host_script.map(absolute),
            cwd: Some(cwd.clone()),
            session_file: self.parent_session_file.map(absolute),
            session_id: self.session_id,
            model: self.model,
            model_from_extension: self.model_from_extension.unwrap_or_default(),
            extension_providers: self.extension_providers.unwrap_or_default(),
            extension_only_providers: self.extension_only_providers.unwrap_or_default(),
            thinking: self.thinking,
            tools: self.tools.map(|Parsed(tools)| tools),
            extensions,
            only_named_extensions: self.only_named_extensions.unwrap_or_default(),
            session_keys: self.session_keys.map(|Parsed(keys)| keys).unwrap_or_default(),
            taken_names: self.taken_names.map(|Parsed(entries)| known_names(entries)).unwrap_or_default(),
            skills: self.skills.map(|Parsed(skills)| skills),
            agents: self.agents.unwrap_or_default(),
            account: self.account,
        };
        (cwd, context_now(self.agent_dir, self.env, self.config, self.pi_command, host))
    }
}
