//! Carries out a call.

use std::sync::Arc;

use serde_json::json;

use super::answer::SessionAnswer;
use super::call::{RunCall, SessionCall};
use super::{describe, send};
use crate::orchestrate::background::actions::stop;
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::find::{NamedBy, Target, find};
use crate::orchestrate::background::service::BackgroundService;
use crate::present::{Clock, action_report, refused_report};
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
