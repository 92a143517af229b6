//! The way of a delivery: it is queued here or claimed from the store, handed out through the outbox of its conversation, and marked
//! once the conversation contains it. Closing releases every delivery that is not known to be there.
//!
//! Each delivery is in the store, so that another process can deliver it if this one dies. The functions here keep the store and
//! the outbox in step.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::conversation::delivery_ids::{is_question, is_question_id};
use super::conversation::outbox::Awaited;
use super::conversation::view::ConversationView;
use super::live_run::LiveRun;
use super::service::{BackgroundService, services};
use crate::present::{RunQuestion, exit_message};
use crate::run::{RunRecord, blocking};
use store::{Delivery, now_ms};

/// The maximum time that an ending host spends on finding the runs that continue without it. It reads a few rows,
/// unless the store is busy.
const FIND_TIMEOUT: Duration = Duration::from_secs(1);

/// Opens a view, and takes the deliveries of an older view of the same conversation, except those that were `sent` and will arrive.
pub(super) async fn open(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    delivered: Vec<String>,
    sent: &[String],
) {
    let mut given_up = service.conversations.open(view);
    given_up.retain(|id| !sent.contains(id));
    let opened = Arc::clone(view);
    let prepare = service.blocking(move |service| {
        // A process that died may have delivered these without archiving their runs.
        mark(service, &opened, &delivered);
        service.store.release(&given_up);
    });
    prepare.await;
}

/// Closes a conversation. Its runs continue; undelivered results wait until it is opened again.
pub async fn close_conversation(service: &Arc<BackgroundService>, view: &Arc<ConversationView>) {
    let undelivered = Undelivered(service.conversations.close(view));
    tracing::info!(
        target: "delivery", session = view.session(), undelivered = undelivered.0.len(),
        "the conversation is closed"
    );
    undelivered.release(service).await;
}

/// The deliveries of closed conversations that are not known to have arrived. This process keeps them until they are
/// released.
#[must_use]
struct Undelivered(Vec<String>);

impl Undelivered {
    /// Lets another process deliver them.
    async fn release(self, service: &Arc<BackgroundService>) {
        service.blocking(move |service| service.store.release(&self.0)).await;
    }
}

/// Ends all background runs of this process because the process is exiting, and waits until their ends are stored.
/// Returns a message for the user about these runs and about those that continue without this process.
///
/// Its conversations are closed first: a result is not for a session that is being left, but waits for its next opening.
pub async fn close_all() -> Option<String> {
    let services = services();
    let undelivered: Vec<_> =
        services.iter().map(|service| Undelivered(service.conversations.close_all())).collect();
    let ended: Vec<_> =
        services.iter().flat_map(|service| service.end_all()).map(|live| live.record()).collect();
    for (service, undelivered) in services.iter().zip(undelivered) {
        service.close().await;
        undelivered.release(service).await;
    }
    let mut continuing = Vec::new();
    for service in &services {
        continuing.extend(timeout(FIND_TIMEOUT, service.continuing()).await.unwrap_or_default());
    }
    let all = [ended, continuing];
    blocking(move || {
        let [ended, continuing] = all;
        let is_saved = ended.iter().chain(&continuing).any(RunRecord::session_is_saved);
        exit_message(&ended, &continuing, is_saved)
    })
    .await
}

/// Stores the waiting deliveries of a conversation again, because the store was lost. Blocks.
pub(super) fn store_again(service: &BackgroundService, view: &ConversationView) {
    for delivery in view.outbox.waiting() {
        service.store.put_delivery(&delivery);
    }
}

/// Marks deliveries as permanently in the conversation. `false`: the mark could not be stored yet, and they are offered
/// again after a restart.
pub async fn mark_delivered(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    ids: Vec<String>,
) -> bool {
    view.outbox.mark_delivered(&ids);
    let view = Arc::clone(view);
    service.blocking(move |service| mark(service, &view, &ids)).await
}

/// Hands a delivery that this process has claimed to its conversation, which reads the store again. If it was closed in the
/// meantime, its next view gets the delivery.
pub(super) async fn queue(service: &Arc<BackgroundService>, session: &str, delivery: Option<Delivery>) {
    if let Some(undelivered) = service.conversations.queue_delivery(session, delivery) {
        Undelivered(vec![undelivered.id]).release(service).await;
    }
}

