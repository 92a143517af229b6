//! The requests of runs to the queue.

use super::queue::{Group, Request, UserCap};
use super::writers::writes;
use crate::run::{AdmittedRun, off_thread, store_of};

/// Returns the request of a run with its limits. Waits at most for the disk.
pub(super) async fn request(ready: &AdmittedRun, group: Option<(Group, usize)>) -> Request {
    let limits = ready.resolved.concurrency();
    let agent_dir = ready.spec.context.agent_dir.clone();
    if let Some((launcher, max_concurrent)) = ready.launcher() {
        return Request {
            provider: ready.provider().map(str::to_owned),
            max_concurrent,
            lane: Some(launcher.to_owned()),
            early_limit: 0,
            per_user: None,
            group,
            writes: None,
        };
    }
    let store = off_thread(move || store_of(&agent_dir)).await.ok().flatten();
    Request {
        provider: ready.provider().map(str::to_owned),
        max_concurrent: limits.process,
        lane: None,
        early_limit: limits.call,
        per_user: store.map(|store| UserCap { store, cap: limits.user }),
        group,
        writes: writes(ready),
    }
}
