//! Requests for background runs.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use crate::node::callbacks::HostCallbacks;
use crate::node::json::Json;
use crate::node::options::{SpawnOptions, SurfaceOptions};
use crate::node::runtime::{off_thread, promise};
use crate::node::teardown::cancel_of_thread;
use crate::orchestrate::background::{background, spawn, spawnable};
use crate::present::ToolDetails;
use crate::run::HostCapabilities;

/// Asks for a background run. Resolves with a receipt as soon as it is accepted or refused, never with its result: the
/// conversation gets that through `openBackground`. The run is stored before its child starts, and continues when the
/// conversation is closed. `sessionId` or `parentSessionFile` is required.
///
/// @example
/// ```ts
/// import { spawnSession } from "pi-subagent-native/extension";
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
) -> napi::Result<PromiseRaw<'static, Json>> {
    let request = options.into_request(cancel_of_thread(env)?);
    promise(env, async move {
        let service = background(&request.context.agent_dir);
        let receipt = spawn(&service, request, Arc::new(host.unwrap_or_default())).await;
        Json::new(&receipt.stamped())
    })
}

/// Lists the agents that `spawnSession` accepts.
///
/// @example
/// ```ts
/// import { listSpawnable } from "pi-subagent-native/extension";
///
/// const { agents, defaultAgent } = await listSpawnable({ cwd: process.cwd() });
/// for (const { id, description } of agents) console.log(id === defaultAgent ? "*" : " ", id, description);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<SpawnableAgents>")]
pub fn list_spawnable(
    env: Env,
    #[napi(ts_arg_type = "SpawnableOptions")] options: SurfaceOptions,
) -> napi::Result<PromiseRaw<'static, Json>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let capabilities = HostCapabilities::probe(&context).await;
        let agents = off_thread(move || spawnable(&cwd, &context, &capabilities)).await?;
        Json::new(&agents.stamped())
    })
}
