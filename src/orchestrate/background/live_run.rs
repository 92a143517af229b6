//! A run hosted by this process, with its open question to its conversation.

use std::convert::Infallible;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use super::conversation::delivery_ids::question_id;
use crate::orchestrate::background_move::BackgroundMove;
use crate::orchestrate::call::Call;
use crate::run::{AdmittedRun, Control, Progress, RunRecord, RunState};
use agents::config::Config;
use pi_events::{DisplayItem, current_text};
use sanitizer::figures::millis;
use sanitizer::newest;
use store::now_ms;
use supervisor::{Cancel, CancelReason};

/// Bytes of the live text that other processes and the interface see. The transcript has all of it.
const TEXT_BYTES: usize = 2 * 1024;

/// The maximum number of questions of one run. Each costs the conversation a turn.
const MAX_QUESTIONS: u32 = 32;

/// The smallest deviation of the system's clock that counts as a change of the clock, in milliseconds.
const CLOCK_JUMP_MS: u64 = 2_000;

/// The reason why this process ends a run. An end by the child, a limit or a budget has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The user stopped it.
    Stopped,
    /// The host is ending.
    HostEnds,
    /// The host is ending after waiting this long for the run.
    Waited(Duration),
}

/// The receiver of a run's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultOwner {
    Call,
    Conversation,
    /// The call has it.
    NoOne,
}

/// The call that waits for a foreground run.
struct WaitingCall {
    /// Ends the run as long as the call waits.
    cancel: Cancel,
    /// Moves the runs of the call to the background.
    background_move: BackgroundMove,
}

/// A run hosted by this process, in the background or in the foreground: the only handle of a run that has not ended.
pub(super) struct LiveRun {
    /// Ends the run and sends messages to its child.
    pub control: Control,
    /// Held during each write to the store, so that older data never replace newer.
    pub writing: Arc<tokio::sync::Mutex<()>>,
    /// The question of its child to the conversation.
    pub question: OpenQuestion,
    /// The child's open questions.
    open_questions: Mutex<Vec<String>>,
    record: watch::Sender<RunRecord>,
    /// The time of its start, by a monotonic clock.
    started: OnceLock<Instant>,
    reason: Mutex<Option<EndReason>>,
    /// The settings that decide about its end and its delivery.
    pub config: Config,
    /// The notes from before the start of the first child.
    setup_notes: OnceLock<Vec<String>>,
    call: Option<WaitingCall>,
    /// Changes only while `deciding` is locked.
    pub owner: watch::Sender<ResultOwner>,
    /// Held while it is decided whether the call or the conversation gets the end.
    pub deciding: tokio::sync::Mutex<()>,
}

impl LiveRun {
    /// Creates a background run. It ends at the latest when `host` is cancelled.
    pub(super) fn new(record: RunRecord, config: Config, host: &Cancel) -> Self {
        Self {
            control: Control { cancel: host.child(), ..Control::default() },
            writing: Arc::default(),
            question: OpenQuestion::default(),
            open_questions: Mutex::default(),
            record: watch::Sender::new(record),
            started: OnceLock::new(),
            reason: Mutex::default(),
            config,
            setup_notes: OnceLock::new(),
            call: None,
            owner: watch::Sender::new(ResultOwner::Conversation),
            deciding: tokio::sync::Mutex::default(),
        }
    }

    /// Creates a foreground run, which gets the messages to the call's children. The end of the call's host ends it.
    /// The end of the call does not: its driver has to do that.
    pub(super) fn of_call(record: RunRecord, config: Config, call: &Call) -> Self {
        let waiting = WaitingCall {
            cancel: call.control.cancel.clone(),
            background_move: call.background_move.clone(),
        };
        Self {
            control: call.control.of_one(&call.ends_with),
            call: Some(waiting),
            owner: watch::Sender::new(ResultOwner::Call),
            ..Self::new(record, config, &call.ends_with)
        }
    }

    /// Returns the token whose cancellation ends it: the call's token while a call waits, then its own, which its
    /// conversation and its host cancel.
    pub(super) fn cancel(&self) -> &Cancel {
        self.waiting_call().map_or(&self.control.cancel, |call| &call.cancel)
    }

    /// Returns the handle that moves its call to the background, while a call waits for it.
    pub(super) fn background_move(&self) -> Option<&BackgroundMove> {
        self.waiting_call().map(|call| &call.background_move)
    }

