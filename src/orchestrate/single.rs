//! One agent, one task.

use super::admission::Admission;
use super::background::run_listed;
use super::call::Call;
use super::summary::named;
use crate::run::{Progress, RunDetails, RunSpec, ToolResult, prepare};

/// The text of an update while the child has not said anything.
const RUNNING: &str = "(running...)";

/// Runs one agent on one task as soon as it is admitted. Whatever a user or a child can cause ends in a result.
pub async fn single(spec: RunSpec, call: Call) -> ToolResult {
    let Call { id, callbacks, control, updates, host_id, order } = call;
    let ready = match prepare(spec, id.clone(), &*callbacks, &control.cancel).await {
        Ok(ready) => ready,
        Err(result) => return result,
    };
    let admission = Admission { host_id: host_id.as_deref(), group: None, order: &order };
    let mut show = |progress| drop(updates.send_replace(Some(update_of(&id.get(), progress))));
    let queued = admission.enter_one(&ready, &control.cancel).await;
    named(run_listed(queued, ready, &*callbacks, &control, &mut show).await)
}

/// The update of a call with one run.
fn update_of(id: &str, progress: Progress) -> ToolResult {
    let text = match (&*progress.text, progress.position) {
        ("", Some(position)) => format!("(queued at place {position}...)"),
        (text, _) if text.trim().is_empty() => RUNNING.to_owned(),
        (text, _) => text.to_owned(),
    };
    let details = RunDetails { streaming: Some(progress), ..RunDetails::single(id) };
    ToolResult { text, is_error: false, usage: None, details }
}
