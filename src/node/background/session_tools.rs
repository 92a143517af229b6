//! The tools with which the model of a conversation reads and steers its runs.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::Value;
use tokio::sync::watch;

use super::session::BackgroundSession;
use crate::node::callbacks::HostCallbacks;
use crate::node::json::Json;
use crate::node::runtime::promise;
use crate::orchestrate::background::{SessionAnswer, parse_call, use_session_tool};
use crate::run::spawn_task;
use supervisor::{Cancel, CancelReason};

/// A call of a session tool that may wait for a reply.
///
/// @example
/// ```ts
/// import { openBackground } from "pi-subagent-native/extension";
///
/// const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, () => {});
/// const call = session.useTool("sessions_send", { sessionKey: "1a2b3c4d", message: "Go on.", timeoutSeconds: 60 });
/// process.once("SIGINT", () => call.abort());
/// console.log((await call.result()).content[0]?.text);
/// await session.close();
/// ```
#[napi]
pub struct SessionToolCall {
    cancel: Cancel,
    answer: watch::Receiver<Option<Arc<SessionAnswer>>>,
}

#[napi]
impl SessionToolCall {
    /// Resolves with the answer. Failures are in it.
    #[napi(catch_unwind, ts_return_type = "Promise<SessionToolAnswer>")]
    pub fn result(&self, env: Env) -> napi::Result<PromiseRaw<'_, Json>> {
        let mut answer = self.answer.clone();
        promise(env, async move {
            let answer = answer.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone());
            let answer = answer.ok_or_else(|| napi::Error::from_reason("the addon is shutting down"))?;
            Json::new(&*answer)
        })
    }

    /// Ends the wait for a reply. A sent message stays sent, and its result arrives as a message.
    #[napi(catch_unwind)]
    pub fn abort(&self) {
        self.cancel.cancel(CancelReason::Caller(None));
    }
}

#[napi]
impl BackgroundSession {
    /// Calls a session tool, as the model of the conversation does: a tool whose name begins with `sessions_`, except
    /// `sessions_spawn`. `params` match the schema from `describeTools`. `host` answers the questions of a continued run.
    /// `callId` is the host's id of the call: a continued run claims the child that `bootEarly` booted under it. Throws
    /// for another tool.
    #[napi(catch_unwind, async_runtime)]
    pub fn use_tool(
        &self,
        tool: String,
        #[napi(ts_arg_type = "object")] params: Value,
        host: Option<HostCallbacks>,
        call_id: Option<String>,
    ) -> napi::Result<SessionToolCall> {
        let call = parse_call(&tool, params)
            .ok_or_else(|| napi::Error::from_reason(format!("`{tool}` is not a session tool")))?;
        let opened = self.opened();
        let cancel = Cancel::new();
        let (finish, answer) = watch::channel(None);
        let handle = SessionToolCall { cancel: cancel.clone(), answer };
        spawn_task(async move {
            let answer = match (opened.await, call) {
                (Ok((service, view)), Ok(call)) => {
                    let callbacks = Arc::new(host.unwrap_or_default());
                    use_session_tool(&service, &view, call, call_id.as_deref(), callbacks, &cancel).await
                }
                (_, Err(report)) => SessionAnswer::refused(report),
                (Err(_), _) => return,
            };
            finish.send_replace(Some(Arc::new(answer)));
        });
        Ok(handle)
    }
}
