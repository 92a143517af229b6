//! Several tasks side by side.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::admission::{Admission, EarlyChildren};
use super::background::{ForegroundRun, run_listed};
use super::background_move::{BackgroundMoveAnswer, MoveError};
use super::call::{Call, TasksSpec};
use super::call_progress::CallProgress;
use super::early::group_of;
use super::prepare_all::{CallKind, prepare_all};
use super::summary::{in_background, side_by_side};
use crate::run::{Mode, RunState, TaskState, ToolResult};

const KIND: CallKind = CallKind {
    mode: Mode::Parallel,
    list: "tasks",
    one: "task",
    setting: "maxParallelTasks",
    max: |config| config.max_parallel_tasks,
    join: side_by_side,
};

/// Runs several tasks side by side, as many at once as the configuration allows. A task that fails does not affect the
/// others; each may fill an equal share of the result's text.
///
/// Dropping the future ends all of them, except the runs that were moved to the background.
pub async fn parallel(spec: TasksSpec, call: Call) -> ToolResult {
    let id = call.id.get();
    let _close_on_drop = call.background_move.close_on_drop();
    let (runs, config) = match prepare_all(KIND, &spec, spec.tasks.len(), &call).await {
        Ok(prepared) => prepared,
        Err(result) => return *result,
    };
    let agents = runs.iter().map(|run| run.resolved.agent.name.clone());
    let progress = Arc::new(CallProgress::new(
        Mode::Parallel,
        id.to_string(),
        agents,
        TaskState::Live(RunState::Queued),
    ));
    let count = runs.len();
    let limits = config.output;
    let group = Some((group_of(call.host_id.as_deref()), config.parallel_concurrency));
    let admission =
        Admission { early: EarlyChildren::of(call.host_id.as_deref()), group, order: &call.order };
    let queued = admission.enter(&runs, &call.control.cancel).await;
    let mut listed = Vec::with_capacity(count);
    for ready in &runs {
        listed.push(ForegroundRun::list(ready, &call).await);
    }
    let mut running = JoinSet::new();
    for (index, (ready, queued)) in runs.into_iter().zip(queued).enumerate() {
        let (progress, callbacks, control) =
            (Arc::clone(&progress), Arc::clone(&call.callbacks), call.control.clone());
        let run = listed[index].clone();
        running.spawn(async move {
            let mut show = |now| progress.update(index, now);
            let result = run_listed(run, queued, ready, &*callbacks, &control, &mut show).await;
            progress.finish(index, &result);
            (index, result)
        });
    }
    let collect = async {
        let mut results: Vec<Option<ToolResult>> = vec![None; count];
        while results.iter().any(Option::is_none) {
            tokio::select! {
                biased;
                Some(ended) = running.join_next() => match ended {
                    Ok((index, result)) => results[index] = results[index].take().or(Some(result)),
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                },
                () = call.background_move.requested() => {
                    let answer = move_remaining(&listed, &mut results).await;
                    for (index, result) in results.iter().enumerate() {
                        if let Some(result) = result {
                            progress.finish(index, result);
                        }
                    }
                    call.background_move.answer(&answer);
                }
            }
        }
        // The remaining runs were moved to the background.
        running.detach_all();
        results.into_iter().flatten().collect()
    };
    let results = tokio::select! {
        results = collect => results,
        never = progress.forward(&call.updates) => match never {},
    };
    progress.send(&call.updates);
    side_by_side(&id, results, limits.total(count))
}

/// Moves all runs without a result to the background, or none of them. A run that ends in the meantime keeps its result
/// for the call.
async fn move_remaining(
    listed: &[Option<Arc<ForegroundRun>>],
    results: &mut [Option<ToolResult>],
) -> BackgroundMoveAnswer {
    let remaining = listed.iter().zip(results.iter()).filter(|(_, result)| result.is_none());
    for (before_it, (run, _)) in remaining.enumerate() {
        let Some(run) = run else { return Err(MoveError::NoSession) };
        if let Some(why) = run.refusal(&[], before_it).await {
            return Err(why.into());
        }
    }
    let mut runs = Vec::new();
    let mut reason = MoveError::Ended;
    for (run, result) in listed.iter().zip(results).filter(|(_, result)| result.is_none()) {
        let Some(run) = run else { continue };
        match run.move_to_background(None).await {
            Ok(run) => {
                *result = Some(in_background(&run));
                runs.push(run);
            }
            Err(why) => reason = why,
        }
    }
    if runs.is_empty() { Err(reason) } else { Ok(runs) }
}
