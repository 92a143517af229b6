//! Calls that are still arriving.

use napi::bindgen_prelude::{Env, PromiseRaw, within_runtime_if_available};
use napi_derive::napi;
use parking_lot::Mutex;
use serde_json::json;
use tokio::runtime::Handle;

use super::json::Json;
use super::options::EarlyOptions;
use super::runtime::promise;
use crate::orchestrate::{self, PieceKind};
use pi_events::StopReason;

/// A call whose arguments are still arriving; see `bootEarly`. Dropping it is the same as `end`.
///
/// @example
/// ```ts
/// import { bootEarly } from "pi-subagent-native/extension";
///
/// const early = bootEarly({ tool: "subagent", callId: "call-1", cwd: process.cwd() });
/// early.push('{"agent":"explorer",');
/// await early.end();
/// ```
#[napi]
pub struct EarlyCall(orchestrate::EarlyCall);

/// Boots the children of a call while its arguments still arrive: only children of agents that need no one's consent,
/// and only while the queue has a free slot. Each waits for its task without doing anything. `startRun`,
/// `startParallel`, `startChain`, `spawnSession` or `BackgroundSession.useTool` claims it by `callId`. A child that is not claimed
/// within 30 seconds of the last `push` is ended without a trace. An unknown `tool` boots nothing. The configuration key `earlyBoot`
/// switches this off.
///
/// @example
/// ```ts
/// import { bootEarly, startRun } from "pi-subagent-native/extension";
///
/// const place = { cwd: process.cwd(), callId: "call-1" };
/// const early = bootEarly({ ...place, tool: "subagent" });
/// early.push('{"agent":"explorer",');
/// early.push('"task":"List the tests."}');
/// const { content } = await startRun({ ...place, agent: "explorer", task: "List the tests." }).result();
/// await early.end();
/// console.log(content[0]?.text);
/// ```
#[napi(catch_unwind)]
pub fn boot_early(options: EarlyOptions) -> EarlyCall {
    EarlyCall(boot(options))
}

fn boot(options: EarlyOptions) -> orchestrate::EarlyCall {
    let (call_id, tool, cwd, context) = options.into_parts();
    let runtime = within_runtime_if_available(Handle::current);
    orchestrate::EarlyCall::new(call_id, tool, cwd, context, runtime)
}

#[napi]
impl EarlyCall {
    /// Takes the next piece of the call's arguments: raw JSON, split anywhere. Returns at once. Text that is no JSON
    /// boots nothing.
    #[napi(catch_unwind)]
    pub fn push(&self, piece: String) {
        self.0.push(&piece);
    }

    /// Ends the children that no run has claimed. Resolves when they are gone.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn end(&self, env: Env) -> napi::Result<PromiseRaw<'_, ()>> {
        let ended = self.0.end();
        promise(env, async move {
            ended.await;
            Ok(())
        })
    }
}

/// Ends the children that wait for the next call (`spare.count`). Resolves when all of their processes and files are gone. The
/// end of the JavaScript thread ends them as well.
///
/// @example
/// ```ts
/// import { endSpares, startRun } from "pi-subagent-native/extension";
///
/// const options = { cwd: process.cwd(), agent: "explorer", config: { spare: { count: 1 } } };
/// for (const task of ["List the tests.", "List the docs."]) {
/// 	const { content } = await startRun({ ...options, task }).result();
/// 	console.log(content[0]?.text);
/// }
/// await endSpares();
/// ```
#[napi(catch_unwind, async_runtime, ts_return_type = "Promise<void>")]
pub fn end_spares(env: Env) -> napi::Result<PromiseRaw<'static, ()>> {
    let ended = orchestrate::end_spares();
    promise(env, async move {
        ended.await;
        Ok(())
    })
}

/// A piece of a call as pi streams it, in `assistantMessageEvent` of `message_update`.
#[napi(object, object_to_js = false)]
pub struct CallPiece {
    /// `toolcall_start`, `toolcall_delta` or `toolcall_end`; any other type is ignored.
    #[napi(js_name = "type")]
    pub kind: String,
    /// The position of the call in its message, which pi calls `contentIndex`.
    pub content_index: u32,
    /// The tool's name, as far as it is known.
    pub name: Option<String>,
    /// The call's id, as far as it is known.
    pub id: Option<String>,
    /// A part of the arguments, as raw JSON; at the end, all of them.
    pub json: Option<String>,
}

/// The calls of a host's model while they arrive: decides for which calls children are booted, and ends the children
/// that no call will use. Feed it with the events of pi.
///
/// @example
/// ```ts
/// import { EarlyCalls } from "pi-subagent-native/extension";
///
/// const calls = new EarlyCalls();
/// const call = { contentIndex: 0, name: "subagent", id: "call-1" };
/// calls.take({ ...call, type: "toolcall_start" });
/// const wanted = calls.take({ ...call, type: "toolcall_delta", json: '{"agent":"explorer"' });
/// if (wanted) calls.boot({ ...wanted, cwd: process.cwd() });
/// calls.messageEnded("toolUse");
/// calls.finished("call-1");
/// await calls.close();
/// ```
#[napi]
#[derive(Default)]
pub struct EarlyCalls(Mutex<orchestrate::EarlyCalls<orchestrate::EarlyCall>>);

#[napi]
impl EarlyCalls {
    /// Creates the calls of a model of which none has arrived yet.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a piece. The call is returned when `boot` should be called for it.
    #[napi(catch_unwind, ts_return_type = "ArrivingCall | null")]
    pub fn take(&self, piece: CallPiece) -> napi::Result<Option<Json>> {
        let kind = match piece.kind.as_str() {
            "toolcall_start" => PieceKind::Start,
            "toolcall_delta" => PieceKind::Delta,
            "toolcall_end" => PieceKind::End,
            _ => return Ok(None),
        };
        let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let json = text(&piece.json);
        let name = text(&piece.name);
        let id = text(&piece.id);
        let piece =
            orchestrate::CallPiece { kind, index: piece.content_index, json: &json, name: &name, id: &id };
        let mut calls = self.0.lock();
        let wanted = calls.take(piece);
        wanted.map(|call| Json::new(&json!({ "tool": call.tool.as_str(), "callId": call.id }))).transpose()
    }

    /// Boots children for the call that `take` has returned last, with the pieces that have arrived and those that
    /// follow; see `bootEarly`.
    #[napi(catch_unwind)]
    pub fn boot(&self, options: EarlyOptions) {
        let call_id = options.call_id().to_owned();
        let call = boot(options);
        self.0.lock().announce(&call_id, call);
    }

    /// A message of the model is complete. If it ended with `error`, `aborted` or `length`, none of its calls is executed.
    #[napi(catch_unwind)]
    pub fn message_ended(&self, stop_reason: Option<String>) {
        let is_cut_off = stop_reason.is_some_and(|reason| StopReason::from(&*reason).discards_tool_calls());
        self.0.lock().message_ended(is_cut_off);
    }

    /// A call has ended: it was executed, refused or invalid.
    #[napi(catch_unwind)]
    pub fn finished(&self, call_id: String) {
        self.0.lock().finished(&call_id);
    }

    /// No call that has arrived will be executed any more.
    #[napi(catch_unwind)]
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Does the same as `clear`, for a host that is closing. Resolves when the children that no run has claimed are
    /// gone.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close(&self, env: Env) -> napi::Result<PromiseRaw<'_, ()>> {
        let ended = self.0.lock().close();
        promise(env, async move {
            ended.await;
            Ok(())
        })
    }
}
