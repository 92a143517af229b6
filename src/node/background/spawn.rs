//! Requests for background runs.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use crate::node::callbacks::HostCallbacks;
use crate::node::into_js::{IntoJs, object_into_js};
use crate::node::options::{SpawnOptions, SpawnableOptions};
use crate::node::runtime::{off_thread, promise};
use crate::node::teardown::cancel_of_thread;
use crate::orchestrate::background::{Receipt, ReceiptStatus, Spawnable, background, spawn, spawnable};
use crate::run::{HostCapabilities, WriteReach};
use agents::AskTarget;

/// The answer to a request for a background run.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct SpawnReceipt {
    /// `subagent-receipt`: the kind of these details in a session.
    pub kind: &'static str,
    /// The version of its shape: 1.
    pub version: u32,
    /// `forbidden`: a setting does not allow it, and `error` names it; `error`: the request cannot be met.
    #[napi(ts_type = "\"accepted\" | \"forbidden\" | \"error\"")]
    pub status: &'static str,
    /// Eight hexadecimal characters; present when the run was accepted.
    pub run_id: Option<String>,
    /// `agent:<agent>:subagent:<uuid>`; present when the run was accepted.
    pub child_session_key: Option<String>,
    /// A sentence for the model; present when the run was accepted.
    pub note: Option<String>,
    /// Options that were skipped, such as an unknown model.
    pub warnings: Option<Vec<String>>,
    /// The reason why there is no run.
    pub error: Option<String>,
}

/// Asks for a background run. Resolves with a receipt as soon as it is accepted or refused, never with its result: the
/// conversation gets that through `openBackground`. The run is stored before its child starts, and continues when the
/// conversation is closed. `sessionId` or `parentSessionFile` is required.
///
/// @example
/// ```ts
/// import { spawnSession } from "pi-subagent-native";
///
/// const { status, runId, error } = await spawnSession({
/// 	cwd: process.cwd(),
/// 	sessionId: "session-1",
/// 	task: "List the public functions.",
/// 	runTimeoutSeconds: 600,
/// });
/// console.log(status, runId ?? error);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<SpawnReceipt>")]
pub fn spawn_session(
    env: Env,
    options: SpawnOptions,
    host: Option<HostCallbacks>,
) -> napi::Result<PromiseRaw<'static, SpawnReceipt>> {
    let request = options.into_request(cancel_of_thread(env)?);
    promise(env, async move {
        let service = background(&request.context.agent_dir);
        Ok(spawn(&service, request, Arc::new(host.unwrap_or_default())).await.into_js())
    })
}

/// The agents that may run in the background with this configuration on this machine.
#[napi(object, object_from_js = false)]
pub struct SpawnableAgents {
    /// `subagent-agents`: the kind of these details in a session.
    pub kind: &'static str,
    /// The version of its shape: 1.
    pub version: u32,
    /// Builtins first, then the user's, then the project's.
    pub agents: Vec<SpawnableAgent>,
    /// The agent of a request that names none (`defaultAgent`). Absent when it is not one of `agents`.
    pub default_agent: Option<String>,
}

/// An agent that may run in the background.
#[napi(object, object_from_js = false)]
pub struct SpawnableAgent {
    /// The agent's name.
    pub id: String,
    /// One line of at most 200 characters.
    pub description: String,
    /// The source of its definition.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub source: &'static str,
    /// True when the definition allows only reading.
    pub readonly: bool,
    /// True if its child could change files: it is not readonly, `allowWrite` is on, and it has a tool or a command for that.
    pub can_write: bool,
    /// The files that it could change: `tree`: only those in its tree, enforced by the kernel; `anywhere`: all that the
    /// user may change. Absent if it could change none.
    #[napi(ts_type = "\"tree\" | \"anywhere\"")]
    pub writes: Option<&'static str>,
    /// The model it would get, as it is named; absent when unknown.
    pub model: Option<String>,
    /// The source of the model, for people: `agents.NAME`, the agent file, the session. Absent without `model`.
    pub model_from: Option<String>,
    /// The thinking level it would get; absent when unknown.
    pub thinking: Option<String>,
    /// The recipient of the questions that it asks while it works: the user, or the conversation that started it.
    /// Absent if it asks no one.
    #[napi(ts_type = "\"user\" | \"parent\"")]
    pub ask_target: Option<&'static str>,
}

/// Lists the agents that `spawnSession` accepts.
///
/// @example
/// ```ts
/// import { listSpawnable } from "pi-subagent-native";
///
/// const { agents, defaultAgent } = await listSpawnable({ cwd: process.cwd() });
/// for (const { id, description } of agents) console.log(id === defaultAgent ? "*" : " ", id, description);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<SpawnableAgents>")]
pub fn list_spawnable(
    env: Env,
    options: SpawnableOptions,
) -> napi::Result<PromiseRaw<'static, SpawnableAgents>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let capabilities = HostCapabilities::probe(&context).await;
        let (agents, default_agent) = off_thread(move || spawnable(&cwd, &context, &capabilities)).await?;
        let kind = Spawnable::LIST_KIND;
        let version = Spawnable::LIST_VERSION;
        Ok(SpawnableAgents { kind, version, agents: agents.into_js(), default_agent })
    })
}

object_into_js! { |agent: Spawnable| SpawnableAgent {
    writes: agent.writes.map(WriteReach::as_str),
    ask_target: (agent.ask_target != AskTarget::NoOne).then(|| agent.ask_target.as_str()),
    id, description, source, readonly, can_write: agent.writes.is_some(), model, model_from, thinking,
} }

impl IntoJs<SpawnReceipt> for Receipt {
    fn into_js(self) -> SpawnReceipt {
        let receipt = |status: ReceiptStatus| SpawnReceipt {
            kind: Self::KIND,
            version: Self::VERSION,
            status: status.as_str(),
            ..SpawnReceipt::default()
        };
        let refused = |status, error| SpawnReceipt { error: Some(error), ..receipt(status) };
        match self {
            Self::Accepted { run_id, session_key, note, warnings, .. } => SpawnReceipt {
                run_id: Some(run_id),
                child_session_key: Some(session_key),
                note: Some(note),
                warnings: warnings.into_js(),
                ..receipt(ReceiptStatus::Accepted)
            },
            Self::Forbidden(error) => refused(ReceiptStatus::Forbidden, error),
            Self::Error(error) => refused(ReceiptStatus::Error, error),
        }
    }
}
