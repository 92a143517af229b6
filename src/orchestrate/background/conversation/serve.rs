//! Serves the listener of a conversation from its opening to its end: sends it the changes of the runs, with messages of the
//! deliveries that `deliver` hands out, and waits for the end of all runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{Instrument as _, Span};

use super::delivery_ids::is_question;
use super::event::{Ack, BackgroundEvent, DeliveryMessage, EventThrottle, Listener, Restart, RunDiff, brief};
use super::outbox::Pending;
use super::project_workflows::{running_workflows, shown_workflows};
use super::view::{ConversationScope, ConversationView};
use crate::archive::path_before_archiving;
use crate::orchestrate::background::deliver::{claim, close_conversation, open, take_back};
use crate::orchestrate::background::ending::adopt_orphans;
use crate::orchestrate::background::live_run::EndReason;
use crate::orchestrate::background::service::BackgroundService;
use crate::orchestrate::background::spawn::spawnable;
use crate::orchestrate::background::watch::{restore_if_replaced, watch_others};
use crate::present::SpawnableAgents;
use crate::present::{DeliveryBody, RunQuestion, message, questions_text};
use crate::run::{HostCapabilities, RunId, RunRecord, blocking, load_config, remove_superseded, spawn_task};
use agents::config::OnRestart;
use store::{Delivery, now_ms};

/// Least time between two events.
const INTERVAL: Duration = Duration::from_millis(200);
/// The time between two looks at a running workflow.
const WORKFLOW_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum time that a result waits for others while more runs of its conversation are live.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// The maximum number of results in one message, each in full within its share. The next messages contain the rest.
const MAX_BATCH: usize = 16;
/// The maximum time that a pi about to exit waits for a store that cannot be read.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest time between two events after failures of the listener.
const MAX_INTERVAL: Duration = Duration::from_secs(10);
/// A pi about to exit does not wait for a listener that has failed this often in a row.
const MAX_FAILURES: u32 = 6;
/// The maximum time that a pi about to exit waits for runs that it has ended itself.
const EXIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The deliveries that a conversation knows of when it is opened.
#[derive(Clone, Debug, Default)]
pub struct KnownDeliveries {
    /// Ids of the deliveries that it contains.
    pub delivered: Vec<String>,
    /// Ids of the deliveries that are on their way into it and will arrive.
    pub sent: Vec<String>,
}

/// Opens a conversation. Deliveries that it already knows of are not delivered again. Closes an older view of the same
/// conversation in this process.
pub async fn open_conversation(
    service: &Arc<BackgroundService>,
    session: String,
    scope: ConversationScope,
    KnownDeliveries { delivered, sent }: KnownDeliveries,
    listener: impl Listener,
) -> Arc<ConversationView> {
    let view = Arc::new(ConversationView::new(session, scope, &delivered, &sent));
    open(service, &view, delivered, &sent).await;
    adopt_orphans(service).await;
    view.outbox.expect();
    spawn_task(learn_agents(Arc::clone(service), Arc::clone(&view)));
    spawn_task(serve(Arc::clone(service), Arc::clone(&view), listener));
    watch_others(service);
    view
}

async fn learn_agents(service: Arc<BackgroundService>, view: Arc<ConversationView>) {
    let ConversationScope { cwd, context, .. } = view.scope.clone();
    let capabilities = HostCapabilities::probe(&context).await;
    let SpawnableAgents { agents, .. } =
        service.blocking(move |_| spawnable(&cwd, &context, &capabilities)).await;
    view.set_agents(agents.into_iter().map(|agent| (agent.id, agent.description)).collect());
}

/// Waits until no run of the conversation is live and its listener has received every end. Runs still live after `limit`
/// (default: `background.headlessWaitMs`) are ended, except detached ones. Returns false if the listener has not received every
/// end: the conversation was closed, or the listener still fails after the limit.
pub async fn until_settled(
    service: &BackgroundService,
    view: &ConversationView,
    limit: Option<Duration>,
) -> bool {
    until(service, view, limit, false).await == Wait::Settled
}

