//! Several tasks side by side.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::admission::Admission;
use super::arriving::group_of;
use super::background::run_listed;
use super::call::{Call, TasksSpec};
use super::call_progress::CallProgress;
use super::prepare_all::{CallKind, prepare_all};
use super::summary::side_by_side;
use crate::run::{Mode, RunState, TaskState, ToolResult};

const KIND: CallKind = CallKind {
    mode: Mode::Parallel,
    list: "tasks",
    one: "task",
    setting: "maxParallelTasks",
    most: |config| config.max_parallel_tasks,
    join: side_by_side,
};

/// Runs several tasks side by side, as many at once as the configuration allows. A task that fails does not affect the
/// others; each may fill an equal share of the result's text.
///
/// Dropping the future ends all of them.
pub async fn parallel(spec: TasksSpec, call: Call) -> ToolResult {
    let id = call.id.get();
    let (runs, config) = match prepare_all(KIND, &spec, spec.tasks.len(), &call).await {
        Ok(prepared) => prepared,
        Err(result) => return *result,
    };
    let agents = runs.iter().map(|run| run.resolved.agent.name.clone());
    let progress =
        Arc::new(CallProgress::new(Mode::Parallel, id.clone(), agents, TaskState::Live(RunState::Queued)));
    let (count, limits) = (runs.len(), config.output);
    let group = Some((group_of(call.host_id.as_deref()), config.parallel_concurrency));
    let admission = Admission { host_id: call.host_id.as_deref(), group, order: &call.order };
    let queued = admission.enter(&runs, &call.control.cancel).await;
    let mut running = JoinSet::new();
    for (index, (ready, queued)) in runs.into_iter().zip(queued).enumerate() {
        let (progress, callbacks, control) =
            (Arc::clone(&progress), Arc::clone(&call.callbacks), call.control.clone());
        running.spawn(async move {
            let mut show = |now| progress.update(index, now);
            let result = run_listed(queued, ready, &*callbacks, &control, &mut show).await;
            progress.finish(index, &result);
            (index, result)
        });
    }
    let collect = async {
        let mut results: Vec<Option<ToolResult>> = vec![None; count];
        while let Some(ended) = running.join_next().await {
            match ended {
                Ok((index, result)) => results[index] = Some(result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        results.into_iter().flatten().collect()
    };
    let results = tokio::select! {
        results = collect => results,
        never = progress.forward(&call.updates) => match never {},
    };
    progress.send(&call.updates);
    side_by_side(&id, results, limits)
}
