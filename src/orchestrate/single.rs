//! One agent, one task.

use super::admission::Admission;
use super::call::{Call, update_of};
use super::call_order::CallOrder;
use crate::run::{AdmittedRun, Control, HostCallbacks, Progress, RunSpec, ToolResult, prepare};

/// Runs one agent on one task as soon as it is admitted. Whatever a user or a child can cause ends in a result.
pub async fn single(spec: RunSpec, call: Call) -> ToolResult {
    let Call { id, callbacks, control, updates, host_id, order } = call;
    let ready = match prepare(spec, id.clone(), &*callbacks, &control.cancel).await {
        Ok(ready) => ready,
        Err(result) => return result,
    };
    let admission = Admission { host_id: host_id.as_deref(), group: None, order: &order };
    let show = |progress| drop(updates.send_replace(Some(update_of(&id.get(), progress))));
    admission.run(ready, &*callbacks, &control, show).await
}

/// Runs what is checked already and has no child booted for it, as soon as it is admitted.
pub(super) async fn run_when_admitted(
    ready: AdmittedRun,
    callbacks: &dyn HostCallbacks,
    control: &Control,
    order: &CallOrder,
    show: impl FnMut(Progress),
) -> ToolResult {
    Admission { host_id: None, group: None, order }.run(ready, callbacks, control, show).await
}
