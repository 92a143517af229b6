//! Calls that run while JavaScript does other things.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use tokio::sync::watch;
use tokio::task::JoinError;

use super::callbacks::{HostCallbacks, UpdateSink, forward};
use super::json::Json;
use super::options::{CallRequest, ChainOptions, ParallelOptions, RunOptions};
use super::runtime::promise;
use super::teardown::{EndOnDrop, cancel_of_thread, end_with_thread};
use crate::orchestrate::background::receipts_of;
use crate::orchestrate::{self, BackgroundMove, Call, CallOrder};
use crate::present::ToolDetails;
use crate::run::{self, Control, RunId, SharedRunId, Steering, spawn_task};
use supervisor::CancelReason;

/// A running call: one run, or several. The call is aborted when this handle and every promise of its result are
/// garbage collected.
///
/// @example
/// ```ts
/// import { startRun } from "pi-subagent-native/extension";
///
/// const handle = startRun({ agent: "explorer", task: "Find the entry point.", cwd: process.cwd() });
/// const timer = setTimeout(() => handle.abort("took too long"), 60_000);
/// const { isError = false, content } = await handle.result();
/// clearTimeout(timer);
/// console.log(handle.runId, isError, content[0]?.text);
/// ```
#[napi]
pub struct RunHandle {
    run_id: SharedRunId,
    steering: Steering,
    background_move: BackgroundMove,
    guard: Arc<EndOnDrop>,
    outcome: watch::Receiver<Option<Ended>>,
}

/// The result of a call, or the panic that replaced it.
type Ended = Result<Arc<run::ToolResult>, Arc<JoinError>>;

/// Runs one agent on one task, and returns at once.
///
/// `onUpdate` gets the newest state at most ten times a second, the last time before the result resolves. When it
/// throws or returns a promise that rejects, no more updates follow; updates do not wait for its promises. `host`
/// answers the questions of the run. No callback keeps the process alive. A callback that refers to the handle keeps
/// the handle: end such a run with `abort`.
///
/// Throws only for arguments of the wrong type. Every other failure is in the result.
///
/// @example
/// ```ts
/// import { startRun } from "pi-subagent-native/extension";
///
/// const handle = startRun(
/// 	{ agent: "explorer", task: "Which file parses the configuration?", cwd: process.cwd() },
/// 	({ details }) => console.log(details.streaming?.state, details.streaming?.turnCount),
/// );
/// const { content, isError = false, details } = await handle.result();
/// if (isError) console.error(details.error?.code, details.error?.message);
/// else console.log(content[0]?.text);
/// ```
#[napi(catch_unwind, async_runtime)]
pub fn start_run(
    env: Env,
    options: RunOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
) -> napi::Result<RunHandle> {
    let run = |(spec, workflow), call| orchestrate::keyed(spec, workflow, call);
    start(env, options.into_request(), on_update, host, run)
}

/// Runs several tasks side by side, at most `parallelConcurrency` of them at once, and returns at once. A task that
/// fails does not disturb the others; the call fails when all of them do. All agents are looked up before the first
/// child starts. Callbacks as for `startRun`.
///
/// @example
/// ```ts
/// import { startParallel } from "pi-subagent-native/extension";
///
/// const handle = startParallel({
/// 	cwd: process.cwd(),
/// 	tasks: [
/// 		{ agent: "explorer", task: "Summarize src." },
/// 		{ agent: "explorer", task: "Summarize the tests." },
/// 	],
/// });
/// const { details } = await handle.result();
/// for (const { outcome, output = "" } of details.results) console.log(outcome, output);
/// ```
#[napi(catch_unwind, async_runtime)]
pub fn start_parallel(
    env: Env,
    options: ParallelOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
) -> napi::Result<RunHandle> {
    start(env, options.into_request(), on_update, host, orchestrate::parallel)
}

/// Runs several steps one after the other, each with the answer of the one before, and returns at once. The first step
/// that fails ends the call. All agents are looked up before the first child starts. Callbacks as for `startRun`.
///
/// @example
/// ```ts
/// import { startChain } from "pi-subagent-native/extension";
///
/// const handle = startChain({
/// 	cwd: process.cwd(),
/// 	steps: [
/// 		{ agent: "explorer", task: "Find the slowest test." },
/// 		{ agent: "explorer", task: "Explain why it is slow: {previous}" },
/// 	],
/// });
/// const { content } = await handle.result();
/// console.log(content[0]?.text);
/// ```
#[napi(catch_unwind, async_runtime)]
pub fn start_chain(
    env: Env,
    options: ChainOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
) -> napi::Result<RunHandle> {
    start(env, options.into_request(), on_update, host, orchestrate::chain)
}

