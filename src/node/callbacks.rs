//! Calls from a run into JavaScript.

use std::time::Duration;

use napi::Status;
use napi::bindgen_prelude::{
    Either, FromNapiValue, JsValuesTupleIntoVec, Promise, TypeName, ValidateNapiValue,
};
use napi::threadsafe_function::{ThreadsafeFunction, UnknownReturnValue};
use napi_derive::napi;
use tokio::sync::watch;

use super::result::{ToolResult, number};
use crate::credentials::Refresh;
use crate::run;
use crate::text::figures::millis;

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

/// A question of an extension in a child. All strings are sanitized and bounded.
#[napi(object, object_from_js = false)]
pub struct Question {
    /// The run whose child asks.
    pub run_id: String,
    /// Its agent.
    pub agent: String,
    /// What kind of answer is wanted.
    #[napi(ts_type = "\"select\" | \"confirm\" | \"input\" | \"editor\"")]
    pub method: &'static str,
    /// The question.
    pub title: String,
    /// More about it.
    pub message: Option<String>,
    /// What there is to choose from, for `select`.
    pub options: Option<Vec<String>>,
    /// What stands in an empty field.
    pub placeholder: Option<String>,
    /// What stands in the field to begin with.
    pub prefill: Option<String>,
    /// How long the child waits for the answer, in milliseconds.
    pub timeout_ms: Option<f64>,
}

/// The answer to a question; an empty object is that of one who closes the dialog.
#[napi(object, object_to_js = false)]
pub struct Answer {
    /// What was chosen or written.
    pub value: Option<String>,
    /// Yes or no.
    pub confirmed: Option<bool>,
}

/// A login whose token expires too soon for a run.
#[napi(object, object_from_js = false)]
pub struct RefreshRequest {
    /// The provider, as pi names it.
    pub provider: String,
    /// For how long the token has to be good, in milliseconds.
    pub valid_for_ms: f64,
}

/// What a callback returns that has nothing to answer. A promise is looked at, because one that rejects and that nobody
/// looks at ends the host.
pub(super) type Returned = Option<Promise<UnknownReturnValue>>;

/// Receives updates. Weak: an update is no reason for the process to live on.
pub type UpdateSink = ThreadsafeFunction<ToolResult, Returned, ToolResult, Status, false, true>;

/// Asks, and takes the promise of an answer or an answer. In this order: a promise would pass for an object.
type Callback<Request, Reply> =
    ThreadsafeFunction<Request, Either<Promise<Reply>, Reply>, Request, Status, false, true>;

/// What a call asks of its host. None of them keeps the process alive, and each may be missing.
#[napi(object, object_to_js = false)]
pub struct HostCallbacks {
    /// Asks a person whether an agent that the project defines may run; asked before it runs for the first time. Without it
    /// `nonInteractivePolicy` decides.
    #[napi(ts_type = "(request: ConfirmRequest) => Promise<boolean> | boolean")]
    pub confirm: Option<Callback<ConfirmRequest, bool>>,
    /// Has a login's token refreshed that would expire during the run of a sandboxed child. Without it the child refreshes
    /// its copy, which is then taken back.
    #[napi(ts_type = "(request: RefreshRequest) => Promise<boolean> | boolean")]
    pub refresh: Option<Callback<RefreshRequest, bool>>,
    /// Passes the question of an extension in a child on to a person. Without it every such question is cancelled.
    #[napi(ts_type = "(question: Question) => Promise<Answer> | Answer")]
    pub ask: Option<Callback<Question, Answer>>,
}

/// The host of a call, as the core sees it.
pub(super) struct JsCallbacks(pub(super) Option<HostCallbacks>);

/// Calls JavaScript and waits for what it answers. Whatever goes wrong there is no answer.
async fn ask<Request, Reply>(sink: Option<&Callback<Request, Reply>>, request: Request) -> Option<Reply>
where
    Request: JsValuesTupleIntoVec + Send + 'static,
    Reply: FromNapiValue + TypeName + ValidateNapiValue + Send + 'static,
{
    match sink?.call_async_catch(request).await.ok()? {
        Either::A(promise) => promise.await.ok(),
        Either::B(reply) => Some(reply),
    }
}

