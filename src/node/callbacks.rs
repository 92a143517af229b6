//! Calls from runs into JavaScript.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use napi::Status;
use napi::bindgen_prelude::{
    Either, FromNapiValue, JsValuesTupleIntoVec, Promise, TypeName, ValidateNapiValue,
};
use napi::threadsafe_function::{ThreadsafeFunction, UnknownReturnValue};
use napi_derive::napi;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::json::{Json, Parsed, without_nulls};
use crate::present::{
    AnswerKind, Choice, ChosenAnswer, QuestionText, consent_text, conversation_question_text, question_text,
};
use crate::run::{self, BoxFuture};
use pi_events::QuestionMethod;
use sanitizer::Visible;
use sanitizer::figures::millis;

/// The answer to a question. An empty object cancels the dialog.
#[napi(object, object_to_js = false)]
pub struct Answer {
    /// The chosen option or the text. It counts only if `confirmed` is absent.
    pub value: Option<String>,
    /// Yes or no, for `confirm`.
    pub confirmed: Option<bool>,
}

/// The return value of a callback that has nothing to answer. A promise is kept and watched, because an unhandled
/// rejection would end the host.
pub(super) type Returned = Option<Promise<UnknownReturnValue>>;

/// Receives updates. Weak: an update does not keep the process alive.
pub type UpdateSink = ThreadsafeFunction<Json, Returned, Json, Status, false, true>;

/// Asks JavaScript, which answers with a promise or a value. `Promise` comes first because it would pass for an object.
type Callback<Reply> = ThreadsafeFunction<Json, Either<Promise<Reply>, Reply>, Json, Status, false, true>;

/// The callbacks through which a call asks its host. Each one is optional, and none keeps the process alive. A callback
/// that throws or rejects counts as unanswered.
///
/// @example
/// ```ts
/// import { startRun } from "pi-subagent-native/extension";
///
/// const handle = startRun({ agent: "reviewer", task: "Review the last commit.", cwd: process.cwd() }, undefined, {
/// 	confirm: ({ path }) => path.startsWith(process.cwd()),
/// 	ask: ({ method, options = [] }) => (method === "select" && options[0] ? { value: options[0] } : {}),
/// });
/// console.log((await handle.result()).content[0]?.text);
/// ```
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct HostCallbacks {
    /// Asks the user whether an agent that a project defines may run: once per content of its file. False and no answer
    /// refuse the run; the refusal says which it was. Without this callback `nonInteractivePolicy` decides.
    #[napi(ts_type = "(request: ConfirmRequest) => Promise<boolean> | boolean")]
    pub confirm: Option<Callback<bool>>,
    /// Refreshes a login's token that would expire while a sandboxed child runs; true when it did. Without this
    /// callback the child refreshes its own copy, which is taken back at its end.
    #[napi(ts_type = "(request: RefreshRequest) => Promise<boolean> | boolean")]
    pub refresh: Option<Callback<bool>>,
    /// Looks up a model as pi does; asked for every model that is not the session's. A model that is unknown or has no
    /// login refuses the run before its child is started. Without this callback, and without an answer within 5 seconds,
    /// the child finds out.
    #[napi(ts_type = "(request: ModelRequest) => Promise<HostModel> | HostModel")]
    pub model: Option<Callback<Parsed<run::HostModel>>>,
    /// Passes a question of a child on to the user. Without this callback every question is cancelled.
    #[napi(ts_type = "(question: Question) => Promise<Answer> | Answer")]
    pub ask: Option<Callback<Answer>>,
    /// Hears the id of a question, of `confirm` or `ask`, whose answer is not waited for any more: its run has ended.
    #[napi(ts_type = "(id: number) => void")]
    pub withdraw: Option<Arc<Withdraw>>,
}

/// Takes back a question.
type Withdraw = ThreadsafeFunction<u32, Returned, u32, Status, false, true>;

/// A question that waits for its answer. Dropped before [`answered`](Self::answered), it is withdrawn.
struct Asked {
    id: u32,
    withdraw: Option<Arc<Withdraw>>,
}

impl Asked {
    fn new(withdraw: Option<Arc<Withdraw>>) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(1);
        Self { id: LAST.fetch_add(1, Ordering::Relaxed), withdraw }
    }

    fn answered(mut self) {
        self.withdraw = None;
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let id = self.id;
        let withdraw = self.withdraw.take();
        // Without a runtime the process is about to end.
        if let (Some(withdraw), Ok(runtime)) = (withdraw, tokio::runtime::Handle::try_current()) {
            drop(runtime.spawn(async move { drop(call(&withdraw, id).await) }));
        }
    }
}

/// Calls JavaScript and waits for its answer. `None`: there is no callback, it threw, or its promise rejected.
async fn ask<Reply>(sink: Option<&Callback<Reply>>, request: Value) -> Option<Reply>
where
    Reply: FromNapiValue + TypeName + ValidateNapiValue + Send + 'static,
{
    match sink?.call_async_catch(Json::new(&request).ok()?).await.ok()? {
        Either::A(promise) => promise.await.ok(),
        Either::B(reply) => Some(reply),
    }
}

impl run::HostCallbacks for HostCallbacks {
    fn is_interactive(&self) -> bool {
        self.confirm.is_some()
    }

