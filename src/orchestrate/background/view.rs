//! A conversation that is open, and what it is told.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::select;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::announcement::{Announcement, message};
use super::desk::{Desk, Pending};
use super::engine::Background;
use super::event::{Event, Heard, Listener, Message, Shown, brief};
use super::keeper::with_snapshots;
use super::live::Reason;
use super::record::BackgroundRun;
use crate::process::Cancel;
use crate::run::{HostContext, blocking, load_config};
use crate::store::Delivery;

/// The least time between two events.
const INTERVAL: Duration = Duration::from_millis(200);
/// How long a result waits for others, while runs of its conversation go on.
const TOGETHER: Duration = Duration::from_secs(2);
/// Results that one message tells of; more make the next one.
const MAX_TOGETHER: usize = 256;
/// How often in a row a listener may fail before it is taken for broken.
const MAX_FAILURES: u32 = 5;
/// How long a pi that is about to end waits for what it has ended itself.
const LEAVING: Duration = Duration::from_secs(30);

/// Where a conversation is, and what is around it.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its directory.
    pub cwd: PathBuf,
    /// Everything around it.
    pub context: Arc<HostContext>,
    /// What the runs that are continued from it end with.
    pub ends_with: Cancel,
}

/// What a conversation knows of its deliveries when it is opened.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    /// Those that stand in it.
    pub delivered: Vec<String>,
    /// Those that are on their way into it, and will stand in it.
    pub in_flight: Vec<String>,
}

/// A conversation that is open.
pub struct View {
    session: String,
    pub(super) place: Place,
    pub(super) desk: Desk,
    /// The runs as they were told last.
    known: Mutex<Vec<BackgroundRun>>,
    /// The runs of the list that was shown last.
    listed: Mutex<Vec<String>>,
    has_live: AtomicBool,
    has_kept: AtomicBool,
    /// Such runs that were begun here and are not known to be over: a pi that would end waits for them.
    handed_over: Mutex<HashSet<String>>,
    /// What is kept has to be read again.
    is_stale: AtomicBool,
    /// Goes up when something was told, and when the view is closed.
    told: watch::Sender<u64>,
}

impl Background {
    /// Opens a conversation. What stands in it already is delivered; what is on its way to it (`in_flight`) is not told
    /// again. A view of the same conversation that is open here is replaced.
    pub async fn open(
        self: &Arc<Self>,
        session: String,
        place: Place,
        Arrived { delivered, in_flight }: Arrived,
        listener: impl Listener,
    ) -> Arc<View> {
        let view = Arc::new(View {
            session: session.clone(),
            place,
            desk: Desk::with(&in_flight),
            known: Mutex::default(),
            listed: Mutex::default(),
            has_live: AtomicBool::new(false),
            has_kept: AtomicBool::new(false),
            handed_over: Mutex::default(),
            is_stale: AtomicBool::new(true),
            told: watch::Sender::new(0),
        });
        let before = self.views().insert(session, Arc::clone(&view));
        let mut given_up = before.map(|before| before.end()).unwrap_or_default();
        given_up.retain(|id| !in_flight.contains(id));
        let engine = Arc::clone(self);
        let told = blocking(move || {
            let told = if delivered.is_empty() { Vec::new() } else { engine.book.delivered(&delivered).0 };
            engine.book.release(&given_up);
            engine.take_over_orphans();
            told
        })
        .await;
        view.desk.expect();
        tokio::spawn(Arc::clone(self).serve(Arc::clone(&view), listener));
        // Whoever was to see to them once they were told of did not live to do it.
        for run in told {
            self.told(&view, run).await;
        }
        self.watch_others();
        view
    }

    /// Closes a conversation: what it was not told waits until it is opened again. Its runs go on.
    pub async fn close_view(&self, view: &Arc<View>) {
        self.views().retain(|_, open| !Arc::ptr_eq(open, view));
        let (book, left) = (Arc::clone(&self.book), view.end());
        blocking(move || book.release(&left)).await;
    }

    /// Notes that these stand in the conversation, for good. `false`: that could not be kept yet, and they would be told again
    /// after a restart.
    pub async fn delivered(self: &Arc<Self>, view: &View, ids: Vec<String>) -> bool {
        view.desk.arrived(&ids);
        let book = Arc::clone(&self.book);
        let (told, is_kept) = blocking(move || book.delivered(&ids)).await;
        for run in told {
            self.told(view, run).await;
        }
        is_kept
    }

