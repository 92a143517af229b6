//! Asking for runs that nobody waits for.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use crate::node::callbacks::{HostCallbacks, JsCallbacks};
use crate::node::options::{SpawnOptions, SpawnableOptions};
use crate::node::runtime::off_thread;
use crate::node::teardown::cancel_of_thread;
use crate::orchestrate::background::{Receipt, ReceiptStatus, Spawnable, background, spawnable};
use crate::run::HostCapabilities;

/// What became of a request for a background run.
#[napi(object, object_from_js = false)]
pub struct SpawnReceipt {
    /// `forbidden`: something does not allow it, which `error` names; `error`: the request cannot be met.
    #[napi(ts_type = "\"accepted\" | \"forbidden\" | \"error\"")]
    pub status: &'static str,
    /// The run's id, when it was accepted.
    pub run_id: Option<String>,
    /// What stands for the run in sentences: `agent:<agent>:subagent:<uuid>`.
    pub child_session_key: Option<String>,
    /// What the model should know of it.
    pub note: Option<String>,
    /// What was asked for and is not had.
    pub warnings: Option<Vec<String>>,
    /// Why there is no run.
    pub error: Option<String>,
}

/// Asks for a run that nobody waits for, and resolves with a receipt as soon as it is decided whether there is one: never
/// with its result, which is delivered to the conversation by way of `openBackground`. The run is kept before its child
/// starts, and goes on when the conversation is closed.
#[napi(catch_unwind, ts_return_type = "Promise<SpawnReceipt>")]
pub fn spawn_session(
    env: &Env,
    options: SpawnOptions,
    host: Option<HostCallbacks>,
) -> napi::Result<PromiseRaw<'_, SpawnReceipt>> {
    let mut request = options.into_request();
    request.ends_with = Some(cancel_of_thread(*env)?);
    env.spawn_future(async move {
        let engine = background(&request.context.agent_dir);
        Ok(engine.spawn(request, Arc::new(JsCallbacks(host))).await.into())
    })
}

/// The agents that may run in the background here and now.
#[napi(object, object_from_js = false)]
pub struct SpawnableAgents {
    /// The agents, builtins first.
    pub agents: Vec<SpawnableAgent>,
    /// The one that runs when none is named.
    pub default_agent: String,
}

/// An agent that may run in the background.
#[napi(object, object_from_js = false)]
pub struct SpawnableAgent {
    /// Its name.
    pub id: String,
    /// What it is for, one line.
    pub description: String,
    /// Where it comes from.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub source: &'static str,
    /// Whether it may only read.
    pub readonly: bool,
    /// The model that it would get, `provider/id`; absent when unknown.
    pub model: Option<String>,
}

/// Lists the agents that `spawnSession` would accept.
#[napi(catch_unwind, ts_return_type = "Promise<SpawnableAgents>")]
pub fn list_spawnable(env: &Env, options: SpawnableOptions) -> napi::Result<PromiseRaw<'_, SpawnableAgents>> {
    let (cwd, context) = options.into_context();
    env.spawn_future(async move {
        let capabilities = HostCapabilities::look(&context).await;
        let (agents, default_agent) = off_thread(move || spawnable(&cwd, &context, &capabilities)).await?;
        Ok(SpawnableAgents { agents: agents.into_iter().map(Into::into).collect(), default_agent })
    })
}

impl From<Spawnable> for SpawnableAgent {
    fn from(Spawnable { id, description, source, readonly, model }: Spawnable) -> Self {
        Self { id, description, source: source.as_str(), readonly, model }
    }
}

impl From<Receipt> for SpawnReceipt {
    fn from(receipt: Receipt) -> Self {
        let refused = |status: ReceiptStatus, error| Self {
            status: status.as_str(),
            run_id: None,
            child_session_key: None,
            note: None,
            warnings: None,
            error: Some(error),
        };
        match receipt {
            Receipt::Accepted { run_id, session_key, note, warnings } => Self {
                status: ReceiptStatus::Accepted.as_str(),
                run_id: Some(run_id),
                child_session_key: Some(session_key),
                note: Some(note),
                warnings: (!warnings.is_empty()).then_some(warnings),
                error: None,
            },
            Receipt::Forbidden(error) => refused(ReceiptStatus::Forbidden, error),
            Receipt::Error(error) => refused(ReceiptStatus::Error, error),
        }
    }
}
