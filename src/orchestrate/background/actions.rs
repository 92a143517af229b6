//! A person's actions on a background run: stop it, send it a message, resume it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::conversation::view::ConversationScope;
use super::drive::drive;
use super::live_run::{EndReason, LiveRun};
use super::registry::NotHosted;
use super::run_store::{SEND, STOP};
use super::service::BackgroundService;
use super::session_tools::continuation;
use super::spawn::{SpawnRefusal, max_runs, too_many};
use super::watch::watch_others;
use crate::orchestrate::admission::EarlyChildren;
use crate::orchestrate::early::claim_all;
use crate::orchestrate::queue::Queue;
use crate::orchestrate::{BackgroundMove, CallOrder, MoveError};
use crate::run::{
    ActionOutcome, CallSettings, HostCallbacks, OverBudget, Refusal, RemoteLimit, RunId, RunOutcome,
    RunRecord, RunState, SharedRunId, Unmet, Used, blocking, cannot_continue, prepare_with, spawn_task,
};
use sanitizer::figures::millis;
use store::now_ms;

/// The maximum time that `stop` waits for a run to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two checks of a run of another process while no conversation is open.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The prompt of a run that is resumed after a restart.
const RESTART_PROMPT: &str =
    "pi was restarted, which interrupted you. Continue with your task where you left off, and finish it.";

