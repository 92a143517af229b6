//! The end of a run: its final record and the delivery for its conversation. Every end passes through [`settle`], whoever gets it
//! and whichever process has hosted the run.

use std::path::Path;
use std::sync::Arc;

use super::conversation::delivery_ids::end_id;
use super::deliver::queue;
use super::live_run::{EndReason, LiveRun};
use super::service::BackgroundService;
use super::workflow::KeptResult;
use crate::present::{DeliveryBody, PARTIAL};
use crate::run::{
    ANNOUNCE_SKIP, Announcement, BackgroundStatus, CallSettings, Cleanup, HostContext, RunArtifacts,
    RunOutcome, RunRecord, SandboxReport, SingleResult, ToolResult, blocking, changes_summary,
    must_be_delivered, spawn_task,
};
use crate::transcript::{last_text, session_id};
use agents::Network;
use agents::config::Config;
use sanitizer::figures::millis;
use sanitizer::{FullText, TruncateLimits, truncate, truncate_partial};
use store::{Delivery, now_ms};
use tokio::runtime::Handle;

/// The limits of the result that the store keeps next to the delivery, to show it later. The rest of its 16 KiB is for the
/// longer name of an archived transcript.
const RESULT: TruncateLimits = TruncateLimits { max_bytes: 16 * 1024 - 128, max_lines: usize::MAX };
/// Stands in a result for the path of a transcript that is archived right after the delivery.
const READ_BY_TOOL: &str = "`sessions_history` reads it";
/// The note of a run whose end is delivered although its child wants no announcement.
const NOTHING_ANNOUNCED: &str = "the sub-agent has nothing to announce";
/// The maximum number of diagnostics that are kept for each run.
const MAX_NOTES: usize = 16;

/// The process that has hosted a run.
pub(super) enum HostedBy {
    /// This process. The run is in the registry.
    This(Arc<LiveRun>),
    /// The dead process with this id.
    Dead(String),
}

/// Ends a run hosted by this process. Its conversation gets the end, unless a call has waited for it.
pub(super) async fn finish(service: &Arc<BackgroundService>, live: &Arc<LiveRun>, result: &ToolResult) {
    let transcript = result.details.results.first().and_then(|single| single.session_file.clone());
    let child_session = blocking(move || session_id(Path::new(&transcript?))).await;
    let Ending { run, delivery } = Ending::of_result(live, result, child_session);
    let is_kept = run.workflow.is_some() && run.outcome == Some(RunOutcome::Completed);
    let kept = is_kept.then(|| KeptResult::of(result));
    settle(service, run, delivery, HostedBy::This(Arc::clone(live)), kept).await;
}

/// Ends a background run whose task panics, when a local of that task is dropped. Otherwise every list would show it as
/// working until this process ends.
pub(super) fn finish_after_panic(service: &Arc<BackgroundService>, live: &Arc<LiveRun>) {
    // Outside of the runtime, the start of a task would be a second panic.
    if !std::thread::panicking() || Handle::try_current().is_err() {
        return;
    }
    let run = live.record();
    if !run.is_live() || (run.is_foreground && run.workflow.is_none()) {
        return;
    }
    let (service, live) = (Arc::clone(service), Arc::clone(live));
    spawn_task(async move {
        let failed = End::without_result(RunOutcome::Failed, "internal error".to_owned());
        let end = End { triggers_turn: true, ..failed };
        let Ending { run, delivery } = Ending::new(run, end, &live.config);
        settle(&service, run, delivery, HostedBy::This(live), None).await;
    });
}

/// Ends the runs of dead processes, with their answers so far.
pub(super) async fn adopt_orphans(service: &Arc<BackgroundService>) {
    // Only a conversation knows which secrets a text must not contain, so the runs wait until one is open.
    let Some(view) = service.conversations.any() else { return };
    let orphans = service.blocking(|service| service.store.orphans()).await;
    let is_any = !orphans.is_empty();
    for (run, process) in orphans {
        tracing::warn!(
            target: "delivery", run = %run.run_id, process, reason = "its process has ended",
            "a run is adopted as interrupted"
        );
        adopt_orphan(service, run, process, Arc::clone(&view.scope.context)).await;
    }
    if is_any {
        // Once for all of them, so that one message has their ends.
        service.invalidate(true);
    }
}

