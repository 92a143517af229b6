//! Continues a run for a program, which gets a receipt as for a new one.

use std::sync::Arc;

use crate::orchestrate::background::actions::{resume, send};
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::find::{NamedBy, Target, find};
use crate::orchestrate::background::service::BackgroundService;
use crate::orchestrate::background::spawn::Receipt;
use crate::present::{RESULT_ARRIVES, refused_report};
use crate::run::HostCallbacks;

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
        Some(message) => send(service, &run, message, &view.scope, callbacks).await,
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
