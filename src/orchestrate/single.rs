//! One agent, one task.

use std::sync::Arc;

use tokio::select;
use tokio::task::JoinSet;

use super::admission::{Admission, EarlyChildren};
use super::background::{Claimed, ForegroundRun, KeyedRun, claim, run_keyed, run_listed};
use super::background_move::MoveError;
use super::call::Call;
use super::prepare_all::{directory, prepare_run, refused};
use super::summary::{in_background, named};
use crate::run::{CallSettings, Mode, Progress, RunDetails, RunSpec, TaskProgress, ToolResult, WorkflowRun};

/// The text of an update while the child has not said anything.
const RUNNING: &str = "(running...)";

/// Runs one agent on one task as soon as it is admitted. Every error that a user or a child can cause ends in a result.
///
/// Dropping the future ends the run, unless it was moved to the background.
pub async fn single(spec: RunSpec, call: Call) -> ToolResult {
    Box::pin(keyed(spec, None, call)).await
}

/// Works like [`single`]. With a `key` in a workflow, the call may have its result already, wait for another call, or continue an
/// earlier run.
pub async fn keyed(spec: RunSpec, key: Option<WorkflowRun>, call: Call) -> ToolResult {
    let Call { id, callbacks, control, host_id, group, order, background_move, .. } = &call;
    let _close_on_drop = background_move.close_on_drop();
    let settings = CallSettings::unless_cancelled(&spec.cwd, &spec.context, &control.cancel).await;
    if spec.context.host.cwd.as_ref().is_some_and(|cwd| *cwd != spec.cwd)
        && let Err(refusal) = directory(&spec, &control.cancel).await
    {
        return refused(refusal, Mode::Single, &settings);
    }
    let ready = match prepare_run(settings, spec, id.clone(), &**callbacks, &control.cancel).await {
        Ok(ready) => ready,
        Err(result) => return result,
    };
    let (ready, keyed) = match key {
        None => (ready, None),
        Some(key) => match Box::pin(claim(ready, key, &call)).await {
            Claimed::Result(result) => return named(*result),
            Claimed::Run(keyed) => {
                let KeyedRun { ready, record, from_start, lead } = *keyed;
                (ready, Some((record, from_start, lead)))
            }
        },
    };
    let admission = Admission { early: EarlyChildren::of(host_id.as_deref()), group: group.clone(), order };
    let queued = admission.enter_one(&ready, &control.cancel).await;
    let (record, from_start, lead) =
        keyed.map_or((None, None, None), |(record, from_start, lead)| (record, from_start, Some(lead)));
    let is_stored = record.is_some();
    let listed = match record {
        Some(record) => Some(ForegroundRun::list_as(record, &ready, &call).await),
        None => ForegroundRun::list(&ready, &call).await,
    };
    // A separate task, so that it can continue without the call.
    let mut running = JoinSet::new();
    let (run, callbacks, own_control, id) =
        (listed.clone(), Arc::clone(callbacks), control.clone(), id.clone());
    // A run that continues without the call must not keep the call's updates open.
    let updates = Arc::new(call.updates.clone());
    let shown = Arc::downgrade(&updates);
    running.spawn(async move {
        let call_id = id.get();
        let mut show = |progress| {
            if let Some(updates) = shown.upgrade() {
                updates.send_replace(Some(update_of(&call_id, progress)));
            }
        };
        let result = match &run {
            Some(run) if is_stored => {
                run_keyed(run, queued, ready, from_start, &*callbacks, &own_control, &mut show).await
            }
            _ => run_listed(run, queued, ready, &*callbacks, &own_control, &mut show).await,
        };
        if let Some(lead) = lead {
            lead.finish(&result);
        }
        result
    });
    loop {
        select! {
            biased;
            Some(ended) = running.join_next() => match ended {
                Ok(result) => return named(result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            () = background_move.requested() => {
                let answer = match &listed {
                    Some(run) => match run.refusal(&[], 0).await {
                        Some(why) => Err(why.into()),
                        None => run.move_to_background(None).await,
                    },
                    None => Err(MoveError::NoSession),
                };
                background_move.answer(&answer.clone().map(|run| vec![run]));
                if let Ok(run) = answer {
                    running.detach_all();
                    return in_background(&run);
                }
            }
        }
    }
}

/// The update of a call with one run.
fn update_of(id: &str, progress: Progress) -> ToolResult {
    let text = match (&*progress.text, &progress.blocked_by, progress.position) {
        ("", Some(writer), _) => format!("(waits for {writer} to finish writing in the same work tree...)"),
        ("", None, Some(position)) => format!("(queued at position {position}...)"),
        (text, ..) if text.trim().is_empty() => RUNNING.to_owned(),
        (text, ..) => text.to_owned(),
    };
    let details = RunDetails { streaming: Some(TaskProgress::of_call(progress)), ..RunDetails::single(id) };
    ToolResult { text, is_error: false, usage: None, details }
}
