//! Continues after the database was removed, or was set aside because of damage, while this process had it open.
//!
//! By then there is a new database. Each process stores its knowledge in it: its live runs, the ended runs that its conversations
//! show, and their waiting results.

use std::sync::Arc;

use super::service::BackgroundService;
use crate::run::RunRecord;

const REPLACED: &str = "the list of background runs was removed or damaged while pi was running; a new one \
                        was started with the runs that this pi still knows";

/// Stores this process's knowledge if the database was replaced since the last call, and reports that once.
pub(super) async fn restore_if_replaced(service: &Arc<BackgroundService>) {
    let ask = |service: &BackgroundService| {
        let is_replaced = service.repository.was_replaced();
        if is_replaced {
            restore_ended(service);
            service.repository.notify_user(REPLACED.to_owned());
        }
        is_replaced
    };
    if service.blocking(ask).await {
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
