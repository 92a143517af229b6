//! A background run that lives in this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::announcement::{Announcement, PARTIAL};
use super::record::{BackgroundRun, BackgroundState, Status};
use crate::config::Config;
use crate::process::{Cancel, CancelReason};
use crate::run::{
    Announcement as Announced, Control, Progress, RunOutcome, RunState, SandboxReport, ToolResult,
};
use crate::store::now_ms;
use crate::text::figures::millis;
use crate::text::{TruncateLimits, truncate, truncate_tail};

/// What the live text may fill for those who look; the transcript has all of it.
const TEXT: TruncateLimits = TruncateLimits { max_bytes: 2 * 1024, max_lines: 20 };
/// What is kept of a result beside its delivery, for those who look later.
const RESULT: TruncateLimits = TruncateLimits { max_bytes: 16 * 1024, max_lines: usize::MAX };
/// Notes that are kept of a run.
const MAX_NOTES: usize = 16;

/// Why a run is ended by this process and not by its child, a limit of its own or a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A person stopped it.
    Stopped,
    /// The host ends.
    HostEnds,
    /// The host could wait this long.
    Waited(Duration),
}

/// A background run that lives in this process.
pub(super) struct Live {
    /// Ends it and sends messages into it.
    pub control: Control,
    /// Held while it is written, so that what is older never replaces what is newer.
    pub writing: Arc<tokio::sync::Mutex<()>>,
    record: watch::Sender<BackgroundRun>,
    reason: Mutex<Option<Reason>>,
    /// What was to be said of how it was set up.
    standing: Mutex<Vec<String>>,
}

/// A run that is over, and what is to be told of it.
pub(super) struct Ended {
    pub run: BackgroundRun,
    pub announcement: Option<Announcement>,
}

impl Live {
    /// A run that ends with `host`, and by itself.
    pub(super) fn new(record: BackgroundRun, host: &Cancel) -> Self {
        Self {
            control: Control { cancel: host.child(), ..Control::default() },
            writing: Arc::default(),
            record: watch::Sender::new(record),
            reason: Mutex::default(),
            standing: Mutex::default(),
        }
    }