/// Does the same for a pi about to exit, which does not wait for a listener that keeps failing. Also ends once a run has asked
/// the conversation since the last time that this ended so. Returns true in that case.
pub async fn until_settled_or_asked(
    service: &BackgroundService,
    view: &ConversationView,
    limit: Option<Duration>,
) -> bool {
    until(service, view, limit, true).await == Wait::Asked
}

/// The end of a wait for a conversation.
#[derive(PartialEq, Eq)]
enum Wait {
    Settled,
    Asked,
    /// The listener has not received every end.
    Unsettled,
}

async fn until(
    service: &BackgroundService,
    view: &ConversationView,
    limit: Option<Duration>,
    exits: bool,
) -> Wait {
    let limit = if limit.is_some() {
        limit
    } else {
        let ConversationScope { cwd, context, .. } = view.scope.clone();
        let loaded = blocking(move || load_config(&cwd, &context)).await;
        loaded.map(|loaded| loaded.config).unwrap_or_default().background.headless_wait
    };
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut runs_changed = service.registry.changes();
    let mut view_changed = view.changes();
    loop {
        if exits && view.take_asked() {
            return Wait::Asked;
        }
        let is_overdue = deadline.is_some_and(|deadline| deadline <= Instant::now());
        let live = service.registry.background(Some(view.session()));
        if is_overdue {
            for live in &live {
                live.end(EndReason::Waited(limit.unwrap_or_default()));
            }
        }
        // The order matters: an ended run with a host process must be pending before it stops being waited for.
        let is_waiting = view.waits_for_host_processes();
        if view.outbox.is_closed() {
            return Wait::Unsettled;
        }
        if live.is_empty() && (is_overdue || !is_waiting) {
            if view.outbox.is_settled(STORE_TIMEOUT) {
                return Wait::Settled;
            }
            let failures = view.failures();
            if (is_overdue && failures > 0) || (exits && failures >= MAX_FAILURES) {
                return Wait::Unsettled;
            }
        }
        let next = match deadline {
            Some(deadline) if is_overdue => Some(deadline + EXIT_TIMEOUT),
            deadline => deadline,
        };
        select! {
            biased;
            changed = runs_changed.changed() => if changed.is_err() { return Wait::Unsettled },
            changed = view_changed.changed() => if changed.is_err() { return Wait::Unsettled },
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                if is_overdue {
                    return Wait::Unsettled;
                }
            }
        }
    }
}

