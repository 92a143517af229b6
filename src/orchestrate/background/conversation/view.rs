//! The conversations open in this process, and what each of them shows.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::delivery_ids::delivered_in_file;
use super::outbox::Outbox;
use crate::orchestrate::background::run_store::sort_newest_first;
use crate::present::ShownWorkflow;
use crate::run::{HostContext, RunRecord};
use store::Delivery;
use supervisor::Cancel;

/// The surroundings of a conversation.
#[derive(Clone, Debug)]
pub struct ConversationScope {
    /// Its working directory.
    pub cwd: PathBuf,
    /// Agent directory, environment and host.
    pub context: Arc<HostContext>,
    /// Cancelled when the host ends. Ends the runs that were resumed from this conversation.
    pub ends_with: Cancel,
}

/// An open conversation.
pub struct ConversationView {
    session: String,
    pub(crate) scope: ConversationScope,
    pub(crate) outbox: Outbox,
    /// The runs of the last event.
    runs: Mutex<Vec<RunRecord>>,
    /// The ended runs that the store had when it was last read, with all their texts, because the store may be lost.
    ended: Mutex<Vec<RunRecord>>,
    /// The runs of the project's other sessions whose work waits, as they were read last.
    others: Mutex<Vec<RunRecord>>,
    /// The project's workflows without their runs, as they were read last.
    workflows: Mutex<Vec<ShownWorkflow>>,
    /// The keys of the list shown last, to which numbers refer.
    listed: Mutex<Vec<String>>,
    /// The names and purposes of the agents there were when it was opened, to complete them.
    agents: Mutex<Vec<(String, String)>>,
    has_detached: AtomicBool,
    /// Runs handed over to a host process that are not known to have ended. A pi that is about to end waits for them.
    handed_over: Mutex<HashSet<String>>,
    /// Ids of the deliveries that the conversation contained when it was opened.
    contained: HashSet<String>,
    /// True if the store must be read again.
    is_stale: AtomicBool,
    /// True if the listener got a question that no waiting program has noticed yet.
    was_asked: AtomicBool,
    /// The failures of the listener since its last success.
    failures: AtomicU32,
    /// Changes when the listener has handled an event, and when the view is closed.
    changes: watch::Sender<u64>,
}

impl ConversationView {
    pub(crate) fn new(
        session: String,
        scope: ConversationScope,
        contained: &[String],
        sent: &[String],
    ) -> Self {
        Self {
            session,
            scope,
            outbox: Outbox::with(sent),
            runs: Mutex::default(),
            ended: Mutex::default(),
            others: Mutex::default(),
            workflows: Mutex::default(),
            listed: Mutex::default(),
            agents: Mutex::default(),
            has_detached: AtomicBool::new(false),
            handed_over: Mutex::default(),
            contained: contained.iter().cloned().collect(),
            is_stale: AtomicBool::new(true),
            was_asked: AtomicBool::new(false),
            failures: AtomicU32::new(0),
            changes: watch::Sender::new(0),
        }
    }

    /// The id of the conversation.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The runs of the last event, newest first.
    #[must_use]
    pub fn runs(&self) -> Vec<RunRecord> {
        self.runs.lock().clone()
    }

    /// Returns the runs that commands may name, newest first, from memory.
    #[must_use]
    pub fn named_runs(&self) -> Vec<RunRecord> {
        let mut runs = self.runs();
        let others = self.others.lock().clone();
        // This conversation may have taken one of them over since.
        let is_new = |run: &RunRecord| runs.iter().all(|known| known.key != run.key);
        let others: Vec<_> = others.into_iter().filter(is_new).collect();
        runs.extend(others);
        sort_newest_first(&mut runs);
        runs
    }

    pub(crate) fn set_others(&self, runs: &[RunRecord]) {
        runs.clone_into(&mut self.others.lock());
    }

    /// Returns the project's workflows as they were read last, newest first, without their runs.
    #[must_use]
    pub fn workflows(&self) -> Vec<ShownWorkflow> {
        self.workflows.lock().clone()
    }

