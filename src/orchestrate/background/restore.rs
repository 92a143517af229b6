//! Goes on when the database was removed, or had to be set aside, while this process had it open.
//!
//! Another one is begun by then. Each process stores in it what it knows: its live runs, the ended ones that its
//! conversations show, and the results that wait there.

use std::sync::Arc;

use super::service::BackgroundService;
use crate::run::RunRecord;

const REPLACED: &str = "the list of background runs was removed or damaged while pi was running; another one was begun with \
                        what this pi still knows of them";

/// Stores what this process knows if the database was replaced since the last call, and says so once.
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
        // What was last shown may be newer, but lacks the long texts.
        let shown = view.runs().into_iter().filter(|run| !run.is_live() && !run.is_foreground);
        for run in &view.ended().into_iter().chain(shown).collect::<Vec<RunRecord>>() {
            service.repository.put_missing(run);
        }
        for delivery in view.outbox.waiting() {
            service.repository.put_delivery(&delivery);
        }
    }
}