    /// Waits until no run of the conversation is live and what it is to be told was told: for a pi that is about to end. Runs
    /// that take longer are ended, but for those that go on without it.
    pub async fn settled(&self, view: &View, place: &Place, patience: Option<Duration>) {
        let patience = if patience.is_some() {
            patience
        } else {
            let Place { cwd, context, .. } = place.clone();
            let loaded = blocking(move || load_config(&cwd, &context)).await;
            loaded.map(|loaded| loaded.config).unwrap_or_default().background.headless_wait
        };
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        let (mut news, mut told) = (self.news(), view.told.subscribe());
        loop {
            let is_overdue = deadline.is_some_and(|deadline| deadline <= Instant::now());
            let live = self.live_of(Some(&view.session));
            if is_overdue {
                for live in &live {
                    live.end(Reason::Waited(patience.unwrap_or_default()));
                }
            }
            // In this order: what is over there is pending before it is not waited for any more.
            let is_waiting = !view.handed_over().is_empty();
            let is_settled = live.is_empty() && view.desk.pending().is_none();
            if view.desk.is_closed() || (is_settled && (is_overdue || !is_waiting)) {
                return;
            }
            let next = match deadline {
                Some(deadline) if is_overdue => Some(deadline + LEAVING),
                deadline => deadline,
            };
            select! {
                biased;
                changed = news.changed() => if changed.is_err() { return },
                changed = told.changed() => if changed.is_err() { return },
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => if is_overdue { return },
            }
        }
    }

    /// Tells the open view of a session that there is more to read, and perhaps to deliver.
    pub(super) fn deliver(&self, session: &str, delivery: Option<Delivery>) -> Option<Delivery> {
        let view = self.views().get(session).cloned();
        let Some(view) = view else { return delivery };
        view.is_stale.store(true, Ordering::Relaxed);
        let delivery = delivery?;
        (!view.desk.take_in(delivery.clone())).then_some(delivery)
    }

    /// Whether a conversation is open here.
    pub(super) fn is_open(&self, session: &str) -> bool {
        self.views().contains_key(session)
    }

    /// Has every open view read anew what is kept.
    pub(super) fn look_again(&self, may_deliver: bool) {
        for view in self.views().values() {
            view.is_stale.store(true, Ordering::Relaxed);
            if may_deliver {
                view.desk.expect();
            }
        }
        self.tell_news();
    }

