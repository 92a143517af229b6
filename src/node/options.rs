//! What JavaScript passes in, converted to what the core takes.

use std::collections::HashMap;
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;

use napi_derive::napi;
use serde_json::Value;

use super::background::keeper::keeper;
use super::context::{ContextParts, HostTool, absolute, core_tools};
use crate::agent::Tool;
use crate::orchestrate::background::{ConversationScope, KnownDeliveries, SpawnRequest};
use crate::orchestrate::{TaskSpec, TasksSpec};
use crate::process::Cancel;
use crate::run::{Host, HostContext, RunOverrides, RunSpec};

/// Option objects: fields of their own, then those that every call has. JavaScript sees flat objects.
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
            /// The session file of the conversation; the sessions of children are kept beside it.
            pub parent_session_file: Option<String>,
            /// The id of the conversation. What it spends is counted under it, or under `parentSessionFile` without it.
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
            /// The thinking level of the conversation. A child inherits it unless its agent or the configuration names
            /// one.
            pub thinking: Option<String>,
            /// The tools of the hosting pi. Absent: unknown, and no tool is dropped for being unavailable.
            pub tools: Option<Vec<HostTool>>,
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
            /// The directory of the conversation, and the host as it is now.
            pub(super) fn into_context(self) -> (PathBuf, HostContext) {
                let cwd = absolute(&self.cwd);
                let host = Host {
                    executable: self.host_executable.map(absolute),
                    script: self.host_script.map(absolute),
                    cwd: Some(cwd.clone()),
                    session_file: self.parent_session_file.map(absolute),
                    session_id: self.session_id,
                    model: self.model,
                    model_from_extension: self.model_from_extension.unwrap_or(false),
                    extension_providers: self.extension_providers.unwrap_or_default(),
                    thinking: self.thinking,
                    tools: core_tools(self.tools),
                };
                let Self { agent_dir, config, env, pi_command, .. } = self;
                (cwd, ContextParts { agent_dir, config, env, pi_command, host }.into_context())
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
        #[doc = " The host's id of the call; the run claims the child that `bootEarly` booted under it."]
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
        #[doc = " A model that wins over agent and configuration, `provider/id` or an id that is unique among `models`."]
        #[doc = " An unknown one is skipped with a warning."]
        pub child_model: Option<String>,
        #[doc = " A thinking level that wins over agent and configuration: `off`, `minimal`, `low`, `medium`, `high`,"]
        #[doc = " `xhigh` or `max`. An unknown one is skipped with a warning."]
        pub child_thinking: Option<String>,
        #[doc = " The limit of the whole run in seconds, 0 to 604800 (a week); 0 is no limit but that on silence."]
        #[doc = " @default 0"]
        pub run_timeout_seconds: Option<f64>,
        #[doc = " When the transcript is archived: `keep` after `archiveAfterMinutes`, `delete` once the result was"]
        #[doc = " delivered."]
        #[doc = " @default \"keep\""]
        pub cleanup: Option<String>,
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
        pub in_flight: Option<Vec<String>>,
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
    /// the directory of the conversation, which is the default.
    pub cwd: Option<String>,
    /// The task. In a step of a chain `{previous}` stands for the answer of the step before, `{task}` for the task of
    /// the first step, and `{{previous}}` for the word in braces.
    pub task: String,
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
}

impl From<TaskOptions> for TaskSpec {
    fn from(TaskOptions { agent, cwd, task }: TaskOptions) -> Self {
        Self { agent, cwd, task }
    }
}

/// A call, the id its host gave it, and whether the host has aborted it already.
pub(super) struct CallRequest<T> {
    pub(super) spec: T,
    pub(super) host_id: Option<String>,
    pub(super) is_aborted: bool,
}

impl RunOptions {
    pub(super) fn into_request(mut self) -> CallRequest<RunSpec> {
        let (agent, task) = (take(&mut self.agent), take(&mut self.task));
        let (host_id, is_aborted) = (self.call_id.take(), self.aborted == Some(true));
        let (cwd, context) = self.into_context();
        let spec = RunSpec {
            agent,
            task,
            cwd,
            context: Arc::new(context),
            share: 1,
            siblings: 1,
            overrides: RunOverrides::default(),
        };
        CallRequest { spec, host_id, is_aborted }
    }
}

impl ParallelOptions {
    pub(super) fn into_request(mut self) -> CallRequest<TasksSpec> {
        let tasks = take(&mut self.tasks);
        let (host_id, is_aborted) = (self.call_id.take(), self.aborted == Some(true));
        CallRequest { spec: tasks_spec(tasks, self.into_context()), host_id, is_aborted }
    }
}

impl ChainOptions {
    pub(super) fn into_request(mut self) -> CallRequest<TasksSpec> {
        let steps = take(&mut self.steps);
        let (host_id, is_aborted) = (self.call_id.take(), self.aborted == Some(true));
        CallRequest { spec: tasks_spec(steps, self.into_context()), host_id, is_aborted }
    }
}

impl SpawnOptions {
    pub(super) fn into_request(mut self) -> SpawnRequest {
        SpawnRequest {
            agent: self.agent.take(),
            label: self.label.take(),
            model: self.child_model.take(),
            thinking: self.child_thinking.take(),
            run_timeout_seconds: self.run_timeout_seconds,
            cleanup: self.cleanup.take(),
            models: self.models.take(),
            keeper: keeper(),
            // Evaluated last: what is taken above is not part of the context.
            ..{
                let task = take(&mut self.task);
                let (cwd, context) = self.into_context();
                SpawnRequest::new(task, cwd, Arc::new(context))
            }
        }
    }
}

impl BackgroundOptions {
    /// The conversation, where it is, and which deliveries it has.
    pub(super) fn into_parts(mut self, ends_with: Cancel) -> (String, ConversationScope, KnownDeliveries) {
        let known = KnownDeliveries {
            delivered: take(&mut self.delivered),
            in_flight: self.in_flight.take().unwrap_or_default(),
        };
        let (cwd, context) = self.into_context();
        let session = context.session().unwrap_or_default().to_owned();
        (session, ConversationScope { cwd, context: Arc::new(context), ends_with }, known)
    }
}

impl EarlyOptions {
    /// The call's id, whether it is a chain, the directory, and the host as it is now.
    pub(super) fn into_parts(mut self) -> (String, bool, PathBuf, HostContext) {
        let (call_id, is_chain) = (take(&mut self.call_id), self.tool == Tool::Chain.as_str());
        let (cwd, context) = self.into_context();
        (call_id, is_chain, cwd, context)
    }
}

fn tasks_spec(tasks: Vec<TaskOptions>, (cwd, context): (PathBuf, HostContext)) -> TasksSpec {
    TasksSpec { tasks: tasks.into_iter().map(Into::into).collect(), cwd, context: Arc::new(context) }
}

impl SurfaceOptions {
    /// The directory, and the host as it is now.
    pub(super) fn into_context(self) -> (PathBuf, HostContext) {
        let host = Host {
            executable: self.host_executable.map(absolute),
            script: self.host_script.map(absolute),
            session_file: self.parent_session_file.map(absolute),
            tools: core_tools(self.tools),
            ..Host::default()
        };
        let Self { agent_dir, config, env, pi_command, .. } = self;
        (absolute(&self.cwd), ContextParts { agent_dir, config, env, pi_command, host }.into_context())
    }
}