/// Claims what the store has for a conversation, and hands out at most `limit` deliveries. Also returns whether the store has said
/// which there are. `None`: the conversation is closed.
pub(super) async fn claim(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    limit: usize,
) -> Option<(Vec<Delivery>, bool)> {
    let asking = Arc::clone(view);
    let claim = service.blocking(move |service| {
        let (mut claimed, is_all) = service.store.claim_deliveries(asking.session());
        // The pi that delivered them died before it could confirm that.
        let contained = asking.contained(&claimed);
        claimed.retain(|delivery| !contained.contains(&delivery.id));
        mark(service, &asking, &contained);
        let stale: Vec<_> =
            claimed.extract_if(.., |delivery| is_question(delivery) && is_stale(service, delivery)).collect();
        mark(service, &asking, &stale.into_iter().map(|question| question.id).collect::<Vec<_>>());
        (claimed, is_all)
    });
    let (mut claimed, is_all) = claim.await;
    view.outbox.note_answer(is_all);
    if let Some(deliveries) = view.outbox.hand_out(&mut claimed, limit) {
        return Some((deliveries, is_all));
    }
    Undelivered(claimed.into_iter().map(|delivery| delivery.id).collect()).release(service).await;
    None
}

/// Takes back deliveries that the listener has rejected, to hand them out again.
pub(super) fn take_back(view: &ConversationView, deliveries: Vec<Delivery>) {
    if !deliveries.is_empty() {
        view.outbox.put_back(deliveries);
    }
}

/// Keeps the end of a run from being announced, for a caller that waits for it. Dropping this queues the end again.
pub(super) struct Reservation {
    view: Arc<ConversationView>,
    number: u64,
}

impl Reservation {
    /// Reserves the delivery with the id `end`.
    pub(super) fn new(view: &Arc<ConversationView>, end: String) -> Self {
        Self { view: Arc::clone(view), number: view.outbox.reserve(end) }
    }

    /// Returns the delivery of the end, if it has come. It counts as delivered once the conversation contains it.
    pub(super) fn take(self) -> Awaited {
        self.view.outbox.take_reserved(self.number)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.view.outbox.give_back(self.number);
    }
}

/// Withdraws a question of a run: it counts as delivered, wherever it is.
pub(super) async fn withdraw(service: &Arc<BackgroundService>, live: &LiveRun, id: String) {
    // The question may still be on its way into the store.
    let writing = Arc::clone(&live.writing).lock_owned().await;
    if let Some(view) = service.conversations.get(&live.record().session) {
        view.outbox.mark_delivered(std::slice::from_ref(&id));
    }
    let withdraw = service.blocking(move |service| {
        service.store.mark_delivered(&[id]);
        drop(writing);
    });
    withdraw.await;
    service.registry.notify();
}

/// Marks deliveries and decides what happens to the files of their runs. Returns whether the marks were stored. Blocks.
fn mark(service: &BackgroundService, view: &ConversationView, ids: &[String]) -> bool {
    if ids.is_empty() {
        return true;
    }
    // A question says nothing about whether the end of its run was delivered.
    tracing::info!(
        target: "delivery", session = view.session(), ?ids,
        "the conversation contains the results"
    );
    let (questions, ends): (Vec<_>, Vec<_>) = ids.iter().cloned().partition(|id| is_question_id(id));
    let (_, has_stored_questions) = service.store.mark_delivered(&questions);
    let (runs, has_stored_ends) = service.store.mark_delivered(&ends);
    for run in runs {
        service.store.after_delivery(run, &view.scope.context);
    }
    service.registry.notify();
    has_stored_ends && has_stored_questions
}

/// Returns true if no one waits for an answer any more: the time is up, the run has ended, or this process hosts the
/// run and has closed the question.
fn is_stale(service: &BackgroundService, delivery: &Delivery) -> bool {
    let has_ended = RunQuestion::read(delivery).is_none_or(|question| question.ends_ms <= now_ms());
    has_ended
        || match service.registry.get(&delivery.key) {
            Some(live) => !live.question.is(&delivery.id),
            None => service.store.run(&delivery.key).is_none_or(|run| !run.is_live()),
        }
}