/// Ends a run of a dead process, with its answer so far.
pub(super) async fn adopt_orphan(
    service: &Arc<BackgroundService>,
    run: RunRecord,
    process: String,
    context: Arc<HostContext>,
) {
    let end = blocking(move || {
        let settings = CallSettings::read(&run.cwd, &context);
        let sanitizer = settings.sanitizer();
        let transcript = run.transcript.as_deref();
        let partial = transcript.and_then(|transcript| last_text(transcript, sanitizer).ok().flatten());
        let child_session = || session_id(transcript?);
        let child_session_id = run.child_session_id.clone().or_else(child_session);
        Ending::of_orphan(RunRecord { child_session_id, ..run }, partial, &settings.config())
    });
    let Ending { run, delivery } = end.await;
    settle(service, run, delivery, HostedBy::Dead(process), None).await;
}

/// Stores a run with its delivery, both or neither, and hands the delivery to its conversation if that is open here: the end of
/// a run, or a question of a live one. An ended run leaves the registry only after its end is stored and, if its conversation
/// is open here, pending there. Does nothing if another process has ended the run of a dead process before. `kept` is the whole
/// result of a completed run of a workflow, which is stored in the same transaction.
pub(super) async fn settle(
    service: &Arc<BackgroundService>,
    run: RunRecord,
    delivery: Option<Delivery>,
    host: HostedBy,
    kept: Option<String>,
) {
    let is_silent = delivery.is_none();
    let has_ended = !run.is_live();
    let (live, process) = match host {
        HostedBy::This(live) => (Some(live), None),
        HostedBy::Dead(process) => (None, Some(process)),
    };
    // Nothing writes an older state later.
    let writing = match &live {
        Some(live) => Some(Arc::clone(&live.writing).lock_owned().await),
        None => None,
    };
    // Its own conversation takes precedence over other processes that have the same conversation open.
    let is_claimed = !is_silent && live.is_some() && service.conversations.is_open(&run.session);
    let (stored, settled) = (run.clone(), live.clone());
    let write = service.blocking(move |service| {
        match &process {
            None => service.store.put_with(&stored, delivery.as_ref(), is_claimed, kept.as_deref()),
            Some(process) if !service.store.adopt(&stored, process, delivery.as_ref()) => return None,
            Some(_) => {}
        }
        if has_ended && stored.has_snapshots() {
            service.store.snapshots.remove(&stored.key);
        }
        if has_ended && let Some(live) = settled {
            // Only now: an end that is shown before it is stored is another one if this process is killed in between.
            live.change(|run| *run = stored);
        }
        drop(writing);
        Some(delivery)
    });
    let Some(delivery) = write.await else { return };
    if has_ended {
        tracing::info!(
            target: "delivery", run = %run.run_id, status = ?run.outcome, session = %run.session, is_silent,
            "the end of a run is stored"
        );
    }
    // The order matters: a run that is neither live nor pending would count as delivered.
    queue(service, &run.session, delivery.filter(|_| is_claimed)).await;
    // A process that ends waits only for the runs in its registry.
    if has_ended && is_silent && run.cleanup == Cleanup::Delete {
        service.blocking(move |service| service.store.archive(&run)).await;
    }
    if has_ended && let Some(live) = &live {
        service.registry.remove(live);
    }
    if live.is_some() {
        service.invalidate(!is_silent && !is_claimed);
    }
}

/// The final record of a run and its delivery.
struct Ending {
    run: RunRecord,
    /// `None`: the child asked for no announcement, or a call has waited for the result.
    delivery: Option<Delivery>,
}

