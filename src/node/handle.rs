//! A run that goes on while JavaScript does other things.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw, spawn};
use napi_derive::napi;
use tokio::sync::watch;

use super::options::RunOptions;
use super::result::ToolResult;
use super::teardown::end_with_thread;
use super::updates::{ConfirmSink, RefreshSink, UpdateSink, forward};
use crate::process::{Cancel, CancelReason};
use crate::run::{self, Callbacks, RunId};

/// A run under way. Dropping it, and every promise of its result, ends the run.
#[napi]
pub struct RunHandle {
    run_id: RunId,
    guard: Arc<EndOnDrop>,
    outcome: watch::Receiver<Option<Settled>>,
}

/// The end of a run: its result, or the text of the panic that replaced it.
type Settled = Result<Arc<run::ToolResult>, String>;

/// Ends a run that nobody can hear of any more.
pub(super) struct EndOnDrop(pub(super) Cancel);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.cancel(CancelReason::Dropped);
    }
}

/// Starts one run and returns at once.
///
/// `onUpdate` gets the newest state at most twenty times a second, the last time before the result resolves; when it
/// throws, no more updates follow. `onConfirm` is asked before an agent that the project defines runs for the first
/// time; without it `nonInteractivePolicy` decides. `onRefresh` is asked to have a login's token refreshed that
/// would expire during the run of a sandboxed child; without it the child refreshes its copy, which is then taken back.
/// None of them keeps the process alive. A callback that mentions the handle
/// keeps the handle: such a run is ended by `abort`, not by forgetting it.
///
/// Throws for arguments of the wrong type only. Everything else that can go wrong is in the result.
#[napi(catch_unwind, async_runtime)]
pub fn start_run(
    env: Env,
    options: RunOptions,
    #[napi(ts_arg_type = "(update: ToolResult) => void")] on_update: Option<UpdateSink>,
    #[napi(ts_arg_type = "(request: ConfirmRequest) => Promise<boolean> | boolean")] on_confirm: Option<
        ConfirmSink,
    >,
    #[napi(ts_arg_type = "(request: RefreshRequest) => Promise<boolean> | boolean")] on_refresh: Option<
        RefreshSink,
    >,
) -> napi::Result<RunHandle> {
    let (run_id, cancel) = (RunId::draw(), Cancel::new());
    if options.aborted == Some(true) {
        cancel.cancel(CancelReason::Caller(None));
    }
    let spec = options.into_spec();
    let (settle, outcome) = watch::channel(None);
    let guard = Arc::new(EndOnDrop(cancel.clone()));
    end_with_thread(env, &guard)?;
    let handle = RunHandle { run_id: run_id.clone(), guard, outcome };
    spawn(async move {
        let (sender, updates) = watch::channel(None);
        let host = Callbacks { confirm: on_confirm, refresh: on_refresh };
        // Both end together: the last update comes before the result.
        let run = async {
            tokio::join!(run::execute(spec, run_id, sender, host, cancel), forward(updates, on_update))
        };
        let result = tokio::spawn(run).await.map(|(result, ())| Arc::new(result));
        settle.send_replace(Some(result.map_err(|error| error.to_string())));
    });
    Ok(handle)
}

#[napi]
impl RunHandle {
    /// The run's id: eight hexadecimal characters, the name of its directory.
    #[napi(getter)]
    pub fn run_id(&self) -> String {
        self.run_id.get()
    }

    /// The result. Resolves for everything that a user or a child can cause; calling it again gives the same.
    #[napi(catch_unwind, ts_return_type = "Promise<ToolResult>")]
    pub fn result<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ToolResult>> {
        let (mut outcome, guard) = (self.outcome.clone(), Arc::clone(&self.guard));
        env.spawn_future(async move {
            let settled = outcome.wait_for(Option::is_some).await.map(|settled| settled.clone());
            drop(guard);
            match settled.ok().flatten() {
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

    /// Sends a message into the run. False when it cannot be delivered, which is always so for a child that is driven
    /// by the `json` protocol.
    #[napi(catch_unwind)]
    pub fn steer(&self, message: String) -> bool {
        run::steer(&self.run_id, message)
    }
}
