//! One agent, one task.

use std::slice;

use tokio::sync::watch;

use super::call::{Call, update_of, watched};
use super::turn::{Entrance, Turn};
use crate::run::{Caller, Progress, RunSpec, ToolResult, prepare};

/// Runs one agent on one task, when its turn has come. Whatever a user or a child can cause ends in a result.
pub async fn single(spec: RunSpec, call: Call<impl Caller>) -> ToolResult {
    let Call { id, caller, control, updates, host_id, arrival } = call;
    let ready = match prepare(spec, id.clone(), &*caller, &control.cancel).await {
        Ok(ready) => ready,
        Err(result) => return result,
    };
    let entrance = Entrance { host_id: host_id.as_deref(), group: None, arrival: &arrival };
    let entries = entrance.enter(slice::from_ref(&ready), &control.cancel).await;
    let entry = match entries.map(|mut entries| entries.remove(0)) {
        Ok(entry) => entry,
        Err(reason) => return ready.aborted(&reason),
    };
    let (progress, seen) = watch::channel(Progress::default());
    let turn = Turn { entry, progress: &progress, control: &control };
    let show = |progress| drop(updates.send_replace(Some(update_of(&id.get(), progress))));
    watched(turn.take(ready, &*caller), seen, show).await
}