/// The facts about the end of a run that its record does not have.
struct End<'a> {
    outcome: RunOutcome,
    error: Option<String>,
    /// The child's answer for the conversation.
    result: Option<String>,
    /// True if the child wants no announcement.
    is_skipped: bool,
    /// The place of the full text.
    full_text: FullText<'a>,
    /// The unfinished answer.
    partial: Option<String>,
    /// Our notes next to its answer.
    artifacts: Option<String>,
    /// Notes for the conversation, after the error.
    notes: Vec<String>,
    /// The next step for the conversation.
    next_step: Option<&'static str>,
    triggers_turn: bool,
    is_silent: bool,
}

impl End<'_> {
    /// Returns an end of which the child has said nothing.
    fn without_result(outcome: RunOutcome, error: String) -> Self {
        Self {
            outcome,
            error: Some(error),
            result: None,
            is_skipped: false,
            full_text: FullText::default(),
            partial: None,
            artifacts: None,
            notes: Vec::new(),
            next_step: None,
            triggers_turn: false,
            is_silent: false,
        }
    }
}

impl Ending {
    /// Returns the end of a run hosted by this process. The run stays live until its end is stored.
    fn of_result(live: &LiveRun, result: &ToolResult, child_session_id: Option<String>) -> Self {
        let single = result.details.results.first();
        let outcome = single.map_or(RunOutcome::Failed, |single| single.outcome);
        let error = single.and_then(|single| single.error.clone()).or_else(|| {
            let error = result.details.error.as_ref().filter(|_| result.is_error);
            error.map(|error| error.message.clone())
        });
        let mut run = live.record();
        live.note_time(&mut run);
        // A run that completed before its end was requested counts as completed.
        let reason = live.end_reason().filter(|_| outcome == RunOutcome::Aborted);
        let (outcome, error) = match reason {
            None => (outcome, error),
            Some(reason) => ended_by_host(reason, outcome, run.is_queued()),
        };
        run.child_session_id = child_session_id;
        if let Some(single) = single {
            record_result(&mut run, single);
        }
        run.artifacts = result.details.results.iter().filter_map(RunArtifacts::of).collect();
        let announced = single.and_then(|single| single.announcement.as_ref());
        let is_success = outcome == RunOutcome::Completed;
        let answer = single.and_then(|single| single.output.as_deref());
        let is_skipped = match announced {
            Some(Announcement::Text(_)) => false,
            Some(Announcement::Skipped) => true,
            None => answer.is_some_and(|answer| answer.trim() == ANNOUNCE_SKIP),
        };
        let notes = single.map(|single| match announced {
            // They are about the answer, which it replaces.
            Some(Announcement::Text(_)) => {
                changes_summary(result.details.run_id.as_deref().unwrap_or_default(), single)
            }
            _ => single.notes.clone(),
        });
        let text = match announced {
            Some(Announcement::Text(text)) => text,
            _ => answer_text(result),
        };
        // Notices from before the start of the child do not belong to the announcement of its end.
        let end = End {
            outcome,
            error,
            result: is_success.then(|| text.to_owned()),
            is_skipped,
            full_text: single.map_or_else(FullText::default, |single| match announced {
                None | Some(Announcement::Skipped) if single.full_output_file.is_some() => single.full_text(),
                _ => FullText::at(single.session_file.as_deref()),
            }),
            partial: single.filter(|_| !is_success).and_then(|single| single.output.clone()),
            artifacts: notes.filter(|notes| !notes.is_empty()),
            next_step: match (reason, single) {
                (None, Some(single)) => single.next_step,
                _ => outcome.next_step(),
            },
            notes: run.notes.iter().filter(|note| !live.setup_notes().contains(note)).cloned().collect(),
            // A user who stops a run, or opens a conversation with interrupted runs, decides how to continue.
            triggers_turn: outcome != RunOutcome::Interrupted && reason != Some(EndReason::Stopped),
            // A child cannot hide changes that wait on a branch, or files that run code later.
            is_silent: is_success && is_skipped && !result.details.results.iter().any(must_be_delivered),
        };
        Self::new(run, end, &live.config)
    }

