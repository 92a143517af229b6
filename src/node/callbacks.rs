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
use tokio::sync::watch;

use super::into_js::{IntoJs, object_into_js};
use super::result::ToolResult;
use crate::present::{
    self, AnswerKind, ChosenAnswer, QuestionText, consent_text, conversation_question_text, question_text,
};
use crate::run::{self, BoxFuture};
use pi_events::QuestionMethod;
use sanitizer::figures::millis;

/// Asks whether an agent that a project defines may run. The texts are exact, for the screen of the person who decides:
/// nothing is redacted in them, and a character that cannot be seen is shown as `<U+200B>`. Do not store them, and do not
/// give them to a model.
#[napi(object, object_from_js = false)]
pub struct ConfirmRequest {
    /// Names this question to `withdraw`; no other one of the process has it.
    pub id: u32,
    /// The run that waits for the answer; eight hexadecimal characters.
    pub run_id: String,
    /// The agent's name.
    pub agent: String,
    /// The file that defines it.
    pub path: String,
    /// The question in a few words.
    pub title: String,
    /// A description of the agent, the effect of a yes, the changes since the last yes, and the whole file. A yes
    /// applies to all of it, so let the person see it to its end.
    pub message: String,
    /// The heading, which names the asker: `sub-agent`.
    pub heading: String,
    /// The question on one line.
    pub sentence: String,
    /// A no and a yes, in this order: the first one changes nothing.
    pub choices: Vec<Choice>,
    /// The time limit for the answer, in milliseconds; ten minutes.
    pub timeout_ms: f64,
}

/// A dialog that an extension in a child opened. Its texts are exact, for the screen of the person who decides: nothing is
/// redacted in them, and a character that cannot be seen is shown as `<U+200B>`. Do not store them, and do not give them to
/// a model. A child may have 16 open; further ones are cancelled, and so is one of which a text is too long.
#[napi(object, object_from_js = false)]
pub struct Question {
    /// Names this question to `withdraw`; no other one of the process has it.
    pub id: u32,
    /// The run whose child asks; eight hexadecimal characters.
    pub run_id: String,
    /// The agent's name.
    pub agent: String,
    /// The name of the run, if it has one.
    pub label: Option<String>,
    /// True for a question of an agent with `ask: parent` in the background, which its conversation is asked, too
    /// (`DeliveryMessage.questions`). The first answer counts; a rejection leaves it to the conversation. Absent for others.
    pub for_conversation: Option<bool>,
    /// `confirm` wants `confirmed`; the others want `value`.
    #[napi(ts_type = "\"select\" | \"confirm\" | \"input\" | \"editor\"")]
    pub method: &'static str,
    /// At most 16 KiB; each mark for a character that cannot be seen adds some bytes.
    pub title: String,
    /// As long as the title.
    pub message: Option<String>,
    /// The choices of a `select`: at most 64 of 1 KiB each.
    pub options: Option<Vec<String>>,
    /// The hint in an empty field; as long as the title.
    pub placeholder: Option<String>,
    /// The initial text of the field; as long as the title. Returned unchanged, it is the child's own text.
    pub prefill: Option<String>,
    /// The heading, which names the asker: `cleanup (explorer) asks`.
    pub heading: String,
    /// The question on one line, with who asks it.
    pub sentence: String,
    /// The ways to answer, for people. The first one changes nothing.
    pub choices: Vec<Choice>,
    /// The time limit for the answer, in milliseconds: as long as the child waits, and at most ten minutes. Without an
    /// answer in that time the dialog is cancelled.
    pub timeout_ms: f64,
}

/// A way to answer a question.
#[napi(object, object_from_js = false)]
pub struct Choice {
    /// Its words, on one line.
    pub label: String,
    /// The answer that it gives. Absent if the person has to write a text.
    pub answer: Option<Answer>,
}

/// The answer to a question. An empty object cancels the dialog.
#[napi(object)]
pub struct Answer {
    /// The chosen option or the text. It counts only if `confirmed` is absent.
    pub value: Option<String>,
    /// Yes or no, for `confirm`.
    pub confirmed: Option<bool>,
}

/// A login whose token expires too soon for a run.
#[napi(object, object_from_js = false)]
pub struct RefreshRequest {
    /// The provider, as pi names it.
    pub provider: String,
    /// The time for which the token has to be valid, in milliseconds. The addon waits at most 50 seconds for the
    /// answer.
    pub valid_for_ms: f64,
}

/// A model that a run asks for.
#[napi(object, object_from_js = false)]
pub struct ModelRequest {
    /// The requested name: `provider/id`, an id, or a part of a name, without a thinking level.
    pub model: String,
}

/// pi's answer about a requested model.
#[napi(object, object_to_js = false)]
pub struct HostModel {
    /// `provider/id`; absent when no model or several are meant.
    pub model: Option<String>,
    /// True if pi has a login for its provider.
    /// @default false
    pub has_login: Option<bool>,
    /// The environment variables that its provider takes a key from.
    /// @default []
    pub variables: Option<Vec<String>>,
    /// pi's own words about a name that means no model or several.
    pub problem: Option<String>,
    /// Every model, `provider/id`, when none was meant: the nearest is suggested.
    /// @default []
    pub known: Option<Vec<String>>,
}

/// The return value of a callback that has nothing to answer. A promise is kept and watched, because an unhandled
/// rejection would end the host.
pub(super) type Returned = Option<Promise<UnknownReturnValue>>;

