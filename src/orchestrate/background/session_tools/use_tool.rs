//! Carries out a call of a tool, and continues a run for a program, which gets a receipt as for a new one.

use std::sync::Arc;

use serde_json::json;

use super::call::{RunCall, SessionAnswer, SessionCall};
use super::{describe, send};
use crate::orchestrate::background::actions::{resume, send as send_message, stop};
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::find::{NamedBy, Target, find};
use crate::orchestrate::background::service::BackgroundService;
use crate::orchestrate::background::spawn::Receipt;
use crate::present::{Clock, RESULT_ARRIVES, action_report, refused_report};
use crate::run::{ActionOutcome, HostCallbacks, blocking};
use supervisor::Cancel;

/// Carries out a call. `cancel` ends the wait for a reply. A sent message stays sent.
pub async fn use_session_tool(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    call: SessionCall,
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
        RunCall::Send(message) => send::send(service, view, run, message, callbacks, cancel).await,
        RunCall::Stop => match stop(service, &run).await {
            Ok(done) => {
                let status = if done == ActionOutcome::Stopped { "stopped" } else { "stopping" };
                let value = json!({ "runId": run.run_id, "status": status });
                SessionAnswer::new(value, action_report(&run, done))
            }
            Err(why) => SessionAnswer::refused(refused_report(&run, "stopped", &why.to_string())),
        },
    }
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
        Err(report) => return Receipt::Error(report.plain()),
    };
    let message = message.filter(|message| !message.trim().is_empty());
    let done = match message {
        Some(message) => send_message(service, &run, message, &view.scope, callbacks).await,
        None => resume(service, &run, None, &view.scope, callbacks).await,
    };
    match done {
        Ok(_) => Receipt::Accepted {
            run_id: run.run_id,
            session_key: run.session_key,
            note: RESULT_ARRIVES.to_owned(),
            warnings: Vec::new(),
            awaits_consent: false,
        },
        Err(why) => Receipt::Error(refused_report(&run, "continued", &why.to_string()).plain()),
    }
}