    /// The end of a run whose host has died, with the answer so far.
    fn of_orphan(run: RunRecord, partial: Option<String>, config: &Config) -> Self {
        let resumable = format!(
            "it is not restarted automatically; `/subagents resume {}` continues its session",
            run.run_id
        );
        let error = "its process ended during the run".to_owned();
        let end =
            End { partial, notes: vec![resumable], ..End::without_result(RunOutcome::Interrupted, error) };
        Self::new(run, end, config)
    }

    fn new(mut run: RunRecord, end: End<'_>, config: &Config) -> Self {
        let now = now_ms();
        run.progress.clear_transient();
        run.outcome = Some(end.outcome);
        run.error.clone_from(&end.error);
        // The clock may have been set back since a process that has died recorded the start.
        run.ended_ms = Some(run.started_ms.map_or(now, |started| now.max(started)));
        // The transcript of an interrupted run must be there when its conversation is opened, whenever that is.
        let archives =
            config.archive_after.filter(|_| end.outcome != RunOutcome::Interrupted && !run.is_foreground);
        run.archive_at_ms = archives.map(|after| now.saturating_add_unsigned(millis(after)));
        let result = end.result.clone();
        let transcript = run.transcript.as_deref().filter(|_| run.cleanup == Cleanup::Delete);
        let transcript = transcript.map(|path| path.to_string_lossy().into_owned());
        let lasting = |text: String| match &transcript {
            Some(path) => text.replace(path, READ_BY_TOOL),
            None => text,
        };
        run.result = result.map(|text| lasting(truncate_partial(&text, RESULT, end.full_text, 0).text));
        let partial = end.partial.as_deref().filter(|text| !text.is_empty());
        run.partial = partial.map(|text| truncate(text, PARTIAL, None).text);
        let nothing = end.is_skipped.then(|| NOTHING_ANNOUNCED.to_owned());
        let body = DeliveryBody {
            status: BackgroundStatus::of(end.outcome),
            name: DeliveryBody::name_of(&run),
            task: DeliveryBody::task_of(&run),
            result: end.result.filter(|_| !end.is_skipped).map(lasting),
            notes: end.error.into_iter().chain(nothing).chain(end.notes).collect(),
            partial: end.partial.map(|text| truncate(&text, PARTIAL, None).text),
            artifacts: end.artifacts,
            next_step: end.next_step.map(str::to_owned),
            stats: DeliveryBody::stats_of(&run),
            triggers_turn: config.announce.trigger_turn && end.triggers_turn,
            max_bytes: config.output.max_bytes,
            max_lines: config.output.max_lines,
            max_total_bytes: config.output.max_total_bytes,
        };
        // A call that has waited has the result.
        let delivery = (!end.is_silent && !run.is_foreground).then(|| Delivery {
            id: end_id(&run),
            session: run.session.clone(),
            key: run.key.clone(),
            body: serde_json::to_string(&body).expect("texts and numbers are JSON"),
            created_ms: now,
        });
        Self { run, delivery }
    }
}

/// The outcome and error of a run that was aborted because its host ended it.
fn ended_by_host(reason: EndReason, outcome: RunOutcome, is_queued: bool) -> (RunOutcome, Option<String>) {
    let (outcome, error) = match reason {
        EndReason::Stopped => (outcome, "stopped on request".to_owned()),
        EndReason::HostEnds => {
            let when = if is_queued { "before the run started" } else { "during the run" };
            (RunOutcome::Interrupted, format!("pi ended {when}"))
        }
        EndReason::Waited(limit) => (
            RunOutcome::HardTimeout,
            format!(
                "hard limit reached: pi waits at most {} ms for background runs before it ends \
                 (`background.headlessWaitMs`)",
                limit.as_millis()
            ),
        ),
    };
    (outcome, Some(error))
}

