//! Sends a message to a run, and waits for its reply.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::select;
use tokio::time::sleep;

use super::call::{Message, SessionAnswer};
use crate::orchestrate::background::actions;
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::live_run::LiveRun;
use crate::orchestrate::background::service::BackgroundService;
use crate::present::{DeliveryBody, action_report, refused_report};
use crate::run::{ActionOutcome, BackgroundStatus, HostCallbacks, RunRecord};
use store::Delivery;
use supervisor::Cancel;

/// The note if the result arrives as a message.
const ANNOUNCED: &str = "its result arrives as a message";
/// The same note if the message was the answer to a question.
const ANSWERED: &str = "its question is answered; its result arrives as a message";
/// The note for a run whose call still waits.
const WAITED_FOR: &str = "the call that waits for it returns its result";

/// Sends a message. An active run reads it before its next turn, and an ended run continues with it. The reply is the result of
/// the run.
pub(super) async fn send(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    run: RunRecord,
    Message { text, wait }: Message,
    callbacks: Arc<dyn HostCallbacks>,
    cancel: &Cancel,
) -> SessionAnswer {
    let note = |done| if done == ActionOutcome::Answered { ANSWERED } else { ANNOUNCED };
    // Before it is sent: the run may end at once.
    let reply = (!wait.is_zero()).then(|| Reply::of(view, &run.key));
    let done = match actions::send(service, &run, &text, &view.scope, callbacks).await {
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
    // A run of another process is announced as usual.
    let Some((reply, live)) = reply.zip(service.registry.get(&run.key)) else { return accepted(note(done)) };
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
    let delivery = reply.take();
    let value = replied(&live.record(), delivery.as_ref());
    let delivery_ids = delivery.into_iter().map(|delivery| delivery.id).collect();
    SessionAnswer { delivery_ids, ..SessionAnswer::new(value, action_report(&live.record(), done)) }
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

/// Keeps the next delivery of a run from being announced. Dropping this gives it back.
struct Reply {
    view: Arc<ConversationView>,
    key: String,
}

impl Reply {
    fn of(view: &Arc<ConversationView>, key: &str) -> Self {
        view.outbox.reserve(key);
        Self { view: Arc::clone(view), key: key.to_owned() }
    }

    fn take(self) -> Option<Delivery> {
        self.view.outbox.take_reserved(&self.key)
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.view.outbox.give_back(&self.key);
    }
}
