//! Workflows, as JavaScript sees them.

use std::sync::Arc;

use napi::Status;
use napi::bindgen_prelude::{Env, PromiseRaw};
use napi::threadsafe_function::ThreadsafeFunction;
use napi_derive::napi;

use super::callbacks::{Returned, call};
use super::context::absolute;
use super::json::{Json, Parsed};
use super::options::{CallOptions, SurfaceOptions};
use super::runtime::promise;
use crate::orchestrate::background::{self, OpenWorkflow, WorkflowLimits, WorkflowRequest};
use crate::run::{self, WorkflowState, spawn_task};

/// The beginning of the ids of the workflows that scripts of pi's `codemode` use. A session follows.
#[napi]
pub const CODEMODE_WORKFLOW: &str = run::CODEMODE_WORKFLOW;

fn failed(error: impl ToString) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}

/// Hears that a person has stopped the workflow. Weak: it does not keep the process alive.
pub type StopSink = ThreadsafeFunction<(), Returned, (), Status, false, true>;

/// A workflow to open, and the pi around it.
#[napi(object, object_to_js = false, js_name = "WorkflowOptions")]
pub struct OwnWorkflowOptions {
    /// The id of the workflow, of your choice. It is unique in the project, which is the directory `cwd`.
    pub id: String,
    /// A name for people.
    /// @default the id
    pub name: Option<String>,
    /// The file of its script.
    pub file: Option<String>,
    /// The id of the workflow that starts this one.
    pub parent: Option<String>,
    /// Its limits.
    #[napi(ts_type = "WorkflowLimits")]
    pub limits: Option<Parsed<WorkflowLimits>>,
}

/// Options of JavaScript.
pub type WorkflowOptions = CallOptions<OwnWorkflowOptions>;

/// A workflow whose script runs in this process; see `openWorkflow`.
///
/// @example
/// ```ts
/// import { openWorkflow } from "pi-subagent-native/extension";
///
/// const workflow = await openWorkflow({ cwd: process.cwd(), id: "review" });
/// process.once("SIGINT", () => workflow.stop());
/// workflow.phase("read");
/// await workflow.finish("completed");
/// ```
#[napi]
pub struct WorkflowHandle(Arc<OpenWorkflow>);

/// Opens a workflow: its script begins, or begins again. Runs with a `workflow` of this id then belong to its phases, count for
/// its limits, and are listed with it. Its budget in dollars holds for runs that have its `account`. `onStop` hears that a person
/// has stopped it; its runs have then been ended.
///
/// Rejects if the workflow runs already, in this process or in another one, or if the store of runs cannot be used.
///
/// @example
/// ```ts
/// import { openWorkflow, startRun } from "pi-subagent-native/extension";
///
/// const cwd = process.cwd();
/// const workflow = await openWorkflow({ cwd, id: "review", limits: { maxRuns: 20 } });
/// workflow.phase("read");
/// const { account } = workflow;
/// const run = startRun({ cwd, account, agent: "explorer", task: "Where?", workflow: { id: "review", key: "where" } });
/// console.log((await run.result()).content[0]?.text);
/// await workflow.finish("completed");
/// ```
#[napi(catch_unwind, async_runtime, ts_return_type = "Promise<WorkflowHandle>")]
pub fn open_workflow(
    env: Env,
    options: WorkflowOptions,
    #[napi(ts_arg_type = "() => void")] on_stop: Option<StopSink>,
) -> napi::Result<PromiseRaw<'static, WorkflowHandle>> {
    let CallOptions { own, host } = options;
    let (cwd, context) = host.into_context();
    let request = WorkflowRequest {
        id: own.id,
        name: own.name,
        file: own.file.map(absolute),
        parent: own.parent,
        limits: own.limits.map(|Parsed(limits)| limits).unwrap_or_default(),
    };
    promise(env, async move {
        let opened = background::open_workflow(&cwd, &Arc::new(context), request).await;
        let opened = opened.map_err(failed)?;
        if let Some(on_stop) = on_stop {
            let opened = Arc::clone(&opened);
            spawn_task(async move {
                if opened.stopped().await {
                    drop(call(&on_stop, ()).await);
                }
            });
        }
        Ok(WorkflowHandle(opened))
    })
}

/// Lists the workflows of the project `cwd`, or of all projects, the newest first.
///
/// @example
/// ```ts
/// import { workflows } from "pi-subagent-native/extension";
///
/// for (const { id, state, runs } of await workflows({ cwd: process.cwd() })) console.log(id, state, runs.length);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<WorkflowRecord[]>")]
pub fn workflows(
    env: Env,
    options: SurfaceOptions,
    is_all: Option<bool>,
) -> napi::Result<PromiseRaw<'static, Json>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let found = background::workflows(&cwd, &context, is_all == Some(true)).await;
        Json::new(&found.map_err(failed)?)
    })
}

/// Stops a workflow of the project `cwd`: its runs end, no further ones start, and its script hears of it. False if no process
/// runs it.
///
/// @example
/// ```ts
/// import { stopWorkflow } from "pi-subagent-native/extension";
///
/// console.log(await stopWorkflow({ cwd: process.cwd() }, "review"));
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn stop_workflow(
    env: Env,
    options: SurfaceOptions,
    id: String,
) -> napi::Result<PromiseRaw<'static, bool>> {
    let (cwd, context) = options.into_context();
    promise(env, async move { background::stop_workflow(&cwd, &context, &id).await.map_err(failed) })
}

/// Removes a workflow of the project `cwd` and its results. False if a process runs it, or if it is not known.
///
/// @example
/// ```ts
/// import { removeWorkflow } from "pi-subagent-native/extension";
///
/// console.log(await removeWorkflow({ cwd: process.cwd() }, "review"));
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn remove_workflow(
    env: Env,
    options: SurfaceOptions,
    id: String,
) -> napi::Result<PromiseRaw<'static, bool>> {
    let (cwd, context) = options.into_context();
    promise(env, async move { background::remove_workflow(&cwd, &context, &id).await.map_err(failed) })
}

#[napi]
impl WorkflowHandle {
    /// The account that its runs need for its budget.
    #[napi(getter)]
    pub fn account(&self) -> String {
        self.0.account()
    }

    /// Enters a phase. Runs that start from now on belong to it.
    #[napi(catch_unwind)]
    pub fn phase(&self, name: String) {
        self.0.enter_phase(&name);
    }

    /// Ends all of its runs, and starts no further ones.
    #[napi(catch_unwind, async_runtime)]
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Records the end of its script. Its results are kept. Without this call it counts as interrupted once its process has ended.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn finish(
        &self,
        env: Env,
        #[napi(ts_arg_type = "\"completed\" | \"failed\" | \"stopped\" | \"interrupted\"")] state: String,
        error: Option<String>,
    ) -> napi::Result<PromiseRaw<'_, ()>> {
        let state = WorkflowState::parse(&state).filter(|state| *state != WorkflowState::Running);
        let unknown = || napi::Error::new(Status::InvalidArg, "the state of an end is unknown");
        let state = state.ok_or_else(unknown)?;
        let workflow = Arc::clone(&self.0);
        promise(env, async move {
            let finished = workflow.finish(state, error).await;
            finished.map_err(failed)
        })
    }
}

impl Drop for WorkflowHandle {
    fn drop(&mut self) {
        self.0.close();
    }
}