/// The reason why an action on a run is not possible. Its reader knows the run.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// The run has ended.
    #[error("it has already ended")]
    Ended,
    /// The run works, or has been resumed.
    #[error("it has not ended yet")]
    NotEnded,
    /// The process of the run, or the store with its requests, does not answer.
    #[error("its process cannot be reached")]
    Unreachable,
    /// The run has no child yet.
    #[error("it is queued; send the message once it runs")]
    Queued,
    /// The run has no child until its provider's quota is available.
    #[error("it waits for its provider's quota; send the message once it runs")]
    AwaitsQuota,
    /// The child does not take messages.
    #[error("its child takes no messages at the moment")]
    TakesNoMessages,
    /// The session of the run's child is in the archive.
    #[error(
        "its transcript was archived, so it cannot be continued. `sessions_history` and `/subagents log {run_id}` \
         can still read it"
    )]
    Archived {
        /// The run's id.
        run_id: String,
    },
    /// The run has no session that a child could continue.
    #[error("it has no transcript to continue")]
    NoTranscript,
    /// The children of the run start on another machine.
    #[error(transparent)]
    Remote(#[from] RemoteLimit),
    /// The configuration is not valid.
    #[error(transparent)]
    Config(#[from] Refusal),
    /// The run was refused. Contains the text of its result.
    #[error("{0}")]
    NotAdmitted(String),
    /// This machine cannot meet a requirement of the run.
    #[error(transparent)]
    Unmet(#[from] Unmet),
    /// The budget does not allow a start.
    #[error("{0}")]
    OverBudget(OverBudget),
    /// No further run may start.
    #[error(transparent)]
    TooMany(#[from] SpawnRefusal),
    /// Another process was faster.
    #[error("another process has just resumed it")]
    ResumedSince,
    /// The transcript of the run was removed.
    #[error("{0}, so it cannot be continued")]
    LostTranscript(&'static str),
    /// The run has an end that a restart of pi does not change.
    #[error("it was not interrupted")]
    NotInterrupted,
    /// The run was resumed automatically as often as possible.
    #[error("it was already resumed twice after a restart")]
    RestartedEnough,
}

/// Ends a run and everything that it started.
///
/// # Errors
///
/// If the run cannot be ended.
pub async fn stop(service: &Arc<BackgroundService>, run: &RunRecord) -> Result<ActionOutcome, ActionError> {
    if !run.is_live() {
        return Err(ActionError::Ended);
    }
    let has_ended = if let Some(live) = service.registry.get(&run.key) {
        live.end(EndReason::Stopped);
        timeout(STOP_TIMEOUT, service.registry.until_removed(&[live])).await.is_ok()
    } else {
        request(service, run, STOP, "").await?;
        timeout(STOP_TIMEOUT, until_ended(service, &run.key)).await.is_ok()
    };
    Ok(if has_ended { ActionOutcome::Stopped } else { ActionOutcome::Stopping })
}

/// The numbers of runs that [`stop_all`] ends.
pub struct StoppedRuns {
    /// The foreground runs.
    pub foreground: usize,
    /// The background runs.
    pub background: usize,
    /// The background runs of other processes that could not be asked to end.
    pub unreachable: usize,
}

/// Ends all runs of a conversation. The runs of this process begin to end when this is called, before the future is
/// polled.
pub fn stop_all(
    service: &Arc<BackgroundService>,
    session: &str,
) -> impl Future<Output = StoppedRuns> + use<> {
    let hosted = service.registry.all(Some(session));
    let foreground = hosted.iter().filter(|live| live.is_foreground()).count();
    for live in &hosted {
        live.end(EndReason::Stopped);
    }
    let service = Arc::clone(service);
    let session = session.to_owned();
    async move {
        let mut background = hosted.len() - foreground;
        let mut unreachable = 0;
        for run in service.stored_runs(Some(session)).await {
            if run.is_live() && hosted.iter().all(|live| live.key() != run.key) {
                let is_asked = request(&service, &run, STOP, "").await.is_ok();
                background += usize::from(is_asked);
                unreachable += usize::from(!is_asked);
            }
        }
        // A run that takes longer is still being ended.
        let _ = timeout(STOP_TIMEOUT, service.registry.until_removed(&hosted)).await;
        StoppedRuns { foreground, background, unreachable }
    }
}

/// Moves the runs of waiting calls to the background: the runs of the call that waits for `run`, or of all calls of the
/// conversation. Returns the moved runs, and the reasons why the other calls keep waiting.
///
/// # Errors
///
/// If no call waits for the run.
pub async fn move_to_background(
    service: &Arc<BackgroundService>,
    session: &str,
    run: Option<&RunRecord>,
) -> Result<(Vec<RunRecord>, Vec<MoveError>), MoveError> {
    let calls: Vec<BackgroundMove> = match run {
        None => service
            .registry
            .all(Some(session))
            .iter()
            .filter_map(|live| live.background_move().cloned())
            .collect(),
        Some(run) if !run.is_live() => return Err(MoveError::Ended),
        Some(run) if !run.is_foreground => return Err(MoveError::InBackground),
        Some(run) => {
            let live = service.registry.get(&run.key);
            live.as_ref().and_then(|live| live.background_move().cloned()).into_iter().collect()
        }
    };
    let mut runs = Vec::new();
    let mut refused = Vec::new();
    for answer in calls.iter().map(BackgroundMove::request).collect::<Vec<_>>() {
        match answer.await {
            // A call is asked once for each of its runs.
            Ok(moved) => {
                for run in moved {
                    if runs.iter().all(|known: &RunRecord| known.key != run.key) {
                        runs.push(run);
                    }
                }
            }
            Err(why) => refused.push(why),
        }
    }
    refused.dedup();
    Ok((runs, refused))
}

/// Sends a message to a run. If the run has asked its conversation a question, the message is the answer. Otherwise a
/// working child gets it, and an ended run continues with it as the next prompt of its session. Its child may have booted
/// for the call with the id `host_id`.
///
/// # Errors
///
/// If the message cannot be sent.
pub async fn send(
    service: &Arc<BackgroundService>,
    run: &RunRecord,
    message: &str,
    scope: &ConversationScope,
    host_id: Option<&str>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Result<ActionOutcome, ActionError> {
    if !run.is_live() {
        return continue_with(service, run, Some(message), scope, host_id, callbacks).await;
    }
    let Some(live) = service.registry.get(&run.key) else {
        request(service, run, SEND, message).await?;
        return Ok(ActionOutcome::PassedOn);
    };
    if live.question.answer(message) {
        return Ok(ActionOutcome::Answered);
    }
    if live.control.steering.steer(message) {
        return Ok(ActionOutcome::Steered);
    }
    Err(if live.record().is_queued() { ActionError::Queued } else { ActionError::TakesNoMessages })
}

/// Continues an ended run in the session of its child.
///
/// # Errors
///
/// If the run cannot be continued.
pub async fn resume(
    service: &Arc<BackgroundService>,
    run: &RunRecord,
    message: Option<&str>,
    scope: &ConversationScope,
    callbacks: Arc<dyn HostCallbacks>,
) -> Result<ActionOutcome, ActionError> {
    continue_with(service, run, message, scope, None, callbacks).await
}

async fn continue_with(
    service: &Arc<BackgroundService>,
    run: &RunRecord,
    message: Option<&str>,
    scope: &ConversationScope,
    host_id: Option<&str>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Result<ActionOutcome, ActionError> {
    let mut run = run.clone();
    if message.is_some() || run.outcome == Some(RunOutcome::Completed) {
        // The answer to a message of a person is not the result of the run's task, which its workflow keeps.
        run.workflow = None;
    }
    // A person who continues a run gives it its budget anew, and waits for its result.
    let used_before = Used::default();
    continue_session(service, &run, (message, used_before), scope, host_id, callbacks).await
}

/// Continues an ended run in the session of its child. `used_before` counts towards the run's own budget.
async fn continue_session(
    service: &Arc<BackgroundService>,
    run: &RunRecord,
    (message, used_before): (Option<&str>, Used),
    scope: &ConversationScope,
    host_id: Option<&str>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Result<ActionOutcome, ActionError> {
    if run.is_live() {
        return try_quota(service, run, message);
    }
    if let Some(why) = run.lost_transcript() {
        return Err(ActionError::LostTranscript(why));
    }
    if run.archived_ms.is_some() {
        return Err(ActionError::Archived { run_id: run.run_id.clone() });
    }
    let settings = CallSettings::of(&run.cwd, &scope.context).await;
    let config = settings.loaded()?.config.clone();
    let Some(spec) = continuation(run, message, used_before, &scope.context) else {
        let agent = run.agent.clone();
        let cwd = run.cwd.clone();
        let context = Arc::clone(&scope.context);
        let why = blocking(move || cannot_continue(&agent, &cwd, &context, &config)).await;
        return Err(why.map_or(ActionError::NoTranscript, ActionError::Remote));
    };
    let mut record = resumed(run);
    let is_adopted = adopt(&mut record, scope).await;
    let live = Arc::new(LiveRun::new(record, config, &scope.ends_with));
    let id = SharedRunId::new(RunId::of_key(&run.key));
    let ready = prepare_with(settings, spec, id, &*callbacks, &live.control.cancel, None).await;
    let mut ready = ready.map_err(|result| ActionError::NotAdmitted(result.text))?;
    ready.is_charged_by_record = run.workflow.as_ref().is_some_and(|place| place.account.is_some());
    // Before the run is claimed, which forgets how it ended.
    if let Some(unmet) = ready.unmet() {
        return Err(unmet.clone().into());
    }
    if let Some(exceeded) = ready.over_budget().await {
        return Err(ActionError::OverBudget(exceeded));
    }
    if message.is_none() {
        // A person who resumes a run wants an attempt, even if the quota of its provider was used up.
        let _ = Queue::shared().try_quotas();
    }
    live.note_prepared(&ready);
    // Two resumptions at once, in one process or in two, would write into the same session.
    // Its end may be stored and shown, but not handed over yet.
    let hosted = service.registry.host_again(&live, max_runs(&live.config), STOP_TIMEOUT).await;
    let registration = hosted.map_err(|why| match why {
        NotHosted::AlreadyHosted => ActionError::NotEnded,
        NotHosted::TooMany => too_many(&live.config).into(),
    })?;
    let record = live.record();
    let ended_ms = run.ended_ms;
    if !service.blocking(move |service| service.store.claim(&record, ended_ms)).await {
        let key = run.key.clone();
        let stored = service.blocking(move |service| service.store.run(&key)).await;
        let is_archived = stored.is_some_and(|stored| stored.archived_ms.is_some());
        let run_id = run.run_id.clone();
        return Err(if is_archived { ActionError::Archived { run_id } } else { ActionError::ResumedSince });
    }
    service.invalidate(false);
    watch_others(service);
    // The host ends the unclaimed child of a call as soon as it has the answer.
    let early = match host_id {
        Some(host_id) => claim_all(host_id, 1).await.pop().flatten(),
        None => None,
    };
    let early = EarlyChildren::Claimed(early.map(Box::new));
    let service = Arc::clone(service);
    spawn_task(async move {
        Box::pin(drive(&service, registration, Ok(ready), (early, &CallOrder::now()), &*callbacks)).await;
    });
    Ok(if is_adopted { ActionOutcome::Adopted } else { ActionOutcome::Resumed })
}

/// Resumes an interrupted run after a restart of pi, because of `background.onRestart`. A run is resumed like this at most
/// twice, and all that it has used before counts towards its own budget.
///
/// # Errors
///
/// If the run cannot be resumed.
pub(super) async fn restart(
    service: &Arc<BackgroundService>,
    run: &RunRecord,
    scope: &ConversationScope,
    callbacks: Arc<dyn HostCallbacks>,
) -> Result<ActionOutcome, ActionError> {
    if !run.can_restart() {
        return Err(match run.outcome {
            Some(RunOutcome::Interrupted) if run.is_restarted_enough() => ActionError::RestartedEnough,
            Some(RunOutcome::Interrupted) if run.archived_ms.is_some() => {
                ActionError::Archived { run_id: run.run_id.clone() }
            }
            Some(RunOutcome::Interrupted) => ActionError::NoTranscript,
            _ => ActionError::NotInterrupted,
        });
    }
    tracing::info!(target: "run", run = %run.run_id, restarts = run.restarts, "an interrupted run is resumed");
    let run = RunRecord { restarts: run.restarts + 1, ..run.clone() };
    let used_before = Used::of(&run.progress.usage);
    continue_session(service, &run, (Some(RESTART_PROMPT), used_before), scope, None, callbacks).await
}

/// Lets a run that waits for its provider's quota try it now. All runs of the provider then follow the first that succeeds.
fn try_quota(
    service: &BackgroundService,
    run: &RunRecord,
    message: Option<&str>,
) -> Result<ActionOutcome, ActionError> {
    let live = service.registry.get(&run.key);
    let waits = live.is_some_and(|live| live.record().state == RunState::AwaitingQuota);
    match message {
        _ if !waits => Err(ActionError::NotEnded),
        Some(_) => Err(ActionError::AwaitsQuota),
        None => {
            let providers = Queue::shared().try_quotas();
            tracing::info!(target: "queue", ?providers, "a person lets a run try its provider's quota");
            Ok(ActionOutcome::TriesQuota)
        }
    }
}

/// Makes the conversation that resumes a run the receiver of the run's end. The runs of a workflow stay with the
/// conversation of the workflow, as long as it can be opened again. Returns true if the receiver is another one now.
async fn adopt(record: &mut RunRecord, scope: &ConversationScope) -> bool {
    let Some(here) = scope.context.session().filter(|here| **here != *record.session) else { return false };
    // A caller that keeps its conversations itself names no file.
    if record.session_file.is_none() {
        return false;
    }
    let asked = record.clone();
    if record.workflow.is_some() && blocking(move || asked.session_is_saved()).await {
        return false;
    }
    here.clone_into(&mut record.session);
    record.session_file.clone_from(&scope.context.host.session_file);
    true
}

/// The record of a run that starts again.
pub(super) fn resumed(run: &RunRecord) -> RunRecord {
    RunRecord {
        state: RunState::default(),
        outcome: None,
        error: None,
        started_ms: None,
        ended_ms: None,
        archive_at_ms: None,
        result: None,
        partial: None,
        structured: None,
        structured_file: None,
        notes: Vec::new(),
        caveats: Vec::new(),
        artifacts: Vec::new(),
        is_detached: false,
        spent_before: run.progress.usage.clone(),
        previous_run_ms: run.runtime(now_ms()).map_or(run.previous_run_ms, millis),
        times_resumed: run.times_resumed + 1,
        host_pid: Some(std::process::id()),
        is_in_process: true,
        // Its first result went to the call; this one is announced.
        is_foreground: false,
        ..run.clone()
    }
}

async fn request(
    service: &Arc<BackgroundService>,
    run: &RunRecord,
    action: &'static str,
    text: &str,
) -> Result<(), ActionError> {
    let key = run.key.clone();
    let text = text.to_owned();
    let is_sent = service.blocking(move |service| service.store.request(&key, action, &text)).await;
    is_sent.then_some(()).ok_or(ActionError::Unreachable)
}

/// Waits until a run of another process has ended.
async fn until_ended(service: &Arc<BackgroundService>, key: &str) {
    let mut changes = service.registry.changes();
    loop {
        let key = key.to_owned();
        let run = service.blocking(move |service| service.store.run(&key)).await;
        if run.is_none_or(|run| !run.is_live()) {
            return;
        }
        let _ = timeout(POLL_INTERVAL, changes.changed()).await;
    }
}
