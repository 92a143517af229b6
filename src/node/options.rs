//! The options that JavaScript passes in, converted to the core's types.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use napi_derive::napi;
use serde_json::Value;

use super::background::host_process::host_process;
use super::context::{
    HostExtension, HostSkill, HostTool, SessionKey, TakenName, absolute, context_now, core_extensions,
    core_keys, core_names, core_skills, core_tools,
};
use crate::orchestrate::background::{ConversationScope, KnownDeliveries, SpawnRequest};
use crate::orchestrate::{TaskSpec, TasksSpec};
use crate::run::{Host, HostContext, RunOverrides, RunSpec};
use agents::Tool;
use supervisor::Cancel;

/// Option objects: fields of their own, then the fields of every call. JavaScript sees flat objects.
///
/// Documentation in the invocation is written as `#[doc = …]`: a `///` that passes through a macro becomes a raw string,
/// whose `r"` napi would copy into `index.d.ts`.
macro_rules! call_options {
    ($($(#[$doc:meta])* pub struct $name:ident { $($own:tt)* })*) => {$(
        $(#[$doc])*
        #[napi(object, object_to_js = false)]
        pub struct $name {
            $($own)*
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
            pub tools: Option<Vec<HostTool>>,
            /// The extensions of the user that the hosting pi loads, without this package. Every child that may write
            /// loads those of them that watch tool calls. Absent: unknown, and pi's own files are read.
            pub extensions: Option<Vec<HostExtension>>,
            /// True when the hosting pi loads only the extensions that its command line names (`--no-extensions`); a child
            /// then loads no others.
            /// @default false
            pub only_named_extensions: Option<bool>,
            /// Keys that the hosting pi holds in its memory only, as `--api-key` gives them. A child gets them in its copy of
            /// `auth.json`, and they are redacted.
            /// @default []
            pub session_keys: Option<Vec<SessionKey>>,
            /// The names of this package that the hosting pi gives to something else; `doctor` names them.
            /// @default []
            pub taken_names: Option<Vec<TakenName>>,
            /// The skills of the hosting pi. Absent: unknown, and agents that name skills get none.
            pub skills: Option<Vec<HostSkill>>,
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

        impl $name {
            /// Takes what every call has: the directory of the conversation, and the host as it is now.
            fn take_context(&mut self) -> (PathBuf, HostContext) {
                let cwd = absolute(&self.cwd);
                let host = Host {
                    executable: self.host_executable.take().map(absolute),
                    script: self.host_script.take().map(absolute),
                    cwd: Some(cwd.clone()),
                    session_file: self.parent_session_file.take().map(absolute),
                    session_id: self.session_id.take(),
                    model: self.model.take(),
                    model_from_extension: self.model_from_extension.unwrap_or(false),
                    extension_providers: self.extension_providers.take().unwrap_or_default(),
                    extension_only_providers: self.extension_only_providers.take().unwrap_or_default(),
                    thinking: self.thinking.take(),
                    tools: core_tools(self.tools.take()),
                    extensions: core_extensions(self.extensions.take()),
                    only_named_extensions: self.only_named_extensions.unwrap_or(false),
                    session_keys: core_keys(self.session_keys.take()),
                    taken_names: core_names(self.taken_names.take()),
                    skills: core_skills(self.skills.take()),
                };
                let Self { agent_dir, config, env, pi_command, .. } = self;
                (cwd, context_now(agent_dir.take(), env.take(), config.take(), pi_command.take(), host))
            }
        }
    )*};
}

call_options! {
    #[doc = " One agent, one task, and the pi that asks."]
    pub struct RunOptions {
        #[doc = " The agent's name."]
        pub agent: String,
        #[doc = " The task; not blank. The child reads it unchanged, unless it begins with a slash: pi would take that"]
        #[doc = " for a command. A line end then comes before it, in the `json` protocol the word `Task:`."]
        pub task: String,
        #[doc = " The directory the child works in, as `cwd` of `TaskOptions`."]
        #[doc = " @default the directory of the conversation"]
        pub child_cwd: Option<String>,
        #[doc = " As in `SpawnOptions`: a model that wins over agent and configuration."]
        pub child_model: Option<String>,
        #[doc = " As in `SpawnOptions`: a thinking level that wins over agent and configuration."]
        pub child_thinking: Option<String>,
        #[doc = " A JSON Schema of the result: the child submits one of this shape, and `structured` of the result has it. Wins"]
        #[doc = " over the agent's. At most 16 KiB."]
        #[napi(ts_type = "Record<string, unknown>")]
        pub output_schema: Option<Value>,
        #[doc = " The host's id of the call; the run claims the child that `bootEarly` booted under it, unless it has an"]
        #[doc = " `outputSchema`."]
        pub call_id: Option<String>,
        #[doc = " True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`."]
        #[doc = " @default false"]
        pub aborted: Option<bool>,
    }

    #[doc = " Several tasks side by side, and the pi that asks."]
    pub struct ParallelOptions {
        #[doc = " 1 to `maxParallelTasks` tasks (8 unless configured, never more than 64)."]
        pub tasks: Vec<TaskOptions>,
        #[doc = " The host's id of the call; its runs claim the children that `bootEarly` booted under it."]
        pub call_id: Option<String>,
        #[doc = " True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`."]
        #[doc = " @default false"]
        pub aborted: Option<bool>,
    }

    #[doc = " Several tasks one after the other, and the pi that asks."]
    pub struct ChainOptions {
        #[doc = " 1 to `maxChainSteps` steps (8 unless configured, never more than 64)."]
        pub steps: Vec<TaskOptions>,
        #[doc = " The host's id of the call; its first step claims the child that `bootEarly` booted under it."]
        pub call_id: Option<String>,
        #[doc = " True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`."]
        #[doc = " @default false"]
        pub aborted: Option<bool>,
    }

    #[doc = " A background run, and the pi that asks."]
    pub struct SpawnOptions {
        #[doc = " The task; not blank."]
        pub task: String,
        #[doc = " The agent's name."]
        #[doc = " @default the configured `defaultAgent`"]
        pub agent: Option<String>,
        #[doc = " A name for people; cut at 80 characters."]
        pub label: Option<String>,
        #[doc = " A model that wins over agent and configuration, named as pi names models, or without the callback `model`"]
        #[doc = " `provider/id` or an id that is unique among `models`. An unknown one is skipped with a warning."]
        pub child_model: Option<String>,
        #[doc = " A thinking level that wins over agent and configuration: `off`, `minimal`, `low`, `medium`, `high`,"]
        #[doc = " `xhigh` or `max`. An unknown one is skipped with a warning."]
        pub child_thinking: Option<String>,
        #[doc = " The limit of the whole run in seconds, 0 to 604800 (a week); 0 is no limit but that on silence and"]
        #[doc = " the agent's own `timeoutMs`."]
        #[doc = " @default 0"]
        pub run_timeout_seconds: Option<f64>,
        #[doc = " The rule for archiving the transcript: `keep`: after `archiveAfterMinutes`; `delete`: once the result was"]
        #[doc = " delivered."]
        #[doc = " @default \"keep\""]
        pub cleanup: Option<String>,
        #[doc = " A JSON Schema of the result, as in `RunOptions`."]
        #[napi(ts_type = "Record<string, unknown>")]
        pub output_schema: Option<Value>,
        #[doc = " Every model of the hosting pi, `provider/id`. Absent: unknown, and any `provider/id` is accepted."]
        pub models: Option<Vec<String>>,
    }

    #[doc = " The pi that asks which agents may run in the background."]
    pub struct SpawnableOptions {}

    #[doc = " A conversation to open, and the pi around it. `sessionId` or `parentSessionFile` names it."]
    pub struct BackgroundOptions {
        #[doc = " The ids of the deliveries that are in the conversation already."]
        pub delivered: Vec<String>,
        #[doc = " The ids of deliveries that this process is still putting into it; they are not offered again."]
        #[doc = " @default []"]
        pub sent: Option<Vec<String>>,
    }

    #[doc = " A call whose arguments are still arriving, and the pi that asks."]
    pub struct EarlyOptions {
        #[doc = " The tool that is being called."]
        #[napi(ts_type = "\"subagent\" | \"subagent_parallel\" | \"subagent_chain\"")]
        pub tool: String,
        #[doc = " The host's id of the call, which `startRun`, `startParallel` or `startChain` gets as well."]
        pub call_id: String,
    }
}

/// One of several tasks.
#[napi(object, object_to_js = false)]
pub struct TaskOptions {
    /// The agent's name.
    pub agent: String,
    /// The directory the child works in, which also decides which project agents there are. Absolute, or relative to
    /// the directory of the conversation.
    /// @default the directory of the conversation
    pub cwd: Option<String>,
    /// The task. In a step of a chain, `{previous}` is replaced by the answer of the step before, and `{task}` by the
    /// task of the first step. Write `{{previous}}` for the word in braces.
    pub task: String,
    /// As `childModel` in `SpawnOptions`: a model that wins over agent and configuration.
    pub model: Option<String>,
    /// As `childThinking` in `SpawnOptions`: a thinking level that wins over agent and configuration.
    pub thinking: Option<String>,
}

/// A directory and the pi around it.
#[napi(object, object_to_js = false)]
pub struct SurfaceOptions {
    /// The working directory of the conversation. Absolute, or relative to the process's own.
    pub cwd: String,
    /// pi's directory for agents, settings and sessions.
    /// @default `PI_CODING_AGENT_DIR`, else `~/.pi/agent`
    pub agent_dir: Option<String>,
    /// The tools of the hosting pi. Absent: unknown, and no tool is dropped for being unavailable.
    pub tools: Option<Vec<HostTool>>,
    /// The extensions of the user that the hosting pi loads, without this package. Absent: unknown, and pi's own files
    /// are read.
    pub extensions: Option<Vec<HostExtension>>,
    /// True when the hosting pi loads only the extensions that its command line names.
    /// @default false
    pub only_named_extensions: Option<bool>,
    /// Keys that the hosting pi holds in its memory only; redacted.
    /// @default []
    pub session_keys: Option<Vec<SessionKey>>,
    /// The names of this package that the hosting pi gives to something else.
    /// @default []
    pub taken_names: Option<Vec<TakenName>>,
    /// The skills of the hosting pi. Absent: unknown.
    pub skills: Option<Vec<HostSkill>>,
    /// Values laid over the configuration files: the object under `subagents`.
    #[napi(ts_type = "Record<string, unknown>")]
    pub config: Option<Value>,
    /// Variables added to this process's environment.
    pub env: Option<HashMap<String, String>>,
    /// The command that starts pi, program first.
    /// @default the hosting pi, else `pi` from `PATH`
    pub pi_command: Option<Vec<String>>,
    /// The executable of the hosting pi: its `process.execPath`.
    pub host_executable: Option<String>,
    /// The script of the hosting pi: its `process.argv[1]`.
    pub host_script: Option<String>,
    /// The session file of the conversation.
    pub parent_session_file: Option<String>,
    /// The model of the conversation, `provider/id`, for runs that a command starts.
    pub model: Option<String>,
    /// True when an extension provides that model.
    /// @default false
    pub model_from_extension: Option<bool>,
    /// The providers that extensions have registered.
    /// @default []
    pub extension_providers: Option<Vec<String>>,
    /// Those of `extensionProviders` that pi does not know without an extension.
    /// @default []
    pub extension_only_providers: Option<Vec<String>>,
    /// The thinking level of the conversation.
    pub thinking: Option<String>,
}

/// A call, the id its host gave it, and whether the host has aborted it already.
pub(super) struct CallRequest<T> {
    pub(super) spec: T,
    pub(super) host_id: Option<String>,
    pub(super) is_aborted: bool,
}

impl RunOptions {
    pub(super) fn into_request(mut self) -> CallRequest<RunSpec> {
        let (cwd, context) = self.take_context();
        let Self { agent, task, call_id, child_cwd, child_model, child_thinking, .. } = self;
        let Self { output_schema, aborted, .. } = self;
        let cwd = child_cwd.map_or_else(|| cwd.clone(), |child| cwd.join(child));
        // A child that was booted early has no such tool.
        let host_id = call_id.filter(|_| output_schema.is_none());
        let model = child_model;
        let thinking = child_thinking;
        let context = Arc::new(context);
        let overrides = RunOverrides { model, thinking, output_schema, ..RunOverrides::default() };
        let spec = RunSpec { agent, label: None, task, cwd, context, share: 1, siblings: 1, overrides };
        CallRequest { spec, host_id, is_aborted: aborted == Some(true) }
    }
}

impl ParallelOptions {
    pub(super) fn into_request(mut self) -> CallRequest<TasksSpec> {
        let spec = tasks_spec(self.take_context(), self.tasks);
        CallRequest { spec, host_id: self.call_id, is_aborted: self.aborted == Some(true) }
    }
}

impl ChainOptions {
    pub(super) fn into_request(mut self) -> CallRequest<TasksSpec> {
        let spec = tasks_spec(self.take_context(), self.steps);
        CallRequest { spec, host_id: self.call_id, is_aborted: self.aborted == Some(true) }
    }
}

fn tasks_spec((cwd, context): (PathBuf, HostContext), tasks: Vec<TaskOptions>) -> TasksSpec {
    let tasks = tasks.into_iter().map(|TaskOptions { agent, cwd, task, model, thinking }| TaskSpec {
        agent,
        cwd,
        task,
        model,
        thinking,
    });
    TasksSpec { tasks: tasks.collect(), cwd, context: Arc::new(context) }
}

impl SpawnOptions {
    /// The request; `ends_with` ends the run as the end of its host would.
    pub(super) fn into_request(mut self, ends_with: Cancel) -> SpawnRequest {
        let (cwd, context) = self.take_context();
        SpawnRequest {
            agent: self.agent,
            label: self.label,
            model: self.child_model,
            thinking: self.child_thinking,
            run_timeout_seconds: self.run_timeout_seconds,
            cleanup: self.cleanup,
            output_schema: self.output_schema,
            models: self.models,
            ends_with: Some(ends_with),
            host_process: host_process(),
            ..SpawnRequest::new(self.task, cwd, Arc::new(context))
        }
    }
}

impl SpawnableOptions {
    /// Returns the directory, and the host as it is now.
    pub(super) fn into_context(mut self) -> (PathBuf, HostContext) {
        self.take_context()
    }
}

impl BackgroundOptions {
    /// Returns the conversation, its scope, and the deliveries that it has.
    pub(super) fn into_parts(mut self, ends_with: Cancel) -> (String, ConversationScope, KnownDeliveries) {
        let (cwd, context) = self.take_context();
        let session = context.session().unwrap_or_default().to_owned();
        let Self { delivered, sent, .. } = self;
        let known = KnownDeliveries { delivered, sent: sent.unwrap_or_default() };
        (session, ConversationScope { cwd, context: Arc::new(context), ends_with }, known)
    }
}

impl EarlyOptions {
    /// The call's id, whether it is a chain, the directory, and the host as it is now.
    pub(super) fn into_parts(mut self) -> (String, bool, PathBuf, HostContext) {
        let (cwd, context) = self.take_context();
        (self.call_id, self.tool == Tool::Chain.as_str(), cwd, context)
    }
}

impl SurfaceOptions {
    /// Returns the directory, and the host as it is now.
    pub(super) fn into_context(self) -> (PathBuf, HostContext) {
        let host = Host {
            executable: self.host_executable.map(absolute),
            script: self.host_script.map(absolute),
            session_file: self.parent_session_file.map(absolute),
            tools: core_tools(self.tools),
            extensions: core_extensions(self.extensions),
            only_named_extensions: self.only_named_extensions.unwrap_or_default(),
            session_keys: core_keys(self.session_keys),
            taken_names: core_names(self.taken_names),
            skills: core_skills(self.skills),
            model: self.model,
            model_from_extension: self.model_from_extension.unwrap_or_default(),
            extension_providers: self.extension_providers.unwrap_or_default(),
            extension_only_providers: self.extension_only_providers.unwrap_or_default(),
            thinking: self.thinking,
            ..Host::default()
        };
        (absolute(&self.cwd), context_now(self.agent_dir, self.env, self.config, self.pi_command, host))
    }
}