/// Receives updates. Weak: an update does not keep the process alive.
pub type UpdateSink = ThreadsafeFunction<ToolResult, Returned, ToolResult, Status, false, true>;

/// Asks JavaScript, which answers with a promise or a value. `Promise` comes first because it would pass for an object.
type Callback<Request, Reply> =
    ThreadsafeFunction<Request, Either<Promise<Reply>, Reply>, Request, Status, false, true>;

/// The callbacks through which a call asks its host. Each one is optional, and none keeps the process alive. A callback
/// that throws or rejects counts as unanswered.
///
/// @example
/// ```ts
/// import { startRun } from "pi-subagent-native";
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
    pub confirm: Option<Callback<ConfirmRequest, bool>>,
    /// Refreshes a login's token that would expire while a sandboxed child runs; true when it did. Without this
    /// callback the child refreshes its own copy, which is taken back at its end.
    #[napi(ts_type = "(request: RefreshRequest) => Promise<boolean> | boolean")]
    pub refresh: Option<Callback<RefreshRequest, bool>>,
    /// Looks up a model as pi does; asked for every model that is not the session's. A model that is unknown or has no
    /// login refuses the run before its child is started. Without this callback, and without an answer within 5 seconds,
    /// the child finds out.
    #[napi(ts_type = "(request: ModelRequest) => Promise<HostModel> | HostModel")]
    pub model: Option<Callback<ModelRequest, HostModel>>,
    /// Passes a question of a child on to the user. Without this callback every question is cancelled.
    #[napi(ts_type = "(question: Question) => Promise<Answer> | Answer")]
    pub ask: Option<Callback<Question, Answer>>,
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

impl run::HostCallbacks for HostCallbacks {
    fn is_interactive(&self) -> bool {
        self.confirm.is_some()
    }

    fn confirm(&self, request: run::ConfirmRequest) -> BoxFuture<'_, Option<bool>> {
        let asked = Asked::new(self.withdraw.clone());
        let request = (asked.id, request, self.answer_timeout()).into_js();
        let answer = ask(self.confirm.as_ref(), request);
        Box::pin(async {
            let answer = answer.await;
            asked.answered();
            answer
        })
    }

    fn ask(&self, question: run::ChildQuestion) -> BoxFuture<'_, run::Answer> {
        let asked = Asked::new(self.withdraw.clone());
        let answer = ask(self.ask.as_ref(), (asked.id, question).into_js());
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
        let answer = ask(self.model.as_ref(), ModelRequest { model: asked.to_owned() });
        Box::pin(async {
            let HostModel { model, has_login, variables, problem, known } = answer.await?;
            Some(run::HostModel {
                model,
                has_login: has_login.unwrap_or(false),
                variables: variables.unwrap_or_default(),
                problem,
                known: known.unwrap_or_default(),
            })
        })
    }

    fn refresh<'a>(&'a self, provider: &'a str, valid_for: Duration) -> BoxFuture<'a, bool> {
        let request =
            RefreshRequest { provider: provider.to_owned(), valid_for_ms: millis(valid_for).into_js() };
        let answer = ask(self.refresh.as_ref(), request);
        Box::pin(async { answer.await.unwrap_or(false) })
    }
}

impl IntoJs<ConfirmRequest> for (u32, run::ConfirmRequest, Duration) {
    fn into_js(self) -> ConfirmRequest {
        let (id, run::ConfirmRequest { run_id, agent, path, title, message }, patience) = self;
        let QuestionText { heading, sentence, choices } = consent_text(&title);
        let choices = choices.into_js();
        let timeout_ms = millis(patience).into_js();
        ConfirmRequest {
            id,
            run_id,
            agent,
            path: path.into_js(),
            title: title.into_js(),
            message: message.into_js(),
            heading,
            sentence,
            choices,
            timeout_ms,
        }
    }
}

impl IntoJs<Question> for (u32, run::ChildQuestion) {
    fn into_js(self) -> Question {
        let (id, run::ChildQuestion { run_id, agent, label, is_for_conversation, question, shown }) = self;
        let kind = match question.method {
            QuestionMethod::Confirm => AnswerKind::Confirm,
            QuestionMethod::Select => AnswerKind::Select(&shown.options),
            QuestionMethod::Input | QuestionMethod::Editor => AnswerKind::Written,
        };
        let text_of = if is_for_conversation { conversation_question_text } else { question_text };
        let QuestionText { heading, sentence, choices } =
            text_of(label.as_deref(), &agent, &shown.title, kind);
        Question {
            id,
            run_id,
            agent,
            label,
            for_conversation: is_for_conversation.then_some(true),
            method: question.method.into_js(),
            title: shown.title.into_js(),
            message: shown.message.into_js(),
            options: shown.options.into_js(),
            placeholder: shown.placeholder.into_js(),
            prefill: shown.prefill.into_js(),
            heading,
            sentence,
            choices: choices.into_js(),
            timeout_ms: millis(question.timeout.unwrap_or_default()).into_js(),
        }
    }
}

object_into_js! { |choice: present::Choice| Choice { label: choice.label, answer: choice.answer } }

impl IntoJs<Answer> for ChosenAnswer {
    fn into_js(self) -> Answer {
        let (value, confirmed) = match self {
            Self::None => (None, None),
            Self::Confirmed(confirmed) => (None, Some(confirmed)),
            Self::Value(value) => (Some(value), None),
        };
        Answer { value, confirmed }
    }
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
                match call(&sink, update.clone().into_js()).await {
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