/// Sends events to the listener of a view while the view is open.
async fn serve(service: Arc<BackgroundService>, view: Arc<ConversationView>, mut listener: impl Listener) {
    let mut runs_changed = service.registry.changes();
    let mut diff = RunDiff::default();
    let mut throttle = EventThrottle::default();
    let mut stored = Vec::new();
    let (mut settled, mut shown_settled) = (BTreeMap::new(), BTreeMap::new());
    let mut running = Vec::new();
    let mut failures: u32 = 0;
    let mut waiting = service.waiting_notice(&view).await;
    // Completions need them before the first command.
    let _ = service.runs_of_person(&view).await;
    shown_workflows(&view).await;
    while !view.outbox.is_closed() {
        if view.take_stale() {
            stored = read_stored(&service, &view).await;
            settled = service.blocking(|service| service.store.settled()).await;
        }
        let pending = view.outbox.pending();
        let (message, batch) = next_message(&service, &view, pending).await;
        let runs = service.with_hosted(stored.clone(), Some(view.session()));
        let workflows = running_workflows(&view, &runs, &running).await;
        let mut event = diff.changes(runs.into_iter().map(brief).collect());
        event.workflows = (workflows != running).then(|| workflows.clone());
        event.run_events = throttle.select(&event, Instant::now());
        if let Some(runs) = &event.runs {
            view.set_runs(runs);
        }
        // After the message, so that a notice about its runs arrives with it.
        let notices = service.store.take_notices();
        event.notices.clone_from(&notices.notices);
        event.message = message;
        event.settled = (settled != shown_settled).then(|| settled.clone());
        event.waiting.clone_from(&waiting);
        if view.outbox.is_closed() {
            // The closing has already released the deliveries of this event.
            return;
        }
        let ack = if event == BackgroundEvent::default() {
            Ack::Accepted
        } else {
            select! {
                biased;
                // A listener may take long; a closed conversation does not wait for it.
                () = view.closed() => return,
                ack = listener.notify(event).instrument(batch.span.clone()) => ack,
            }
        };
        if ack != Ack::Accepted {
            tracing::warn!(
                target: "delivery", parent: &batch.span, session = view.session(), ?ack,
                "the conversation does not take an event"
            );
        }
        failures = if ack == Ack::Rejected { failures.saturating_add(1) } else { 0 };
        view.note_failures(failures);
        if ack == Ack::Closed {
            return close_conversation(&service, &view).await;
        }
        if ack == Ack::Accepted {
            waiting = None;
            shown_settled.clone_from(&settled);
            running = workflows;
            notices.mark_delivered();
            if batch.deliveries.iter().any(is_question) {
                view.note_asked();
            }
        }
        // Only now, because `until_settled` waits until the listener has received the deliveries.
        if ack == Ack::Rejected {
            take_back(&view, batch.deliveries);
        } else if let (true, Some(pending)) = (batch.is_all, pending) {
            view.outbox.clear_pending(pending);
        }
        view.notify();
        select! {
            biased;
            () = view.closed() => return,
            () = sleep(INTERVAL.saturating_mul(failures.saturating_add(1)).min(MAX_INTERVAL)) => {}
        }
        let result = view.outbox.pending().map(|pending| pending.since + BATCH_DELAY);
        // A script may enter a phase or end without a change of a run.
        let next_look = (!running.is_empty()).then(|| Instant::now() + WORKFLOW_INTERVAL);
        let deadline = result.into_iter().chain(throttle.next()).chain(next_look).min();
        select! {
            biased;
            () = view.closed() => return,
            changed = runs_changed.changed() => if changed.is_err() { return },
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {}
        }
    }
}

/// Reads the runs from the store.
async fn read_stored(service: &Arc<BackgroundService>, view: &ConversationView) -> Vec<RunRecord> {
    restore_if_replaced(service).await;
    let session = view.session().to_owned();
    let all = service.blocking(move |service| service.store.runs(Some(&session))).await;
    view.set_ended(all.iter().filter(|run| !run.is_live()));
    let mut runs = all;
    // The list has live runs and the newest others. A run that has ended is shown as ended before it leaves the list.
    let mut unlisted = view.runs();
    unlisted
        .retain(|run| run.is_live() && !run.is_foreground && runs.iter().all(|listed| listed.key != run.key));
    let keys: Vec<_> = unlisted.into_iter().map(|run| run.key).collect();
    if !keys.is_empty() {
        let read_runs = move |service: &BackgroundService| {
            keys.iter().filter_map(|key| service.store.run(key)).collect::<Vec<_>>()
        };
        runs.extend(service.blocking(read_runs).await);
    }
    let mut runs = service.blocking(move |service| service.store.with_changes(runs)).await;
    remove_superseded(&mut runs, &[]);
    let stored: Vec<_> = runs.into_iter().map(brief).collect();
    view.note_stored(&stored);
    stored
}

/// Returns the interrupted runs of a message that can be resumed. `None` if there are none, or if
/// `background.onRestart` is `tell`, which only delivers their ends.
async fn restart_of(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    runs: &[RunRecord],
) -> Option<Restart> {
    let mut keys: Vec<_> = runs.iter().filter(|run| run.can_restart()).map(|run| run.key.clone()).collect();
    // A message may have several ends of one run.
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        return None;
    }
    let ConversationScope { cwd, context, .. } = view.scope.clone();
    let loaded = service.blocking(move |_| load_config(&cwd, &context)).await;
    let mode = loaded.ok()?.config.background.on_restart;
    (mode != OnRestart::Notify).then_some(Restart { mode, keys })
}