    /// The run as it is.
    pub(super) fn record(&self) -> BackgroundRun {
        self.record.borrow().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut BackgroundRun)) {
        self.record.send_modify(change);
    }

    /// Notes what there is to say of how it was set up.
    pub(super) fn note_standing(&self, notes: &[String]) {
        notes.clone_into(&mut self.standing.lock());
    }

    /// Sees every state that is worth keeping, the newest at least.
    pub(super) fn watch(&self) -> watch::Receiver<BackgroundRun> {
        self.record.subscribe()
    }

    /// Ends it. The first reason counts.
    pub(super) fn end(&self, reason: Reason) {
        self.reason.lock().get_or_insert(reason);
        self.control.cancel.cancel(match reason {
            Reason::HostEnds => CancelReason::Shutdown,
            Reason::Stopped | Reason::Waited(_) => CancelReason::Caller(None),
        });
    }

    /// Whether a person has stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        self.reason() == Some(Reason::Stopped)
    }

    /// Whether it was told to end.
    pub(super) fn is_ending(&self) -> bool {
        self.control.cancel.reason().is_some()
    }

    fn reason(&self) -> Option<Reason> {
        let own = *self.reason.lock();
        let host_ends =
            || matches!(self.control.cancel.reason(), Some(CancelReason::Shutdown | CancelReason::Dropped));
        own.or_else(|| host_ends().then_some(Reason::HostEnds))
    }

    /// Notes how far it has come.
    pub(super) fn show(&self, progress: &Progress) {
        self.change(|run| {
            run.state = match progress.state {
                RunState::Queued => BackgroundState::Queued,
                RunState::Starting => BackgroundState::Starting,
                RunState::Running => BackgroundState::Running,
                RunState::Retrying => BackgroundState::Retrying,
            };
            run.position = progress.position;
            if progress.state != RunState::Queued {
                run.started_ms.get_or_insert_with(now_ms);
            }
            run.usage = run.spent_before.clone();
            run.usage.add(&progress.usage);
            run.model = progress.model.clone().or(run.model.take());
            run.text =
                (!progress.text.trim().is_empty()).then(|| truncate_tail(&progress.text, TEXT, None).text);
            run.last_tool = progress.last_tool.as_deref().map(str::to_owned);
            run.pid = progress.pid;
            if let Some(resources) = &progress.resources {
                run.cpu_ms = Some(resources.cpu_ms);
                run.rss_bytes = Some(resources.peak_rss_bytes);
                run.processes = Some(resources.processes);
            }
            let path = |path: &Option<Arc<Path>>| path.as_deref().map(Path::to_path_buf);
            run.transcript = path(&progress.session_file).or(run.transcript.take());
            run.directory = path(&progress.directory).or(run.directory.take());
        });
    }

    /// Notes that it is over.
    pub(super) fn ended(
        &self,
        result: &ToolResult,
        config: &Config,
        child_session_id: Option<String>,
    ) -> Ended {
        let now = now_ms();
        let single = result.details.results.first();
        let error = result.details.error.as_ref().map(|error| error.message.clone());
        let error = single.and_then(|single| single.error.clone()).or(error.filter(|_| result.is_error));
        let outcome = single.map_or(RunOutcome::Failed, |single| single.outcome);
        // Work that was done before somebody stopped it is done.
        let reason = self.reason().filter(|_| outcome == RunOutcome::Aborted);
        let live_state = self.record().state;
        let (outcome, error) = match reason {
            None => (outcome, error),
            Some(Reason::Stopped) => (outcome, Some("stopped by the user".to_owned())),
            Some(Reason::HostEnds) => {
                let when = if live_state == BackgroundState::Queued {
                    "before the run had begun"
                } else {
                    "while the run was under way"
                };
                (RunOutcome::Interrupted, Some(format!("pi ended {when}")))
            }
            Some(Reason::Waited(limit)) => (
                RunOutcome::HardTimeout,
                Some(format!(
                    "hard limit reached: pi waits at most {} ms for background runs before it ends \
                     (`background.headlessWaitMs`)",
                    limit.as_millis()
                )),
            ),
        };
        let announced = single.and_then(|single| single.announcement.as_ref());
        let is_success = outcome == RunOutcome::Completed;
        let answer = single.and_then(|single| single.output.clone());
        let words = match announced {
            Some(Announced::Said(words)) if is_success => Some(words.clone()),
            _ if is_success => Some(result.text.clone()),
            _ => None,
        };
        self.change(|run| {
            run.state = BackgroundState::Ended;
            run.status = Some(Status::of(outcome));
            run.outcome = Some(outcome);
            run.error.clone_from(&error);
            run.ended_ms = Some(now);
            // The transcript of one that was interrupted is needed when its conversation is opened again, whenever that is.
            let archives = config.archive_after.filter(|_| outcome != RunOutcome::Interrupted);
            run.archive_at_ms = archives.map(|after| now.saturating_add_unsigned(millis(after)));
            (run.position, run.pid, run.last_tool, run.text) = (None, None, None, None);
            run.result = words.as_deref().map(|words| truncate(words, RESULT, None).text);
            run.partial =
                answer.as_deref().filter(|_| !is_success).map(|text| truncate(text, PARTIAL, None).text);
            run.child_session_id = child_session_id;
            if let Some(single) = single {
                run.usage = run.spent_before.clone();
                run.usage.add(&single.usage);
                run.model = single.model.clone().or(run.model.take());
                run.transcript = single.session_file.clone().map(Into::into).or(run.transcript.take());
                run.notes = single.diagnostics.iter().take(MAX_NOTES).cloned().collect();
                run.sandbox = single.sandbox.as_ref().map(in_words);
                run.supervision = single.supervision.map(str::to_owned);
                if let Some(resources) = &single.resources {
                    run.cpu_ms = Some(resources.cpu_ms);
                    run.rss_bytes = Some(resources.peak_rss_bytes);
                    run.processes = Some(resources.processes);
                }
            }
        });
        let run = self.record();
        let is_silent = is_success && matches!(announced, Some(Announced::Skipped));
        // What held before the child was there is no news of what came of it.
        let standing = self.standing.lock().clone();
        let announcement = (!is_silent).then(|| Announcement {
            status: Status::of(outcome),
            name: Announcement::name_of(&run),
            result: words,
            notes: error
                .into_iter()
                .chain(run.notes.iter().filter(|note| !standing.contains(note)).cloned())
                .collect(),
            partial: run.partial.clone(),
            stats: Announcement::stats_of(&run),
            triggers_turn: config.announce.trigger_turn && is_worth_a_turn(outcome, reason),
            max_bytes: config.output.max_bytes,
            max_lines: config.output.max_lines,
        });
        Ended { run, announcement }
    }
}

/// Whoever stops a run, or opens a conversation whose runs were interrupted, decides himself what comes next.
fn is_worth_a_turn(outcome: RunOutcome, reason: Option<Reason>) -> bool {
    outcome != RunOutcome::Interrupted && reason != Some(Reason::Stopped)
}

fn in_words(sandbox: &SandboxReport) -> String {
    let SandboxReport { enforced, mechanism, reason } = sandbox;
    let held =
        if *enforced { format!("enforced ({})", mechanism.join(", ")) } else { "not enforced".to_owned() };
    reason.as_ref().map_or_else(|| held.clone(), |reason| format!("{held}: {reason}"))
}