    pub(crate) fn set_workflows(&self, workflows: &[ShownWorkflow]) {
        let brief = |workflow: &ShownWorkflow| ShownWorkflow { runs: Vec::new(), ..workflow.clone() };
        *self.workflows.lock() = workflows.iter().map(brief).collect();
    }

    /// Returns the ids of those `deliveries` that the conversation contains. It listed them when it was opened, or they
    /// are in its file, which another process may have extended since. Blocks.
    pub(crate) fn contained(&self, deliveries: &[Delivery]) -> Vec<String> {
        let file = self.scope.context.host.session_file.as_deref().filter(|_| !deliveries.is_empty());
        let by_file = file.and_then(|file| delivered_in_file(file).ok()).unwrap_or_default();
        let ids = deliveries.iter().map(|delivery| &delivery.id);
        ids.filter(|id| self.contained.contains(*id) || by_file.contains(*id)).cloned().collect()
    }

    /// The names and purposes of the agents that may run in the background, as far as they are known by now.
    #[must_use]
    pub fn agents(&self) -> Vec<(String, String)> {
        self.agents.lock().clone()
    }

    pub(crate) fn set_agents(&self, agents: Vec<(String, String)>) {
        *self.agents.lock() = agents;
    }

    pub(crate) fn set_runs(&self, runs: &[RunRecord]) {
        runs.clone_into(&mut self.runs.lock());
    }

    /// Returns the ended runs from the last reading of the store, including foreground runs.
    pub(crate) fn ended(&self) -> Vec<RunRecord> {
        self.ended.lock().clone()
    }

