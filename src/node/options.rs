//! What JavaScript passes in, and the world around it, read once.

use std::collections::HashMap;
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;

use napi_derive::napi;
use serde_json::Value;

use super::background::keeper::keeper;
use super::context::{ContextParts, HostTool, absolute, core_tools};
use crate::agent::Tool;
use crate::orchestrate::background::{Arrived, Place, SpawnRequest};
use crate::orchestrate::{CallOrder, TaskSpec, TasksSpec};
use crate::process::Cancel;
use crate::run::{Host, HostContext, RunOverrides, RunSpec};

/// Objects of options that begin with fields of their own and go on with those that every call has: JavaScript sees flat
/// objects, and the fields are written once.
macro_rules! call_options {
    ($($(#[$doc:meta])* pub struct $name:ident { $($own:tt)* })*) => {$(
        $(#[$doc])*
        #[napi(object, object_to_js = false)]
        pub struct $name {
            $($own)*
            /// The directory of the conversation. Absolute, or relative to the process's own.
            pub cwd: String,
            /// pi's directory for agents, settings and sessions. Default: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`.
            pub agent_dir: Option<String>,
            /// The session file of the conversation that delegates; the sessions of children are kept beside it.
            pub parent_session_file: Option<String>,
            /// The id of its session. What it spends is counted under it, else under the file.
            pub session_id: Option<String>,
            /// The model of that conversation, `provider/id`. A child inherits it unless its agent or the configuration
            /// names one.
            pub model: Option<String>,
            /// True when an extension provides that model; a child then loads all extensions.
            pub model_from_extension: Option<bool>,
            /// The providers that extensions have registered; a child whose model is one of theirs loads all extensions.
            pub extension_providers: Option<Vec<String>>,
            /// The thinking level of that conversation.
            pub thinking: Option<String>,
            /// The tools of the hosting pi. Absent: unknown, and no declared tool is dropped for being unavailable.
            pub tools: Option<Vec<HostTool>>,
            /// Values laid over the configuration files: the object under `subagents`.
            #[napi(ts_type = "Record<string, unknown>")]
            pub config: Option<Value>,
            /// Variables added to a child's environment, which is otherwise this process's own.
            pub env: Option<HashMap<String, String>>,
            /// The command that starts pi, program first. Default: the hosting pi, else `pi` from `PATH`.
            pub pi_command: Option<Vec<String>>,
            /// The executable of the hosting pi: its `process.execPath`.
            pub host_executable: Option<String>,
            /// The script of the hosting pi: its `process.argv[1]`.
            pub host_script: Option<String>,
        }

        impl $name {
            /// The directory of the conversation, and the world as it is now.
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
    /// One agent, one task, and what is known of the pi that asks.
    pub struct RunOptions {
        /// The agent's name.
        pub agent: String,
        /// Its task. It reaches the child unchanged, on its standard input; one that begins with a slash gets a line end
        /// before it, because pi would take it for a command, and in the `json` protocol, where pi removes line ends, the
        /// word `Task:`.
        pub task: String,
        /// What the host calls the call; finds the child that was booted for it.
        pub call_id: Option<String>,
        /// True when the caller's signal has fired already: nothing is started, and the result is that of an abort.
        pub aborted: Option<bool>,
    }

    /// Several tasks side by side, and what is known of the pi that asks.
    pub struct ParallelOptions {
        /// The tasks: 1 to `maxParallelTasks`.
        pub tasks: Vec<TaskOptions>,
        /// What the host calls the call; finds the children that were booted for it.
        pub call_id: Option<String>,
        /// True when the caller's signal has fired already: nothing is started, and the result is that of an abort.
        pub aborted: Option<bool>,
    }

    /// Several tasks one after the other, and what is known of the pi that asks.
    pub struct ChainOptions {
        /// The steps: 1 to `maxChainSteps`.
        pub steps: Vec<TaskOptions>,
        /// What the host calls the call; finds the child that was booted for its first step.
        pub call_id: Option<String>,
        /// True when the caller's signal has fired already: nothing is started, and the result is that of an abort.
        pub aborted: Option<bool>,
    }

    /// A run that nobody waits for, and what is known of the pi that asks.
    pub struct SpawnOptions {
        /// What it is to do.
        pub task: String,
        /// The agent. Default: `defaultAgent`.
        pub agent: Option<String>,
        /// A name for people.
        pub label: Option<String>,
        /// A model before all others. One that is not among `models` is skipped, with a warning.
        pub child_model: Option<String>,
        /// A thinking level before all others. One that pi does not know is skipped, with a warning.
        pub child_thinking: Option<String>,
        /// The limit of the whole run in seconds. Default: 0, which is none but that of silence.
        pub run_timeout_seconds: Option<f64>,
        /// `keep`, which is the default, or `delete`: the transcript is archived when the result was delivered.
        pub cleanup: Option<String>,
        /// Every model that the hosting pi has, `provider/id`. Absent: unknown.
        pub models: Option<Vec<String>>,
    }

    /// What is known of the pi that asks which agents there are.
    pub struct SpawnableOptions {}

    /// A conversation that is open, and the pi around it.
    pub struct BackgroundOptions {
        /// The deliveries that stand in the conversation.
        pub delivered: Vec<String>,
        /// The deliveries that are on their way into it within this process, and are not to be offered again.
        pub in_flight: Option<Vec<String>>,
    }

    /// A call that is still arriving, and what is known of the pi that asks.
    pub struct EarlyOptions {
        /// The tool that is being called.
        #[napi(ts_type = "\"subagent\" | \"subagent_parallel\" | \"subagent_chain\"")]
        pub tool: String,
        /// What the host calls the call.
        pub call_id: String,
    }
}

/// One of several tasks.
#[napi(object, object_to_js = false)]
pub struct TaskOptions {
    /// The agent's name.
    pub agent: String,
    /// The directory the child works in, which also chooses the project's agents. Absolute, or relative to the
    /// directory of the conversation, which is the default.
    pub cwd: Option<String>,
    /// The task. In a step of a chain `{previous}` stands for the answer of the step before, `{task}` for the task of
    /// the first step, and `{{previous}}` for the word in braces.
    pub task: String,
}

/// A directory and the pi around it.
#[napi(object, object_to_js = false)]
pub struct SurfaceOptions {
    /// The working directory of the conversation.
    pub cwd: String,
    /// pi's directory for agents, settings and sessions. Default: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`.
    pub agent_dir: Option<String>,
    /// The tools of the hosting pi. Absent: unknown.
    pub tools: Option<Vec<HostTool>>,
    /// Values laid over the configuration files: the object under `subagents`.
    #[napi(ts_type = "Record<string, unknown>")]
    pub config: Option<Value>,
    /// Variables added to the environment, which is otherwise this process's own.
    pub env: Option<HashMap<String, String>>,
    /// The command that starts pi, program first. Default: the hosting pi, else `pi` from `PATH`.
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

/// A call, and what its host says of it.
pub(super) struct CallRequest<T> {
    pub(super) spec: T,
    pub(super) host_id: Option<String>,
    pub(super) is_aborted: bool,
}

impl RunOptions {
    /// What the core needs, with the world as it is now.
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
    /// What the core needs, with the world as it is now.
    pub(super) fn into_request(mut self) -> CallRequest<TasksSpec> {
        let tasks = take(&mut self.tasks);
        let (host_id, is_aborted) = (self.call_id.take(), self.aborted == Some(true));
        CallRequest { spec: tasks_spec(tasks, self.into_context()), host_id, is_aborted }
    }
}

impl ChainOptions {
    /// What the core needs, with the world as it is now.
    pub(super) fn into_request(mut self) -> CallRequest<TasksSpec> {
        let steps = take(&mut self.steps);
        let (host_id, is_aborted) = (self.call_id.take(), self.aborted == Some(true));
        CallRequest { spec: tasks_spec(steps, self.into_context()), host_id, is_aborted }
    }
}

impl SpawnOptions {
    /// What the core needs, with the world as it is now.
    pub(super) fn into_request(mut self) -> SpawnRequest {
        let (task, agent, label) = (take(&mut self.task), self.agent.take(), self.label.take());
        let (model, thinking) = (self.child_model.take(), self.child_thinking.take());
        let (cleanup, models, run_timeout_seconds) =
            (self.cleanup.take(), self.models.take(), self.run_timeout_seconds);
        let (cwd, context) = self.into_context();
        SpawnRequest {
            task,
            agent,
            label,
            model,
            thinking,
            run_timeout_seconds,
            cleanup,
            models,
            cwd,
            context: Arc::new(context),
            created_ms: SpawnRequest::moment(),
            order: Arc::new(CallOrder::now()),
            ends_with: None,
            keeper: keeper(),
            kept: None,
        }
    }
}

impl BackgroundOptions {
    /// The conversation, where it is, and what it knows of its deliveries.
    pub(super) fn into_parts(mut self, ends_with: Cancel) -> (String, Place, Arrived) {
        let arrived = Arrived {
            delivered: take(&mut self.delivered),
            in_flight: self.in_flight.take().unwrap_or_default(),
        };
        let (cwd, context) = self.into_context();
        let session = context.session().unwrap_or_default().to_owned();
        (session, Place { cwd, context: Arc::new(context), ends_with }, arrived)
    }
}

impl EarlyOptions {
    /// The call's id, whether it is a chain, the directory, and the world as it is now.
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
    /// The directory and the world as it is now.
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