    fn confirm(&self, request: run::ConfirmRequest) -> BoxFuture<'_, Option<bool>> {
        let asked = Asked::new(self.withdraw.clone());
        let answer = ask(self.confirm.as_ref(), consent(asked.id, request, self.answer_timeout()));
        Box::pin(async {
            let answer = answer.await;
            asked.answered();
            answer
        })
    }

    fn ask(&self, child: run::ChildQuestion) -> BoxFuture<'_, run::Answer> {
        let asked = Asked::new(self.withdraw.clone());
        let answer = ask(self.ask.as_ref(), question(asked.id, child));
        Box::pin(async {
            let answer = answer.await;
            asked.answered();
            match answer {
                Some(Answer { confirmed: Some(confirmed), .. }) => run::Answer::Confirmed(confirmed),
                Some(Answer { value: Some(value), .. }) => run::Answer::Value(value),
                Some(_) => run::Answer::Cancelled,
                None => run::Answer::NoUser,
            }
        })
    }

    fn model<'a>(&'a self, asked: &'a str) -> BoxFuture<'a, Option<run::HostModel>> {
        let answer = ask(self.model.as_ref(), json!({ "model": asked }));
        Box::pin(async { answer.await.map(|Parsed(model)| model) })
    }

    fn refresh<'a>(&'a self, provider: &'a str, valid_for: Duration) -> BoxFuture<'a, bool> {
        let request = json!({ "provider": provider, "validForMs": millis(valid_for) });
        let answer = ask(self.refresh.as_ref(), request);
        Box::pin(async { answer.await.unwrap_or(false) })
    }
}

/// The question about an agent of a project, for JavaScript. The texts are exact.
fn consent(id: u32, request: run::ConfirmRequest, patience: Duration) -> Value {
    let run::ConfirmRequest { run_id, agent, path, title, message } = request;
    let QuestionText { heading, sentence, choices } = consent_text(&title);
    json!({
        "id": id, "runId": run_id, "agent": agent, "heading": heading, "sentence": sentence,
        "path": path.into_string(), "title": title.into_string(), "message": message.into_string(),
        "choices": choices.into_iter().map(choice).collect::<Vec<_>>(), "timeoutMs": millis(patience),
    })
}

/// The question of a child, for JavaScript. The texts are exact.
fn question(id: u32, asked: run::ChildQuestion) -> Value {
    let run::ChildQuestion { run_id, agent, label, is_for_conversation, question, shown } = asked;
    let kind = match question.method {
        QuestionMethod::Confirm => AnswerKind::Confirm,
        QuestionMethod::Select => AnswerKind::Select(&shown.options),
        QuestionMethod::Input | QuestionMethod::Editor => AnswerKind::Written,
    };
    let text_of = if is_for_conversation { conversation_question_text } else { question_text };
    let QuestionText { heading, sentence, choices } = text_of(label.as_deref(), &agent, &shown.title, kind);
    let options: Vec<_> = shown.options.into_iter().map(Visible::into_string).collect();
    without_nulls(json!({
        "id": id, "runId": run_id, "agent": agent, "label": label, "heading": heading, "sentence": sentence,
        "forConversation": is_for_conversation.then_some(true), "method": question.method,
        "title": shown.title.into_string(), "message": shown.message.map(Visible::into_string),
        "options": Some(options).filter(|options| !options.is_empty()),
        "placeholder": shown.placeholder.map(Visible::into_string),
        "prefill": shown.prefill.map(Visible::into_string),
        "choices": choices.into_iter().map(choice).collect::<Vec<_>>(),
        "timeoutMs": millis(question.timeout.unwrap_or_default()),
    }))
}

fn choice(Choice { label, answer }: Choice) -> Value {
    let answer = answer.map(|answer| match answer {
        ChosenAnswer::None => json!({}),
        ChosenAnswer::Confirmed(confirmed) => json!({ "confirmed": confirmed }),
        ChosenAnswer::Value(value) => json!({ "value": value }),
    });
    without_nulls(json!({ "label": label, "answer": answer }))
}

/// Passes updates on, one at a time. JavaScript gets the newest state each time it has taken the previous one, and the
/// last state in any case. Parts that have not changed since the previous update are omitted. Promises are not awaited:
/// a pending promise must delay neither updates nor the result.
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
                let Ok(json) = Json::new(&update) else { return };
                match call(&sink, json).await {
                    Ok(None) => {}
                    Ok(promise) => returned = promise,
                    Err(_) => return,
                }
                before = Some(update);
            }
        }
    }
}

/// Calls a callback that has nothing to answer. A returned value that is no promise counts as none.
///
/// # Errors
///
/// If it throws, or can no longer be called.
pub(super) async fn call<Args>(
    sink: &ThreadsafeFunction<Args, Returned, Args, Status, false, true>,
    args: Args,
) -> napi::Result<Returned>
where
    Args: JsValuesTupleIntoVec + Send + 'static,
{
    match sink.call_async_catch(args).await {
        // An exception has the status `PendingException`; these two mean that the value has no `then` to call.
        Err(error) if matches!(error.status, Status::InvalidArg | Status::FunctionExpected) => Ok(None),
        called => called,
    }
}

/// Resolves with the promise; without one it never does.
async fn resolved<T: FromNapiValue>(promise: &mut Option<Promise<T>>) -> napi::Result<T> {
    match promise {
        Some(promise) => promise.await,
        None => std::future::pending().await,
    }
}