    pub(crate) fn set_ended<'a>(&self, runs: impl Iterator<Item = &'a RunRecord>) {
        *self.ended.lock() = runs.cloned().collect();
    }

    pub(crate) fn set_listed(&self, keys: impl Iterator<Item = String>) {
        *self.listed.lock() = keys.collect();
    }

    pub(crate) fn listed(&self) -> Vec<String> {
        self.listed.lock().clone()
    }

    pub(crate) fn invalidate(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    /// Returns true if the store must be read again, and resets the mark.
    pub(crate) fn take_stale(&self) -> bool {
        self.is_stale.swap(false, Ordering::Relaxed)
    }

    /// Returns true if any of its runs is live, in any process.
    pub(crate) fn has_live(&self) -> bool {
        self.runs.lock().iter().any(|run| run.is_live() && (!run.is_foreground || run.workflow.is_some()))
    }

    /// Returns true if another process hosts any of its live runs, whose snapshots change without the store.
    pub(crate) fn has_detached(&self) -> bool {
        self.has_detached.load(Ordering::Relaxed)
    }

    /// Records that a host process has taken over a run.
    pub(crate) fn note_handed_over(&self, key: String) {
        self.has_detached.store(true, Ordering::Relaxed);
        self.handed_over.lock().insert(key);
    }

    /// Records that the listener was given a question.
    pub(crate) fn note_asked(&self) {
        self.was_asked.store(true, Ordering::Relaxed);
    }

    /// Returns true if it got a question since the last call.
    pub(crate) fn take_asked(&self) -> bool {
        self.was_asked.swap(false, Ordering::Relaxed)
    }

    /// Records how often the listener has failed since its last success.
    pub(crate) fn note_failures(&self, failures: u32) {
        self.failures.store(failures, Ordering::Relaxed);
    }

    /// Returns how often the listener has failed since its last success.
    pub(crate) fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(crate) fn waits_for_host_processes(&self) -> bool {
        !self.handed_over.lock().is_empty()
    }

    /// Records the runs that the store has.
    pub(crate) fn note_stored(&self, runs: &[RunRecord]) {
        self.has_detached
            .store(runs.iter().any(|run| run.is_live() && run.has_snapshots()), Ordering::Relaxed);
        let mut handed_over = self.handed_over.lock();
        for run in runs.iter().filter(|run| !run.is_live()) {
            if handed_over.contains(&run.key) {
                // The order matters: an ended run must be pending before it stops being waited for.
                self.outbox.expect();
                handed_over.remove(&run.key);
            }
        }
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Resolves when the view is closed.
    pub(crate) async fn closed(&self) {
        let mut changes = self.changes();
        while !self.outbox.is_closed() && changes.changed().await.is_ok() {}
    }

    /// Closes the view. Returns the deliveries not known to be in the conversation.
    fn close(&self) -> Vec<String> {
        let undelivered = self.outbox.close();
        self.notify();
        undelivered
    }
}

/// The conversations open in this process, by session.
#[derive(Default)]
pub(crate) struct Conversations {
    open: Mutex<HashMap<String, Arc<ConversationView>>>,
    /// The sessions of all conversations that were opened in this process.
    ever_open: Mutex<HashSet<String>>,
    /// The sentence about waiting changes that each session has shown last.
    waiting: Mutex<HashMap<String, String>>,
}

impl Conversations {
    /// Opens a conversation. Closes an older view of the same conversation, and returns that view's undelivered
    /// deliveries.
    pub(crate) fn open(&self, view: &Arc<ConversationView>) -> Vec<String> {
        self.ever_open.lock().insert(view.session.clone());
        let before = self.open.lock().insert(view.session.clone(), Arc::clone(view));
        before.map(|before| before.close()).unwrap_or_default()
    }

    /// Closes a view. Returns its undelivered deliveries.
    pub(crate) fn close(&self, view: &Arc<ConversationView>) -> Vec<String> {
        self.open.lock().retain(|_, open| !Arc::ptr_eq(open, view));
        view.close()
    }

    /// Closes every view. Returns their undelivered deliveries.
    pub(crate) fn close_all(&self) -> Vec<String> {
        let open = std::mem::take(&mut *self.open.lock());
        open.into_values().flat_map(|view| view.close()).collect()
    }

    pub(crate) fn get(&self, session: &str) -> Option<Arc<ConversationView>> {
        self.open.lock().get(session).cloned()
    }

    pub(crate) fn is_open(&self, session: &str) -> bool {
        self.open.lock().contains_key(session)
    }

    /// Returns the sessions of all conversations that were opened in this process, including closed ones.
    pub(crate) fn ever_open(&self) -> HashSet<String> {
        self.ever_open.lock().clone()
    }

    /// Records the sentence about waiting changes that a session shows. Returns true if it is another one than before.
    pub(crate) fn note_waiting(&self, session: &str, text: &str) -> bool {
        self.waiting.lock().insert(session.to_owned(), text.to_owned()).is_none_or(|before| before != text)
    }

    /// All open conversations.
    pub(crate) fn all(&self) -> Vec<Arc<ConversationView>> {
        self.open.lock().values().cloned().collect()
    }

    /// Any open conversation.
    pub(crate) fn any(&self) -> Option<Arc<ConversationView>> {
        self.open.lock().values().next().cloned()
    }

    pub(crate) fn is_any(&self, is_so: impl Fn(&ConversationView) -> bool) -> bool {
        self.open.lock().values().any(|view| is_so(view))
    }

    /// Makes every view read the store again, and look for deliveries if there may be some.
    pub(crate) fn invalidate(&self, may_deliver: bool) {
        for view in self.open.lock().values() {
            view.invalidate();
            if may_deliver {
                view.outbox.expect();
            }
        }
    }

    /// Hands a delivery claimed by this process to the view of its session. Returns it if that conversation is closed.
    pub(crate) fn queue_delivery(&self, session: &str, delivery: Option<Delivery>) -> Option<Delivery> {
        let Some(view) = self.get(session) else { return delivery };
        view.invalidate();
        delivery.and_then(|delivery| view.outbox.enqueue(delivery))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Host, RunOutcome};

    fn view() -> Arc<ConversationView> {
        let context = HostContext {
            agent_dir: "/agent".into(),
            home: None,
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
            host: Host::default(),
        };
        let scope = ConversationScope {
            cwd: "/project".into(),
            context: Arc::new(context),
            ends_with: Cancel::new(),
        };
        Arc::new(ConversationView::new("s".into(), scope, &[], &[]))
    }

    fn detached_run(outcome: Option<RunOutcome>) -> RunRecord {
        RunRecord { key: "k".into(), is_detached: true, outcome, ..RunRecord::default() }
    }

    #[test]
    fn a_run_with_a_host_process_is_waited_for_until_its_delivery_is_expected() {
        let view = view();
        assert!(!view.has_detached() && !view.waits_for_host_processes());
        view.note_handed_over("k".into());
        assert!(view.has_detached() && view.waits_for_host_processes());
        view.note_stored(&[detached_run(None)]);
        assert!(view.has_detached() && view.waits_for_host_processes(), "a running run is waited for");
        assert!(view.outbox.pending().is_none());
        view.note_stored(&[detached_run(Some(RunOutcome::Completed))]);
        assert!(!view.has_detached() && !view.waits_for_host_processes());
        assert!(view.outbox.pending().is_some());
    }

    #[test]
    fn the_end_of_a_run_without_a_host_process_is_not_expected_again() {
        let view = view();
        view.note_stored(&[detached_run(Some(RunOutcome::Completed))]);
        assert!(view.outbox.pending().is_none());
    }

    #[test]
    fn numbers_refer_to_the_list_shown_last() {
        let view = view();
        view.set_listed(["a", "b"].map(str::to_owned).into_iter());
        view.set_listed(["c"].map(str::to_owned).into_iter());
        assert_eq!(view.listed(), ["c"]);
    }

    #[test]
    fn a_conversation_is_open_until_its_newest_view_is_closed() {
        let conversations = Conversations::default();
        let old = view();
        let new = view();
        assert!(conversations.open(&old).is_empty());
        old.outbox.expect();
        conversations.open(&new);
        assert!(old.outbox.is_closed() && !new.outbox.is_closed());
        conversations.close(&old);
        assert!(conversations.is_open("s"), "an older view does not close the conversation");
        assert!(conversations.is_any(|view| view.session() == "s"));
        assert!(!conversations.is_any(ConversationView::has_live));
        new.set_runs(&[RunRecord::default()]);
        assert!(conversations.is_any(ConversationView::has_live));
        conversations.close(&new);
        assert!(!conversations.is_open("s") && conversations.any().is_none());
        assert!(conversations.ever_open().contains("s"), "a closed conversation is remembered");
    }

    #[test]
    fn an_exiting_process_closes_all_conversations_and_releases_undelivered_messages() {
        let conversations = Conversations::default();
        let view = view();
        conversations.open(&view);
        let delivery = |id: &str| Delivery {
            id: id.to_owned(),
            session: "s".to_owned(),
            key: "k".to_owned(),
            body: "{}".to_owned(),
            created_ms: 0,
        };
        assert!(conversations.queue_delivery("s", Some(delivery("early"))).is_none());
        assert_eq!(conversations.close_all(), ["early"]);
        assert!(view.outbox.is_closed() && conversations.any().is_none());
        assert!(
            conversations.queue_delivery("s", Some(delivery("late"))).is_some(),
            "a closed conversation returns a late delivery"
        );
    }

    #[test]
    fn a_change_in_the_store_reaches_every_conversation() {
        let conversations = Conversations::default();
        let view = view();
        conversations.open(&view);
        assert!(view.take_stale(), "a view starts as stale");
        assert!(!view.take_stale());
        conversations.invalidate(false);
        assert!(view.take_stale() && view.outbox.pending().is_none());
        conversations.invalidate(true);
        assert!(view.take_stale() && view.outbox.pending().is_some());
        assert!(conversations.queue_delivery("s", None).is_none());
        assert!(view.take_stale());
    }
}