/// The child's part of the text of a run that succeeded.
fn answer_text(result: &ToolResult) -> &str {
    let Some(single) = result.details.results.first().filter(|single| !single.notes.is_empty()) else {
        return &result.text;
    };
    let answer = result.text.strip_suffix(&single.notes).map(str::trim_end);
    // A text that was cut within the notes contains a part of them.
    answer.or(single.output.as_deref()).unwrap_or_default()
}

fn record_result(run: &mut RunRecord, single: &SingleResult) {
    run.progress.context = single.context.or(run.progress.context);
    run.note_used(&single.usage, single.resources.as_ref());
    run.model = single.model.clone().or(run.model.take());
    run.transcript = single.session_file.clone().map(Into::into).or(run.transcript.take());
    run.notes = single.diagnostics.iter().take(MAX_NOTES).cloned().collect();
    run.structured.clone_from(&single.structured);
    run.structured_file = single.structured_file.clone().map(Into::into);
    run.caveats.clone_from(&single.caveats);
    run.sandbox = single.sandbox.as_ref().map(sandbox_label);
    run.supervision = single.supervision.map(str::to_owned);
    // The agent or the setting that kept the run from writing is the better reason.
    run.stored_changes = run.stored_changes.or(single.stored_changes);
}

fn sandbox_label(sandbox: &SandboxReport) -> String {
    let SandboxReport { enforced, mechanism, network, reason } = sandbox;
    let mut label =
        if *enforced { format!("enforced ({})", mechanism.join(", ")) } else { "not enforced".to_owned() };
    if *network == Network::Off {
        label.push_str(", its shell without network");
    }
    reason.as_ref().map_or_else(|| label.clone(), |reason| format!("{label}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(ending: &Ending) -> DeliveryBody {
        DeliveryBody::read(ending.delivery.as_ref().expect("the end has a delivery"))
    }

    #[test]
    fn the_run_of_a_dead_host_ends_as_interrupted_without_a_turn_or_a_date_for_the_archive() {
        let mut run = RunRecord { run_id: "1a2b3c4d".to_owned(), ..RunRecord::default() };
        run.progress.pid = Some(7);
        let ending = Ending::of_orphan(run, Some("half".to_owned()), &Config::default());
        assert!(!ending.run.is_live() && ending.run.progress.pid.is_none());
        assert_eq!((ending.run.outcome, ending.run.archive_at_ms), (Some(RunOutcome::Interrupted), None));
        let body = body(&ending);
        assert_eq!((body.status, body.partial.as_deref()), (BackgroundStatus::Unknown, Some("half")));
        assert!(!body.triggers_turn && body.notes[1].contains("/subagents resume 1a2b3c4d"));
    }

    #[test]
    fn each_end_of_a_run_has_one_id_in_every_process() {
        let mut run = RunRecord { key: "key".to_owned(), ..RunRecord::default() };
        let id = |run: &RunRecord| {
            let ending = Ending::of_orphan(run.clone(), None, &Config::default());
            ending.delivery.expect("the end has a delivery").id
        };
        let first = id(&run);
        assert_eq!(id(&run), first);
        run.times_resumed += 1;
        assert_ne!(id(&run), first);
    }

    #[test]
    fn a_result_without_a_run_has_the_reason() {
        let live = LiveRun::new(RunRecord::default(), Config::default(), &supervisor::Cancel::new());
        let details = crate::run::RunDetails::single("1a2b3c4d");
        let refused = ToolResult { text: "no such agent".to_owned(), is_error: true, usage: None, details };
        let ending = Ending::of_result(&live, &refused, None);
        assert!(
            !ending.run.is_live() && live.record().is_live(),
            "the live run ends only once its end is stored"
        );
        assert_eq!((body(&ending).status, body(&ending).result), (BackgroundStatus::Error, None));
        assert!(ending.run.archive_at_ms.is_some(), "a refused run has a date for the archive");
    }
}