impl Refresh for JsCallbacks {
    async fn refresh(&self, provider: &str, valid_for: Duration) -> bool {
        let valid_for_ms = number(millis(valid_for));
        let request = RefreshRequest { provider: provider.to_owned(), valid_for_ms };
        let sink = self.0.as_ref().and_then(|host| host.refresh.as_ref());
        ask(sink, request).await.unwrap_or(false)
    }
}

impl run::HostCallbacks for JsCallbacks {
    fn is_interactive(&self) -> bool {
        self.0.as_ref().is_some_and(|host| host.confirm.is_some())
    }

    async fn confirm(&self, request: run::ConfirmRequest) -> bool {
        let run::ConfirmRequest { agent, path, title, message } = request;
        let sink = self.0.as_ref().and_then(|host| host.confirm.as_ref());
        ask(sink, ConfirmRequest { agent, path, title, message }).await.unwrap_or(false)
    }

    async fn ask(&self, question: run::ChildQuestion) -> run::Answer {
        let sink = self.0.as_ref().and_then(|host| host.ask.as_ref());
        match ask(sink, question.into()).await {
            Some(Answer { confirmed: Some(confirmed), .. }) => run::Answer::Confirmed(confirmed),
            Some(Answer { value: Some(value), .. }) => run::Answer::Value(value),
            _ => run::Answer::Cancelled,
        }
    }
}

impl From<run::ChildQuestion> for Question {
    fn from(question: run::ChildQuestion) -> Self {
        let run::ChildQuestion { run_id, agent, method, title, message, options, .. } = question;
        Self {
            run_id,
            agent,
            method: method.as_str(),
            title,
            message,
            options: (!options.is_empty()).then_some(options),
            placeholder: question.placeholder,
            prefill: question.prefill,
            timeout_ms: question.timeout_ms.map(number),
        }
    }
}

/// Passes updates on, one at a time: JavaScript sees the newest state whenever it has taken the last one, and the last
/// state in any case. What has not changed since the update before is left out where updates are made of parts. Promises
/// are not waited for: one that stays pending must keep back neither updates nor the result.
pub(super) async fn forward(mut updates: watch::Receiver<Option<run::ToolResult>>, sink: Option<UpdateSink>) {
    let Some(sink) = sink else { return };
    let mut before: Option<run::ToolResult> = None;
    let mut returned: Option<Promise<UnknownReturnValue>> = None;
    loop {
        tokio::select! {
            biased;
            done = resolved(&mut returned) => match done {
                Ok(_) => returned = None,
                Err(_) => return,
            },
            changed = updates.changed() => {
                if changed.is_err() {
                    return;
                }
                let Some(mut update) = updates.borrow_and_update().clone() else { continue };
                update.leave_out_unchanged(before.as_ref());
                match call(&sink, update.clone().into()).await {
                    Ok(None) => {}
                    Ok(promise) => returned = promise,
                    Err(_) => return,
                }
                before = Some(update);
            }
        }
    }
}

/// Calls what has nothing to answer. Whatever it returns that is no promise is nothing.
///
/// # Errors
///
/// When it throws, or cannot be called any more.
pub(super) async fn call<Told>(
    sink: &ThreadsafeFunction<Told, Returned, Told, Status, false, true>,
    told: Told,
) -> napi::Result<Returned>
where
    Told: JsValuesTupleIntoVec + Send + 'static,
{
    match sink.call_async_catch(told).await {
        // What an exception has is `PendingException`; this is said of what has no `then` to call.
        Err(error) if matches!(error.status, Status::InvalidArg | Status::FunctionExpected) => Ok(None),
        called => called,
    }
}

/// Resolves as the promise does, and never without one.
async fn resolved<T: FromNapiValue>(promise: &mut Option<Promise<T>>) -> napi::Result<T> {
    match promise {
        Some(promise) => promise.await,
        None => std::future::pending().await,
    }
}
