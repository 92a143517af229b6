//! Carries out a call of a tool, and continues a run for a program, which gets a receipt as for a new one.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::select;
use tokio::time::sleep;

use super::call::{Message, RunCall, SessionAnswer, SessionCall};
use super::describe;
use crate::orchestrate::background::actions;
use crate::orchestrate::background::conversation::delivery_ids::end_id;
use crate::orchestrate::background::conversation::outbox::Awaited;
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::deliver::Reservation;
use crate::orchestrate::background::find::{NamedBy, Target, find};
use crate::orchestrate::background::live_run::LiveRun;
use crate::orchestrate::background::service::BackgroundService;
use crate::present::{Clock, DeliveryBody, RESULT_ARRIVES, Receipt, action_report, refused_report};
use crate::run::{ActionOutcome, BackgroundStatus, HostCallbacks, RunRecord, blocking};
use store::Delivery;
use supervisor::Cancel;

/// The note if the result arrives as a message.
const ANNOUNCED: &str = "its result arrives as a message";
/// The same note if the message was the answer to a question.
const ANSWERED: &str = "its question is answered; its result arrives as a message";
/// The note for a run whose call still waits.
const WAITED_FOR: &str = "the call that waits for it returns its result";

/// Carries out a call. `host_id` is the host's id of the call, under which a child may have booted. `cancel` ends the wait for a
/// reply. A sent message stays sent.
pub async fn use_session_tool(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    call: SessionCall,
    host_id: Option<&str>,
    callbacks: Arc<dyn HostCallbacks>,
    cancel: &Cancel,
) -> SessionAnswer {
    let clock = blocking(Clock::system).await;
    let (name, call) = match call {
        SessionCall::List(wanted) => return describe::list(service, view, &wanted, &clock).await,
        SessionCall::Of(name, call) => (name, call),
    };
    let run = match find(service, view, &Target::new(name), NamedBy::Program).await {
        Ok(run) => run,
        Err(report) => return SessionAnswer::refused(report),
    };
    match call {
        RunCall::History(wanted) => describe::history(service, view, &run, &wanted, &clock).await,
        RunCall::Send(message) => {
            send_message(service, view, run, (message, host_id), callbacks, cancel).await
        }
        RunCall::Stop => match actions::stop(service, &run).await {
            Ok(done) => {
                let status = if done == ActionOutcome::Stopped { "stopped" } else { "stopping" };
                let value = json!({ "runId": run.run_id, "status": status });
                SessionAnswer::new(value, action_report(&run, done))
            }
            Err(why) => SessionAnswer::refused(refused_report(&run, "stopped", &why.to_string())),
        },
    }
}

/// Sends a message. An active run reads it before its next turn, and an ended run continues with it. The reply is the result of
/// the run.
async fn send_message(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    run: RunRecord,
    (Message { text, wait }, host_id): (Message, Option<&str>),
    callbacks: Arc<dyn HostCallbacks>,
    cancel: &Cancel,
) -> SessionAnswer {
    let note = |done| if done == ActionOutcome::Answered { ANSWERED } else { ANNOUNCED };
    // An ended run continues, so its next end is the reply.
    let resumed = u32::from(!run.is_live());
    let end = end_id(&RunRecord { times_resumed: run.times_resumed + resumed, ..run.clone() });
    // Before it is sent: the run may end at once.
    let reply = (!wait.is_zero()).then(|| Reservation::new(view, end.clone()));
    let done = match actions::send(service, &run, &text, &view.scope, host_id, callbacks).await {
        Ok(done) => done,
        Err(why) => return SessionAnswer::refused(refused_report(&run, "sent a message", &why.to_string())),
    };
    let accepted = |note: &str| {
        let value =
            json!({ "runId": run.run_id, "sessionKey": run.session_key, "status": "accepted", "note": note });
        SessionAnswer::new(value, action_report(&run, done))
    };
    if run.is_foreground && run.is_live() {
        return accepted(WAITED_FOR);
    }
    // A run of another process is announced as usual, and so is a later end.
    let live = service.registry.get(&run.key).filter(|live| end_id(&live.record()) == end);
    let Some((reply, live)) = reply.zip(live) else { return accepted(note(done)) };
    let hosted = [live];
    select! {
        () = service.registry.until_removed(&hosted) => {}
        () = until_question(service, &hosted[0]) => {
            let note = "it asks you a question, which arrives as a message now";
            let value = json!({ "runId": run.run_id, "status": "question", "note": note });
            return SessionAnswer::new(value, action_report(&run, done));
        }
        _ = cancel.cancelled() => return accepted(ANNOUNCED),
        () = sleep(wait) => {
            let note = format!("it continues; {ANNOUNCED}");
            let value = json!({ "runId": run.run_id, "status": "timeout", "note": note });
            return SessionAnswer::new(value, action_report(&run, done));
        }
    }
    let [live] = hosted;
    let delivery = match reply.take() {
        Awaited::Delivery(delivery) => Some(delivery),
        Awaited::Elsewhere => return accepted(ANNOUNCED),
        Awaited::Nothing => None,
    };
    let value = replied(&live.record(), delivery.as_ref());
    let mut answer = SessionAnswer::new(value, action_report(&live.record(), done));
    answer.details.delivery_ids.extend(delivery.map(|delivery| delivery.id));
    answer
}

/// Resolves when the run asks its conversation.
async fn until_question(service: &BackgroundService, live: &LiveRun) {
    let mut changes = service.registry.changes();
    while live.question.text().is_none() && changes.changed().await.is_ok() {}
}

/// The end of a run as a reply; without a delivery its child has asked for no announcement.
fn replied(run: &RunRecord, delivery: Option<&Delivery>) -> Value {
    let body = delivery.map(DeliveryBody::read);
    if run.status() == Some(BackgroundStatus::Success) {
        let reply = body.and_then(|body| body.result_text());
        return json!({ "runId": run.run_id, "status": "ok", "reply": reply.unwrap_or_default() });
    }
    let error = run.error.clone().unwrap_or_else(|| run.state().to_owned());
    json!({ "runId": run.run_id, "status": "error", "error": error, "partial": run.partial })
}

/// Continues the run that a program names, with a message if it has one, and answers as to a request for a run.
pub async fn continue_run(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    name: &str,
    message: Option<&str>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Receipt {
    let run = match find(service, view, &Target::new(name), NamedBy::Program).await {
        Ok(run) => run,
        Err(report) => return Receipt::error(report.plain()),
    };
    let message = message.filter(|message| !message.trim().is_empty());
    let done = match message {
        Some(message) => actions::send(service, &run, message, &view.scope, None, callbacks).await,
        None => actions::resume(service, &run, None, &view.scope, callbacks).await,
    };
    match done {
        Ok(_) => Receipt::Accepted {
            run_id: run.run_id,
            session_key: run.session_key,
            note: RESULT_ARRIVES.to_owned(),
            warnings: Vec::new(),
            awaits_consent: false,
        },
        Err(why) => Receipt::error(refused_report(&run, "continued", &why.to_string()).plain()),
    }
}
