//! Calls that are still arriving.

use napi::bindgen_prelude::{Env, PromiseRaw, within_runtime_if_available};
use napi_derive::napi;
use tokio::runtime::Handle;

use super::options::EarlyOptions;
use super::runtime::promise;
use crate::orchestrate;

/// A call whose arguments are still arriving; see `bootEarly`. Dropping it is the same as `end`.
///
/// @example
/// ```ts
/// import { bootEarly } from "pi-subagent-native";
///
/// const early = bootEarly({ tool: "subagent", callId: "call-1", cwd: process.cwd() });
/// early.push('{"agent":"explorer",');
/// await early.end();
/// ```
#[napi]
pub struct EarlyCall(orchestrate::EarlyCall);

/// Boots the children of a call while its arguments still arrive: those whose agent needs no one's consent, while the
/// queue has a free slot. Each waits for its task without doing anything. `startRun`, `startParallel` or `startChain`
/// claims it by `callId`; a child that nobody claims within 30 seconds of the last `push` is ended without a trace. The
/// configuration key `earlyBoot` switches this off.
///
/// @example
/// ```ts
/// import { bootEarly, startRun } from "pi-subagent-native";
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
    let (call_id, is_chain, cwd, context) = options.into_parts();
    let runtime = within_runtime_if_available(Handle::current);
    EarlyCall(orchestrate::EarlyCall::new(call_id, is_chain, cwd, context, runtime))
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
        let gone = self.0.end();
        promise(env, async move {
            gone.await;
            Ok(())
        })
    }
}
