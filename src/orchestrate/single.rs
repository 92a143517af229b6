//! One agent, one task.

use std::slice;

use tokio::sync::watch;

use super::call::{Call, update_of, watched};
use super::call_order::CallOrder;
use super::turn::{Entrance, Turn};
use crate::run::{Control, HostCallbacks, Progress, Ready, RunSpec, ToolResult, prepare};

/// Runs one agent on one task, when its turn has come. Whatever a user or a child can cause ends in a result.
pub async fn single(spec: RunSpec, call: Call<impl HostCallbacks>) -> ToolResult {
    let Call { id, callbacks, control, updates, host_id, order } = call;
    let ready = match prepare(spec, id.clone(), &*callbacks, &control.cancel).await {
        Ok(ready) => ready,
        Err(result) => return result,
    };
    let entrance = Entrance { host_id: host_id.as_deref(), group: None, order: &order };
    let show = |progress| drop(updates.send_replace(Some(update_of(&id.get(), progress))));
    through_lane(ready, entrance, &*callbacks, &control, show).await
}

/// A run that nobody waits for and no child was booted for, when its turn has come.
pub(super) async fn run_when_admitted(
    ready: Ready,
    callbacks: &impl HostCallbacks,
    control: &Control,
    order: &CallOrder,
    show: impl FnMut(Progress),
) -> ToolResult {
    through_lane(ready, Entrance { host_id: None, group: None, order }, callbacks, control, show).await
}

async fn through_lane(
    ready: Ready,
    entrance: Entrance<'_>,
    callbacks: &impl HostCallbacks,
    control: &Control,
    show: impl FnMut(Progress),
) -> ToolResult {
    let entries = entrance.enter(slice::from_ref(&ready), &control.cancel).await;
    let entry = match entries.map(|mut entries| entries.remove(0)) {
        Ok(entry) => entry,
        Err(reason) => return ready.aborted(&reason),
    };
    let (progress, seen) = watch::channel(Progress::default());
    let turn = Turn { entry, progress: &progress, control };
    watched(turn.take(ready, callbacks), seen, show).await
}
