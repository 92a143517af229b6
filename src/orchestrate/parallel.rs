//! Several tasks side by side.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::board::Board;
use super::call::{Call, TasksSpec, watched};
use super::early;
use super::plan::{Kind, Plan, plan};
use super::summary::side_by_side;
use super::turn::{Entrance, Turn};
use crate::run::{HostCallbacks, Mode, Progress, RunState, TaskState, ToolResult};
use crate::text::TruncateLimits;

const KIND: Kind = Kind {
    mode: Mode::Parallel,
    list: "tasks",
    one: "task",
    setting: "maxParallelTasks",
    most: |config| config.max_parallel_tasks,
};

/// Runs several tasks side by side, as many at once as the configuration allows. One that fails does not disturb the
/// others; each has its own share of what the text of the result may fill.
///
/// Dropping the future ends all of them.
pub async fn parallel(spec: TasksSpec, call: Call<impl HostCallbacks + 'static>) -> ToolResult {
    let id = call.id.get();
    let (runs, config) = match plan(KIND, &spec, spec.tasks.len(), &call).await {
        Plan::Ready(runs, config) => (runs, config),
        Plan::Aborted(results) => return side_by_side(&id, results, TruncateLimits::default()),
        Plan::Refused(result) => return *result,
    };
    let agents = runs.iter().map(|run| run.agent().to_owned());
    let board = Arc::new(Board::new(Mode::Parallel, id.clone(), agents, TaskState::Live(RunState::Queued)));
    let (count, limits) = (runs.len(), config.output.limits());
    let group = Some((early::group_of(call.host_id.as_deref()), config.parallel_concurrency));
    let entrance = Entrance { host_id: call.host_id.as_deref(), group, order: &call.order };
    let entries = match entrance.enter(&runs, &call.control.cancel).await {
        Ok(entries) => entries,
        Err(reason) => {
            return side_by_side(&id, runs.into_iter().map(|run| run.aborted(&reason)).collect(), limits);
        }
    };
    let mut going = JoinSet::new();
    for (index, (ready, entry)) in runs.into_iter().zip(entries).enumerate() {
        let (board, callbacks, control) =
            (Arc::clone(&board), Arc::clone(&call.callbacks), call.control.clone());
        going.spawn(async move {
            let (progress, seen) = watch::channel(Progress::default());
            let turn = Turn { entry, progress: &progress, control: &control };
            let show = |progress| board.show(index, progress);
            let result = watched(turn.take(ready, &*callbacks), seen, show).await;
            board.end(index, &result);
            (index, result)
        });
    }
    let collect = async {
        let mut results: Vec<Option<ToolResult>> = vec![None; count];
        while let Some(ended) = going.join_next().await {
            match ended {
                Ok((index, result)) => results[index] = Some(result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        results.into_iter().flatten().collect()
    };
    let results = tokio::select! {
        results = collect => results,
        () = board.forward(&call.updates) => unreachable!("it forwards until the end"),
    };
    board.send(&call.updates);
    side_by_side(&id, results, limits)
}