    /// Ends the run with its call, as long as the call waits for it.
    pub(super) async fn follow_call(&self) -> Infallible {
        if let Some(WaitingCall { cancel, .. }) = &self.call {
            let reason = cancel.cancelled().await;
            self.unless_moved().await;
            self.control.cancel.cancel(reason);
            cancel.shut_down().await;
            self.unless_moved().await;
            self.control.cancel.cancel(CancelReason::Shutdown);
        }
        pending().await
    }

    /// Resolves at once while a call waits for it, and never once it was moved to the background.
    async fn unless_moved(&self) {
        if self.watch().wait_for(|run| run.is_foreground).await.is_err() {
            pending::<()>().await;
        }
    }

    /// Resolves once its conversation gets its end.
    pub(super) async fn until_owned_by_conversation(&self) {
        let _ = self.owner.subscribe().wait_for(|owner| *owner == ResultOwner::Conversation).await;
    }

    fn waiting_call(&self) -> Option<&WaitingCall> {
        self.call.as_ref().filter(|_| self.is_foreground())
    }

    /// Returns true if a call waits for it.
    pub(super) fn is_foreground(&self) -> bool {
        self.record.borrow().is_foreground
    }

    /// The current record.
    pub(super) fn record(&self) -> RunRecord {
        self.record.borrow().clone()
    }

    pub(super) fn key(&self) -> String {
        self.record.borrow().key.clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut RunRecord)) {
        self.record.send_modify(change);
    }

    /// Receives the newest state after each change; intermediate states may be skipped.
    pub(super) fn watch(&self) -> watch::Receiver<RunRecord> {
        self.record.subscribe()
    }

    /// Shows that its child asks this, until it is answered.
    pub(super) fn add_question(&self, title: &str) {
        self.update_questions(|open_questions| open_questions.push(title.to_owned()));
    }

    /// Records that the question was answered, or that no one waits for it any more.
    pub(super) fn remove_question(&self, title: &str) {
        self.update_questions(|open_questions| {
            if let Some(at) = open_questions.iter().position(|other| other == title) {
                open_questions.remove(at);
            }
        });
    }

    fn update_questions(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut open_questions = self.open_questions.lock();
        change(&mut open_questions);
        let first = open_questions.first().cloned();
        self.change(|run| run.progress.pending_question = first);
    }

    /// Records the decisions of the run's preparation.
    pub(super) fn note_prepared(&self, ready: &AdmittedRun) {
        self.setup_notes.get_or_init(|| ready.notes().to_vec());
        self.change(|run| {
            run.tools = ready.tools().to_vec();
            run.is_isolated = ready.resolved.is_isolated;
            run.stored_changes = ready.resolved.stored_changes;
            run.model.clone_from(&ready.resolved.model);
            run.thinking.clone_from(&ready.resolved.thinking);
        });
    }

    /// Returns the notes from before the start of its first child, which its announcement does not repeat.
    pub(super) fn setup_notes(&self) -> &[String] {
        self.setup_notes.get().map_or(&[], Vec::as_slice)
    }

    /// Ends the run. The first reason wins.
    pub(super) fn end(&self, reason: EndReason) {
        self.reason.lock().get_or_insert(reason);
        tracing::info!(target: "run", run = self.key(), ?reason, "a background run is ended");
        self.control.cancel.cancel(match reason {
            EndReason::HostEnds => CancelReason::Shutdown,
            EndReason::Stopped | EndReason::Waited(_) => CancelReason::Caller(None),
        });
    }

    /// Returns true if this process is ending it.
    pub(super) fn is_ending(&self) -> bool {
        self.control.cancel.reason().is_some()
    }

    pub(super) fn end_reason(&self) -> Option<EndReason> {
        let own = *self.reason.lock();
        let host_ends =
            || matches!(self.control.cancel.reason(), Some(CancelReason::Shutdown | CancelReason::Dropped));
        own.or_else(|| host_ends().then_some(EndReason::HostEnds))
    }

    /// Moves the start of the run after a change of the system's clock, so that its duration stays correct.
    pub(super) fn note_time(&self, run: &mut RunRecord) {
        if let Some(started) = self.started.get() {
            run.started_ms = Some(start_of(run.started_ms, now_ms(), started.elapsed()));
        }
    }

    /// Updates the record with the progress of the run.
    pub(super) fn update(&self, progress: &Progress) {
        self.change(|run| {
            if progress.state != RunState::Queued {
                self.started.get_or_init(Instant::now);
            }
            self.note_time(run);
            run.model = progress.model.clone().or(run.model.take());
            let path = |path: &Option<Arc<Path>>| path.as_deref().map(Path::to_path_buf);
            run.transcript = path(&progress.session_file).or(run.transcript.take());
            run.directory = path(&progress.directory).or(run.directory.take());
            run.state = progress.state;
            let live = &mut run.progress;
            live.updated_ms = Some(now_ms());
            live.position = progress.position;
            live.blocked_by = progress.blocked_by.as_deref().map(str::to_owned);
            live.retry.clone_from(&progress.retry);
            let items = progress.display_items.iter().map(|item| match item {
                DisplayItem::Text { text } => Some(&**text),
                DisplayItem::ToolCall { .. } => None,
            });
            let text = current_text(&progress.text, items);
            live.text = (!text.is_empty()).then(|| newest(text, TEXT_BYTES));
            live.last_tool = progress.last_tool.as_deref().map(str::to_owned);
            live.pid = progress.pid;
            run.progress.context = progress.context.or(run.progress.context);
            run.note_used(&progress.usage, progress.resources.as_ref());
        });
    }
}

