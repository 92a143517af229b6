//! Calls that go on while JavaScript does other things.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw, spawn};
use napi_derive::napi;
use tokio::sync::watch;

use super::callbacks::{HostCallbacks, JsCallbacks, UpdateSink, forward};
use super::options::{CallRequest, ChainOptions, ParallelOptions, RunOptions};
use super::result::ToolResult;
use super::teardown::{EndOnDrop, end_with_thread};
use crate::orchestrate::{self, Call, CallOrder};
use crate::process::CancelReason;
use crate::run::{self, Control, RunId, Steering};

/// A call under way: one run, or several. Dropping it, and every promise of its result, ends it.
#[napi]
pub struct RunHandle {
    run_id: RunId,
    steering: Steering,
    guard: Arc<EndOnDrop>,
    outcome: watch::Receiver<Option<Ended>>,
}

/// The end of a run: its result, or the text of the panic that replaced it.
type Ended = Result<Arc<run::ToolResult>, String>;

/// Runs one agent on one task, and returns at once.
///
/// `onUpdate` gets the newest state at most twenty times a second, the last time before the result resolves; when it
/// throws, or returns a promise that rejects, no more updates follow. Promises are not waited for. What the run may ask is
/// in `host`. None of the callbacks keeps the process alive; one that mentions the handle keeps the handle: such a run is
/// ended by `abort`, not by forgetting it.
///
/// Throws for arguments of the wrong type only. Everything else that can go wrong is in the result.
#[napi(catch_unwind, async_runtime)]
pub fn start_run(
    env: Env,
    options: RunOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
) -> napi::Result<RunHandle> {
    start(env, options.into_request(), on_update, host, orchestrate::single)
}

/// Runs several tasks side by side, at most `parallelConcurrency` of them at once, and returns at once. One that fails
/// does not disturb the others; the call fails when all of them do. Agents are looked up for all tasks before the first
/// child starts. Callbacks as for `startRun`.
#[napi(catch_unwind, async_runtime)]
pub fn start_parallel(
    env: Env,
    options: ParallelOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
) -> napi::Result<RunHandle> {
    start(env, options.into_request(), on_update, host, orchestrate::parallel)
}

/// Runs several steps one after the other, each with what the one before has found, and returns at once. The first step
/// that fails ends the call. Agents are looked up for all steps before the first child starts. Callbacks as for
/// `startRun`.
#[napi(catch_unwind, async_runtime)]
pub fn start_chain(
    env: Env,
    options: ChainOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
) -> napi::Result<RunHandle> {
    start(env, options.into_request(), on_update, host, orchestrate::chain)
}

/// Starts a call, whatever it asks for.
fn start<T: Send + 'static, Running>(
    env: Env,
    request: CallRequest<T>,
    on_update: Option<UpdateSink>,
    host: Option<HostCallbacks>,
    run: impl FnOnce(T, Call<JsCallbacks>) -> Running + Send + 'static,
) -> napi::Result<RunHandle>
where
    Running: Future<Output = run::ToolResult> + Send + 'static,
{
    let CallRequest { spec, host_id, is_aborted } = request;
    let (run_id, control, order) = (RunId::draw(), Control::default(), CallOrder::now());
    if is_aborted {
        control.cancel.cancel(CancelReason::Caller(None));
    }
    let (finish, outcome) = watch::channel(None);
    let guard = Arc::new(EndOnDrop(control.cancel.clone()));
    end_with_thread(env, &guard)?;
    let handle = RunHandle { run_id: run_id.clone(), steering: control.steering.clone(), guard, outcome };
    spawn(async move {
        let (updates, seen) = watch::channel(None);
        let callbacks = Arc::new(JsCallbacks(host));
        let call = Call { id: run_id, callbacks, control, updates, host_id, order };
        // Both end together: the last update comes before the result.
        let both = async { tokio::join!(run(spec, call), forward(seen, on_update)) };
        let result = tokio::spawn(both).await.map(|(result, ())| Arc::new(result));
        finish.send_replace(Some(result.map_err(|error| error.to_string())));
    });
    Ok(handle)
}

#[napi]
impl RunHandle {
    /// The call's id: eight hexadecimal characters. For one run it is the name of its directory, and can change until its
    /// child is there.
    #[napi(getter)]
    pub fn run_id(&self) -> String {
        self.run_id.get()
    }

    /// The result. Resolves for everything that a user or a child can cause; calling it again gives the same.
    #[napi(catch_unwind, ts_return_type = "Promise<ToolResult>")]
    pub fn result<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ToolResult>> {
        let (mut outcome, guard) = (self.outcome.clone(), Arc::clone(&self.guard));
        env.spawn_future(async move {
            let ended = outcome.wait_for(Option::is_some).await.map(|ended| ended.clone());
            drop(guard);
            match ended.ok().flatten() {
                Some(Ok(result)) => Ok((*result).clone().into()),
                Some(Err(panic)) => Err(napi::Error::from_reason(panic)),
                None => Err(napi::Error::from_reason("the addon is shutting down")),
            }
        })
    }

    /// Ends the run; its result says that it was cancelled. Does nothing once the run has ended.
    #[napi(catch_unwind)]
    pub fn abort(&self, reason: Option<String>) {
        self.guard.0.cancel(CancelReason::Caller(reason));
    }

    /// Ends the run because its host is going: the child gets at most two seconds to leave. Resolves when it is gone.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        self.guard.0.cancel(CancelReason::Shutdown);
        let mut outcome = self.outcome.clone();
        env.spawn_future(async move {
            let _ = outcome.wait_for(Option::is_some).await;
            Ok(())
        })
    }

    /// Sends a message to every child that works, which reads it before its next turn. False when none took it: because
    /// none works, or because it is driven by the `json` protocol, which takes no messages.
    #[napi(catch_unwind)]
    pub fn steer(&self, message: String) -> bool {
        self.steering.steer(&message)
    }
}
