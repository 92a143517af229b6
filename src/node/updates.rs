//! Calls from a run into JavaScript.

use std::time::Duration;

use napi::Status;
use napi::bindgen_prelude::{Either, Promise};
use napi::threadsafe_function::{ThreadsafeFunction, UnknownReturnValue};
use napi_derive::napi;
use tokio::sync::watch;

use super::result::{ToolResult, number};
use crate::run::{self, Refresh};

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

/// A login whose token expires too soon for a run.
#[napi(object, object_from_js = false)]
pub struct RefreshRequest {
    /// The provider, as pi names it.
    pub provider: String,
    /// For how long the token has to be good, in milliseconds.
    pub valid_for_ms: f64,
}

/// Refreshes tokens.
pub type RefreshSink =
    ThreadsafeFunction<RefreshRequest, Either<bool, Promise<bool>>, RefreshRequest, Status, false, true>;

impl Refresh for RefreshSink {
    async fn refresh(&self, provider: &str, valid_for: Duration) -> bool {
        let valid_for_ms = number(u64::try_from(valid_for.as_millis()).unwrap_or(u64::MAX));
        let request = RefreshRequest { provider: provider.to_owned(), valid_for_ms };
        match self.call_async_catch(request).await {
            Ok(Either::A(done)) => done,
            Ok(Either::B(done)) => done.await.unwrap_or(false),
            Err(_) => false,
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
