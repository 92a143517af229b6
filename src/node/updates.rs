//! Calls from a run into JavaScript.

use napi::Status;
use napi::bindgen_prelude::{Either, Promise};
use napi::threadsafe_function::{ThreadsafeFunction, UnknownReturnValue};
use napi_derive::napi;
use tokio::sync::watch;

use super::result::ToolResult;
use crate::run;

/// A question that only a person may answer.
#[napi(object, object_from_js = false)]
pub struct ConfirmRequest {
    /// The agent it is about.
    pub agent: String,
    /// The file that defines it.
    pub path: String,
    /// The question.
    pub title: String,
    /// What the answer means.
    pub message: String,
}

/// Receives updates. Weak: an update is no reason for the process to live on.
pub type UpdateSink = ThreadsafeFunction<ToolResult, UnknownReturnValue, ToolResult, Status, false, true>;

/// Answers questions.
pub type ConfirmSink =
    ThreadsafeFunction<ConfirmRequest, Either<bool, Promise<bool>>, ConfirmRequest, Status, false, true>;

/// Passes updates on, one at a time: JavaScript sees the newest state whenever it has taken the last one, and the last
/// state in any case.
pub(super) async fn forward(mut updates: watch::Receiver<Option<run::ToolResult>>, sink: Option<UpdateSink>) {
    let Some(sink) = sink else { return };
    while updates.changed().await.is_ok() {
        let update = updates.borrow_and_update().clone();
        if let Some(update) = update
            && sink.call_async_catch(update.into()).await.is_err()
        {
            return;
        }
    }
}

impl run::Confirm for ConfirmSink {
    async fn confirm(&self, request: run::ConfirmRequest) -> bool {
        let run::ConfirmRequest { agent, path, title, message } = request;
        match self.call_async_catch(ConfirmRequest { agent, path, title, message }).await {
            Ok(Either::A(answer)) => answer,
            Ok(Either::B(answer)) => answer.await.unwrap_or(false),
            Err(_) => false,
        }
    }
}
