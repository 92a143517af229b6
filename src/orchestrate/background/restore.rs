//! Continues after the database was removed, or was set aside because of damage, while this process had it open.
//!
//! A new database exists by then. Each process stores in it the data that it knows: its live runs, the ended runs that
//! its conversations show, and the results that wait for them.

use std::sync::Arc;

use super::service::BackgroundService;
use crate::run::RunRecord;

const REPLACED: &str = "the list of background runs was removed or damaged while pi was running; a new one \
                        was started with the runs that this pi still knows";

/// If the database was replaced since the last call, stores the runs and results that this process knows, and notifies
/// the user.
pub(super) async fn restore_if_replaced(service: &Arc<BackgroundService>) {
    let check = |service: &BackgroundService| {
        let is_replaced = service.repository.was_replaced();
        if is_replaced {
            restore_ended(service);
            service.repository.notify_user(REPLACED.to_owned());
        }
        is_replaced
    };
    if service.blocking(check).await {
        for live in service.registry.of_session(None) {
            service.store(&live).await;
        }
        service.invalidate(false);
    }
}

fn restore_ended(service: &BackgroundService) {
    for view in service.conversations.all() {
        // The last shown state may be newer, but lacks the long texts.
        let shown = view.runs().into_iter().filter(|run| !run.is_live() && !run.is_foreground);
        for run in &view.ended().into_iter().chain(shown).collect::<Vec<RunRecord>>() {
            service.repository.put_missing(run);
        }
        for delivery in view.outbox.waiting() {
            service.repository.put_delivery(&delivery);
        }
    }
}
