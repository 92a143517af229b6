//! Calls that are still arriving.

use napi::bindgen_prelude::{Env, PromiseRaw, within_runtime_if_available};
use napi_derive::napi;
use tokio::runtime::Handle;

use super::options::EarlyOptions;
use crate::orchestrate;

/// A call whose arguments are still arriving. The children that they name are booted meanwhile, where policy allows it
/// without asking and the lane has room; each waits for its task, does nothing before it, and is ended without a trace when
/// it is not claimed within 30 seconds. Forgetting this value is the same as `end`.
#[napi]
pub struct EarlyCall(orchestrate::EarlyCall);

/// Begins to look at a call that is arriving. The call itself finds its children by `callId`.
#[napi(catch_unwind)]
pub fn boot_early(options: EarlyOptions) -> EarlyCall {
    let (call_id, is_chain, cwd, context) = options.into_parts();
    let runtime = within_runtime_if_available(Handle::current);
    EarlyCall(orchestrate::EarlyCall::new(call_id, is_chain, cwd, context, runtime))
}

#[napi]
impl EarlyCall {
    /// Takes the next piece of the call's arguments, as raw JSON. Returns at once; what is no JSON boots nothing.
    #[napi(catch_unwind)]
    pub fn push(&self, piece: String) {
        self.0.push(&piece);
    }

    /// Ends the children that no run has claimed: the call is over, or will not come. Resolves when they are gone.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn end<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let gone = self.0.end();
        env.spawn_future(async move {
            gone.await;
            Ok(())
        })
    }
}