/// Names a transcript that was archived between the end of its run and the delivery by its current path.
fn with_current_path(mut body: DeliveryBody, run: Option<&RunRecord>) -> DeliveryBody {
    let current = run.and_then(|run| run.transcript.as_deref());
    if let Some((before, current)) = current.and_then(|path| Some((path_before_archiving(path)?, path))) {
        for text in [Some(&mut body.stats), body.result.as_mut()].into_iter().flatten() {
            *text = text.replace(&*before.to_string_lossy(), &current.to_string_lossy());
        }
    }
    body
}

/// The deliveries of one message.
struct Batch {
    deliveries: Vec<Delivery>,
    /// The events of its delivery carry the ids of its deliveries and runs.
    span: Span,
    /// True if it contained all deliveries when it was made.
    is_all: bool,
}

impl Batch {
    fn new(deliveries: Vec<Delivery>, is_all: bool) -> Self {
        let span = if deliveries.is_empty() {
            Span::none()
        } else {
            let runs: Vec<_> = deliveries.iter().map(|delivery| RunId::of_key(&delivery.key)).collect();
            let runs = runs.iter().map(|id| &**id).collect::<Vec<_>>();
            let deliveries = deliveries.iter().map(|delivery| &*delivery.id).collect::<Vec<_>>();
            tracing::info_span!(target: "delivery", "delivery", ?runs, ?deliveries)
        };
        Self { deliveries, span, is_all }
    }

    fn none() -> Self {
        Self::new(Vec::new(), false)
    }
}

/// The message that is due, if any, with its deliveries.
async fn next_message(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    pending: Option<Pending>,
) -> (Option<DeliveryMessage>, Batch) {
    let Some(Pending { since, .. }) = pending else { return (None, Batch::none()) };
    let others_run = view.has_detached() || !service.registry.background(Some(view.session())).is_empty();
    if others_run && since.elapsed() < BATCH_DELAY && !view.outbox.has_question() {
        tracing::debug!(
            target: "delivery", reason = "other runs may end within two seconds",
            "results wait for each other"
        );
        return (None, Batch::none());
    }
    let Some((deliveries, is_all)) = claim(service, view, MAX_BATCH).await else {
        return (None, Batch::none());
    };
    // If the store cannot say whether there are more, it is asked again. This batch is delivered in the meantime.
    let batch = Batch::new(deliveries, is_all);
    if batch.deliveries.is_empty() {
        return (None, batch);
    }
    let span = batch.span.clone();
    let message = message_of(service, view, &batch.deliveries).instrument(span).await;
    (Some(message), batch)
}

/// The message with these deliveries.
async fn message_of(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    deliveries: &[Delivery],
) -> DeliveryMessage {
    let delivery_ids = deliveries.iter().map(|delivery| delivery.id.clone()).collect();
    tracing::info!(
        target: "delivery", session = view.session(), ids = ?delivery_ids,
        "results are handed to the conversation"
    );
    // Questions come alone.
    let questions: Vec<_> =
        deliveries.iter().filter(|delivery| is_question(delivery)).filter_map(RunQuestion::read).collect();
    if !questions.is_empty() {
        let text = questions_text(&questions, now_ms());
        let triggers_turn = questions.iter().any(|question| question.triggers_turn);
        return DeliveryMessage::new(delivery_ids, Vec::new(), questions, text, triggers_turn);
    }
    let keys: Vec<_> = deliveries.iter().map(|delivery| delivery.key.clone()).collect();
    let runs = service
        .blocking(move |service| keys.iter().filter_map(|key| service.store.run(key)).collect::<Vec<_>>());
    let home = view.scope.context.home.as_deref();
    let runs = runs.await;
    let body = |delivery: &Delivery| {
        let run = runs.iter().find(|run| run.key == delivery.key);
        with_current_path(DeliveryBody::read(delivery), run).near_home(home)
    };
    let bodies: Vec<_> = deliveries.iter().map(body).collect();
    let restart = restart_of(service, view, &runs).await;
    let triggers_turn = bodies.iter().any(|body| body.triggers_turn);
    let message = DeliveryMessage::new(delivery_ids, runs, questions, message(&bodies), triggers_turn);
    DeliveryMessage { restart, ..message }
}