/// The question of a run that waits for its conversation's answer, if there is one.
#[derive(Debug, Default)]
pub(super) struct OpenQuestion(Mutex<Questions>);

#[derive(Debug, Default)]
struct Questions {
    asked: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    id: String,
    text: String,
    answer: oneshot::Sender<String>,
}

impl OpenQuestion {
    /// Answers the question. `false`: there is none.
    pub(super) fn answer(&self, text: &str) -> bool {
        let open = self.0.lock().open.take();
        open.is_some_and(|open| open.answer.send(text.to_owned()).is_ok())
    }

    /// Returns the pending question, if there is one.
    pub(super) fn text(&self) -> Option<String> {
        self.0.lock().open.as_ref().map(|open| open.text.clone())
    }

    pub(super) fn is(&self, id: &str) -> bool {
        self.0.lock().open.as_ref().is_some_and(|open| open.id == id)
    }

    /// Opens one for a run. `None`: it has asked often enough.
    pub(super) fn open(&self, run: &RunRecord, text: &str) -> Option<(String, oneshot::Receiver<String>)> {
        let mut state = self.0.lock();
        state.asked = state.asked.checked_add(1).filter(|asked| *asked <= MAX_QUESTIONS)?;
        let (answer, answered) = oneshot::channel();
        let id = question_id(run, state.asked);
        state.open = Some(Open { id: id.clone(), text: text.to_owned(), answer });
        Some((id, answered))
    }

    pub(super) fn close(&self, id: &str) {
        let mut state = self.0.lock();
        if state.open.as_ref().is_some_and(|open| open.id == id) {
            state.open = None;
        }
    }
}

/// Returns the start of an activity that has lasted for `lasted`. The `known` start stays unless the clock was changed.
fn start_of(known: Option<i64>, now_ms: i64, lasted: Duration) -> i64 {
    let start = now_ms.saturating_sub_unsigned(millis(lasted));
    known.filter(|known| known.abs_diff(start) < CLOCK_JUMP_MS).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_change_does_not_affect_a_duration() {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let minute = Duration::from_secs(60);
        for (label, known, now, expected) in [
            ("first seen", None, 100_000, 40_000),
            ("as before", Some(40_000), 100_000, 40_000),
            ("a little off", Some(41_500), 100_000, 41_500),
            ("off by a clock change", Some(42_000), 100_000, 40_000),
            ("set a day ahead", Some(40_000), 100_000 + DAY, 40_000 + DAY),
            ("set a day back", Some(40_000), 100_000 - DAY, 40_000 - DAY),
        ] {
            assert_eq!(start_of(known, now, minute), expected, "{label}");
        }
    }

    #[test]
    fn a_long_text_shows_its_newest_words() {
        let live = LiveRun::new(RunRecord::default(), Config::default(), &Cancel::new());
        let text = format!("{}The newest words.", "One line.\n".repeat(1_000));
        live.update(&Progress { text: text.as_str().into(), ..Progress::default() });
        let shown = live.record().progress.text.expect("the run has a text");
        assert!(shown.len() <= TEXT_BYTES && shown.starts_with('…'), "{shown}");
        assert!(shown.ends_with("One line.\nThe newest words."), "{shown}");
    }
}
