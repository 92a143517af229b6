//! What the model of a conversation can ask about its own runs, and do with them: `sessions_list`, `sessions_history`,
//! `sessions_send`, `sessions_stop`. Each answer is JSON for the model and a report for the person who watches.
//!
//! `call` is a parsed call, `find` finds the run that it names, `describe` lists runs and reads their conversations, and
//! `send` passes messages on and waits for what comes of them. `continue_run` does so for programs. Runs of other conversations are out of reach.

mod call;
mod continue_run;
mod describe;
mod find;
mod send;

use std::sync::Arc;

use serde_json::{Value, json};

pub use call::{SessionCall, parse_call};
pub use continue_run::continue_run;

use super::actions::stop;
use super::conversation::view::ConversationView;
use super::service::BackgroundService;
use crate::present::{Clock, Report, action_report, refused_report};
use crate::process::Cancel;
use crate::run::{ActionOutcome, HostCallbacks, blocking};

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionAnswer {
    /// For the model.
    pub value: Value,
    /// Whether the call failed.
    pub is_error: bool,
    /// The same for people.
    pub report: Report,
    /// The deliveries whose content the answer has: they count as delivered once the conversation contains it.
    pub delivery_ids: Vec<String>,
}

impl SessionAnswer {
    /// What a session keeps of it, in a file that outlives releases and may hold those of other tools.
    pub const KIND: &str = "subagent-session";
    /// Changes with the meaning of a field.
    pub const VERSION: u32 = 1;

    fn new(value: Value, report: Report) -> Self {
        Self { value, is_error: report.is_error, report, delivery_ids: Vec::new() }
    }

    /// The answer to a call that did nothing.
    #[must_use]
    pub fn refused(report: Report) -> Self {
        let why: Vec<String> =
            report.lines.iter().map(|line| format!("{} {}", line.name, line.text)).collect();
        let value = json!({ "status": "error", "error": why.join("\n").trim() });
        Self { is_error: true, ..Self::new(value, report) }
    }
}

/// Carries out a call. `cancel` ends the wait for a reply; what was sent stays sent.
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
    let run = match find::find(service, view, &name).await {
        Ok(run) => run,
        Err(report) => return SessionAnswer::refused(report),
    };
    match call {
        call::RunCall::History(wanted) => describe::history(service, view, &run, &wanted, &clock).await,
        call::RunCall::Send(message) => send::send(service, view, run, message, callbacks, cancel).await,
        call::RunCall::Stop => match stop(service, &run).await {
            Ok(done) => {
                let status = if done == ActionOutcome::Stopped { "stopped" } else { "stopping" };
                let value = json!({ "runId": run.run_id, "status": status });
                SessionAnswer::new(value, action_report(&run, done))
            }
            Err(why) => SessionAnswer::refused(refused_report(&run, "stopped", &why)),
        },
    }
}