/// Starts one run or several.
fn start<T: Send + 'static, Running>(
    env: Env,
    request: CallRequest<T>,
    on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
    run: impl FnOnce(T, Call) -> Running + Send + 'static,
) -> napi::Result<RunHandle>
where
    Running: Future<Output = run::ToolResult> + Send + 'static,
{
    let CallRequest { spec, host_id, group, is_aborted } = request;
    let id = SharedRunId::new(RunId::random());
    let control = Control::default();
    let order = CallOrder::now();
    if is_aborted {
        control.cancel.cancel(CancelReason::Caller(None));
    }
    let guard = Arc::new(EndOnDrop(control.cancel.clone()));
    end_with_thread(env, &guard)?;
    let (finish, outcome) = watch::channel(None);
    let background_move = BackgroundMove::default();
    let run_id = id.clone();
    let steering = control.steering.clone();
    let handle = RunHandle { run_id, steering, background_move: background_move.clone(), guard, outcome };
    let (updates, seen) = watch::channel(None);
    let callbacks = Arc::new(host.unwrap_or_default());
    let ends_with = cancel_of_thread(env)?;
    let call = Call { id, callbacks, control, updates, host_id, group, order, background_move, ends_with };
    // Join both, so that the last update comes before the result.
    let both = spawn_task(async move { tokio::join!(run(spec, call), forward(seen, on_update)).0 });
    spawn_task(async move {
        let result = both.await.map(Arc::new);
        finish.send_replace(Some(result.map_err(Arc::new)));
    });
    Ok(handle)
}

#[napi]
impl RunHandle {
    /// The call's id: eight hexadecimal characters. One run has its directory named after it; until the child has
    /// started it may change.
    #[napi(getter)]
    pub fn run_id(&self) -> String {
        self.run_id.get().into()
    }

    /// Resolves with the result, including every failure that a user or a child caused. Calling it again gives the same
    /// result. Rejects only for a bug in the addon.
    #[napi(catch_unwind, ts_return_type = "Promise<ToolResult>")]
    pub fn result(&self, env: Env) -> napi::Result<PromiseRaw<'_, Json>> {
        let mut outcome = self.outcome.clone();
        let guard = Arc::clone(&self.guard);
        promise(env, async move {
            let ended = outcome.wait_for(Option::is_some).await.map(|ended| ended.clone());
            drop(guard);
            match ended.ok().flatten() {
                Some(Ok(result)) => Json::new(&*result),
                Some(Err(panic)) => Err(napi::Error::from_reason(panic.to_string())),
                None => Err(napi::Error::from_reason("the addon is shutting down")),
            }
        })
    }

    /// Ends the call; its result has the outcome `aborted` and names `reason`. Does nothing once the call has ended.
    #[napi(catch_unwind)]
    pub fn abort(&self, reason: Option<String>) {
        self.guard.0.cancel(CancelReason::Caller(reason));
    }

    /// Moves the call to the background: its runs that have not ended continue there with all they have, and `result`
    /// resolves at once, with the outcome `background` for each of them. Resolves with a receipt for each, once they
    /// are stored; a chain continues as one run. The results of the runs come through `openBackground`. A moved call
    /// ignores `abort`. If the call cannot be moved, it keeps running, and the only receipt gives the reason.
    #[napi(catch_unwind, ts_return_type = "Promise<SpawnReceipt[]>")]
    pub fn background(&self, env: Env) -> napi::Result<PromiseRaw<'_, Json>> {
        let asked = self.background_move.request();
        promise(env, async move {
            let receipts = receipts_of(asked.await);
            Json::new(&receipts.iter().map(ToolDetails::stamped).collect::<Vec<_>>())
        })
    }

    /// Ends the call because its host is exiting: children get at most two seconds to exit. Resolves when they have
    /// exited.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close(&self, env: Env) -> napi::Result<PromiseRaw<'_, ()>> {
        self.guard.0.cancel(CancelReason::Shutdown);
        let mut outcome = self.outcome.clone();
        promise(env, async move {
            let _ = outcome.wait_for(Option::is_some).await;
            Ok(())
        })
    }

    /// Sends a message to every working child of the call, which reads it before its next turn. False when no child
    /// took it: none works, or the protocol is `json`, which takes no messages.
    #[napi(catch_unwind)]
    pub fn steer(&self, message: String) -> bool {
        self.steering.steer(&message)
    }
}