    pub(super) fn views(&self) -> MutexGuard<'_, HashMap<String, Arc<View>>> {
        self.views.lock()
    }

    /// Tells a view what happens, for as long as it is open.
    async fn serve(self: Arc<Self>, view: Arc<View>, mut listener: impl Listener) {
        let mut news = self.news();
        let (mut shown, mut kept, mut failures) = (Shown::default(), Vec::new(), 0);
        while !view.desk.is_closed() {
            self.read(&view, &mut kept).await;
            let pending = view.desk.pending();
            let (message, told) = self.message(&view, pending).await;
            let mut event = shown.changes(self.brief_runs(&kept, &view));
            if !event.runs.is_empty() {
                view.note_known(&event.runs);
            }
            // After the message: what is wrong with what it tells is said together with it.
            event.notices = self.book.take_notices();
            event.message = message;
            if view.desk.is_closed() {
                // What was handed out for it was given back with that.
                return;
            }
            let heard = if event == Event::default() {
                Heard::Yes
            } else {
                select! {
                    biased;
                    // A listener may take its time, and need not be waited for any more.
                    () = view.closed() => return,
                    heard = listener.tell(event) => heard,
                }
            };
            failures = if heard == Heard::No { failures + 1 } else { 0 };
            if heard == Heard::Gone || failures > MAX_FAILURES {
                return self.close_view(&view).await;
            }
            // Only now: whoever waits until everything was told waits for this.
            match told {
                Told::Some(deliveries) | Told::All(deliveries) if heard == Heard::No => {
                    // Where it is closed they were given back with that.
                    let _ = view.desk.put_back(deliveries);
                }
                Told::Later | Told::Some(_) => {}
                Told::All(_) => pending.into_iter().for_each(|pending| view.desk.told(pending)),
            }
            view.told.send_modify(|count| *count += 1);
            select! {
                biased;
                () = view.closed() => return,
                () = sleep(INTERVAL * (1 + failures)) => {}
            }
            let deadline = view.desk.pending().map(|pending| pending.since + TOGETHER);
            select! {
                biased;
                () = view.closed() => return,
                changed = news.changed() => if changed.is_err() { return },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {}
            }
        }
    }

    fn brief_runs(&self, kept: &[BackgroundRun], view: &View) -> Vec<BackgroundRun> {
        let runs = self.overlaid(kept.to_vec(), Some(&view.session));
        let runs: Vec<_> = runs.into_iter().map(brief).collect();
        view.has_live.store(runs.iter().any(BackgroundRun::is_live), Ordering::Relaxed);
        runs
    }

    /// Reads what is kept of the runs, when that has changed.
    async fn read(&self, view: &View, kept: &mut Vec<BackgroundRun>) {
        if view.is_stale.swap(false, Ordering::Relaxed) {
            let (book, session) = (Arc::clone(&self.book), view.session.clone());
            let agent_dir = self.agent_dir.clone();
            *kept = blocking(move || {
                let runs = with_snapshots(&agent_dir, book.runs(Some(&session)));
                runs.into_iter().map(brief).collect()
            })
            .await;
            let has_kept = kept.iter().any(|run| run.is_live() && run.is_kept);
            view.has_kept.store(has_kept, Ordering::Relaxed);
            for run in kept.iter().filter(|run| !run.is_live()) {
                view.note_over(&run.key);
            }
        }
    }

    /// The message that is due, and what it tells of.
    async fn message(&self, view: &View, pending: Option<Pending>) -> (Option<Message>, Told) {
        let Some(Pending { since, .. }) = pending else { return (None, Told::Later) };
        let others_run = view.has_kept() || !self.live_of(Some(&view.session)).is_empty();
        if others_run && since.elapsed() < TOGETHER {
            return (None, Told::Later);
        }
        let (book, session) = (Arc::clone(&self.book), view.session.clone());
        let (mut more, is_all) = blocking(move || book.offer(&session)).await;
        let Some(deliveries) = view.desk.hand_out(&mut more, MAX_TOGETHER) else {
            let book = Arc::clone(&self.book);
            let left: Vec<_> = more.into_iter().map(|delivery| delivery.id).collect();
            blocking(move || book.release(&left)).await;
            return (None, Told::Later);
        };
        if deliveries.is_empty() {
            return (None, if is_all { Told::All(deliveries) } else { Told::Later });
        }
        let book = Arc::clone(&self.book);
        let (deliveries, runs) = blocking(move || {
            let runs: Vec<_> = deliveries.iter().filter_map(|delivery| book.run(&delivery.key)).collect();
            (deliveries, runs)
        })
        .await;
        let announcements: Vec<_> = deliveries.iter().map(Announcement::read).collect();
        let message = Message {
            delivery_ids: deliveries.iter().map(|delivery| delivery.id.clone()).collect(),
            runs,
            text: message(&announcements),
            triggers_turn: announcements.iter().any(|announcement| announcement.triggers_turn),
        };
        // Where nobody can say whether there is more, it is asked again; what is here is told meanwhile.
        (Some(message), if is_all { Told::All(deliveries) } else { Told::Some(deliveries) })
    }
}

/// What an event told.
enum Told {
    /// Nothing: it is not time, or not known.
    Later,
    /// These, and there may be more.
    Some(Vec<Delivery>),
    /// All that there was, which were these.
    All(Vec<Delivery>),
}

impl View {
    /// The id of the conversation.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The runs as they were told last, newest first.
    pub(super) fn known(&self) -> Vec<BackgroundRun> {
        self.known.lock().clone()
    }

    fn note_known(&self, runs: &[BackgroundRun]) {
        runs.clone_into(&mut self.known.lock());
    }

    pub(super) fn note_listed(&self, keys: impl Iterator<Item = String>) {
        *self.listed.lock() = keys.collect();
    }

    pub(super) fn listed(&self) -> Vec<String> {
        self.listed.lock().clone()
    }

    /// Whether a run of it goes on, wherever.
    pub(super) fn has_live(&self) -> bool {
        self.has_live.load(Ordering::Relaxed)
    }

    /// Notes that a run of it was handed over to a keeper.
    pub(super) fn note_kept(&self, key: String) {
        self.has_kept.store(true, Ordering::Relaxed);
        self.handed_over().insert(key);
    }

    /// Notes that such a run is over.
    fn note_over(&self, key: &str) {
        let mut handed_over = self.handed_over();
        if handed_over.contains(key) {
            self.desk.expect();
            handed_over.remove(key);
        }
    }

    fn handed_over(&self) -> MutexGuard<'_, HashSet<String>> {
        self.handed_over.lock()
    }

    /// Whether a run of it goes on in a keeper, which shows how far it has come in a file.
    pub(super) fn has_kept(&self) -> bool {
        self.has_kept.load(Ordering::Relaxed)
    }

    /// Resolves once it is closed.
    async fn closed(&self) {
        let mut end = self.told.subscribe();
        while !self.desk.is_closed() && end.changed().await.is_ok() {}
    }

    /// Ends it, and returns the deliveries that are not known to have arrived.
    fn end(&self) -> Vec<String> {
        let left = self.desk.close();
        self.told.send_modify(|count| *count += 1);
        left
    }
}
