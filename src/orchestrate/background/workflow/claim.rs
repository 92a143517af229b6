//! The decision about a call with a key: it gets the stored result, waits for the run of another call, continues an interrupted
//! run, or runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::time::sleep;

use super::open::{OpenWorkflow, find};
use super::record::{KeptResult, RAN_AGAIN, WorkflowRecord, expiry};
use super::sharing::{Joined, Lead, Part, enter};
use crate::orchestrate::background::actions::resumed;
use crate::orchestrate::background::ending::adopt_orphan;
use crate::orchestrate::background::foreground::record_of;
use crate::orchestrate::background::run_store::WorkflowStoreError;
use crate::orchestrate::background::service::{BackgroundService, background};
use crate::orchestrate::call::Call;
use crate::run::{
    AdmittedRun, CallError, ErrorCode, Progress, Resumption, RunDetails, RunOutcome, RunRecord, TaskProgress,
    ToolResult, Used, WorkflowRun, blocking, is_idle, is_unlocked,
};
use crate::transcript::{Wanted, read_transcript};
use agents::config::Config;
use files::canonical;
use sanitizer::quoted;
use store::{HostProcess, NamedRun, StoredWorkflow, now_ms, workflow_account};
use supervisor::CancelReason;

/// The pause between two looks at a key that another process works on, or whose run cannot be changed.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The longest wait for the end of a child whose process has died. Its warden kills it within milliseconds.
const CHILD_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two looks at it.
const CHILD_INTERVAL: Duration = Duration::from_millis(20);

/// The prompt of a run that continues.
const CONTINUE_PROMPT: &str = "The process that you worked for ended before you had finished, and was started again. Your work so far is in this \
                               session, and files are as you left them. Continue with your task where you left off, and finish it.";
/// The note of such a run.
const CONTINUED: &str = "the process of this run had ended; the run continued in its session";
/// The reason of a run that replaces one whose result is not complete.
const FILES_REMOVED: &str = "files of its stored result were removed";

/// The decision about a call with a key.
pub(crate) enum Claimed {
    /// The call has its result already.
    Result(Box<ToolResult>),
    /// The call runs.
    Run(Box<KeyedRun>),
}

/// A run that works on a key.
pub(crate) struct KeyedRun {
    /// The run, ready to start.
    pub ready: AdmittedRun,
    /// Its record, which is stored. `None`: the store cannot be used.
    pub record: Option<RunRecord>,
    /// If the run continues an earlier one: the same run from its start.
    pub from_start: Option<AdmittedRun>,
    /// The right to work on the key.
    pub lead: Lead,
}

/// Makes the decision about a call with a key. Waits as long as another call works on the key.
pub(crate) async fn claim(ready: AdmittedRun, mut place: WorkflowRun, call: &Call) -> Claimed {
    if place.project.as_os_str().is_empty() {
        let host = &ready.spec.context.host;
        place.project.clone_from(host.cwd.as_ref().unwrap_or(&ready.spec.cwd));
    }
    let project = place.project.clone();
    place.project = blocking(move || canonical(&project)).await;
    place.digest = ready.digest();
    place.account = ready.spec.context.account().map(str::to_owned);
    let agent_dir = ready.spec.context.agent_dir.clone();
    let service = blocking(move || background(&agent_dir)).await;
    let key = (service.store.agent_dir.clone(), place.workflow_key(), place.key.clone());
    loop {
        match enter(&key, &place.digest, call.updates.subscribe()) {
            Part::Leads(lead) => return Box::pin(work(&service, ready, place, call, lead)).await,
            Part::Conflicts => return Claimed::Result(Box::new(conflict(&place, call))),
            Part::Joins(joined) => match join(joined, &ready, call).await {
                // The other call was aborted, or has ended without a result. This one was not.
                None => {}
                Some(result) => return Claimed::Result(Box::new(result)),
            },
        }
    }
}

/// Waits for the result of another call of this process, and shows its updates. `None`: this call has to work itself.
async fn join(mut joined: Joined, ready: &AdmittedRun, call: &Call) -> Option<ToolResult> {
    let mut shows = true;
    loop {
        select! {
            biased;
            reason = call.control.cancel.cancelled() => return Some(ready.clone().aborted(&reason)),
            ended = joined.result.wait_for(Option::is_some) => {
                let result = ended.ok()?.clone()?;
                let outcome = result.details.results.first().map(|single| single.outcome);
                return (outcome != Some(RunOutcome::Aborted)).then_some(result);
            }
            changed = joined.updates.changed(), if shows => {
                shows = changed.is_ok();
                let update = joined.updates.borrow_and_update().clone();
                call.updates.send_replace(update);
            }
        }
    }
}

/// Decides for the call that works on a key.
async fn work(
    service: &Arc<BackgroundService>,
    ready: AdmittedRun,
    mut place: WorkflowRun,
    call: &Call,
    lead: Lead,
) -> Claimed {
    let open = find(service, &place.workflow_key());
    if place.phase.is_none() {
        place.phase = open.as_ref().and_then(|open| open.phase());
    }
    let mut is_shown = false;
    let mut is_admitted = false;
    let mut was_adopted = false;
    loop {
        let (workflow, key) = (place.workflow_key(), place.key.clone());
        let known = match service.blocking(move |service| service.store.named_run(&workflow, &key)).await {
            Ok(known) => known,
            Err(problem) => {
                return match admit(open.as_ref(), &mut is_admitted) {
                    Ok(()) => unstored(ready, &problem, lead),
                    Err(reason) => Claimed::Result(Box::new(ready.aborted(&reason))),
                };
            }
        };
        let mut note = None;
        if let Some((run, named)) = &known {
            let is_same = named.digest == place.digest;
            if is_same && let Some(kept) = named.result.clone() {
                let stored = run.clone();
                if let Some(result) = blocking(move || KeptResult::read(&kept, &stored)).await {
                    tracing::info!(target: "run", run = run.run_id, key = place.key, "a stored result is reused");
                    touch(service, &place, &ready.resolved.config).await;
                    lead.finish(&result);
                    return Claimed::Result(Box::new(result));
                }
                note = Some(FILES_REMOVED.to_owned());
            }
            if !is_same {
                note = Some(changes(run, &ready));
            }
            match named.host {
                HostProcess::Dead => {
                    // Its end could not be stored a moment ago.
                    if std::mem::replace(&mut was_adopted, true)
                        && let Err(reason) = pause(call).await
                    {
                        return Claimed::Result(Box::new(ready.aborted(&reason)));
                    }
                    let process = named.run.process.clone().unwrap_or_default();
                    let context = Arc::clone(&ready.spec.context);
                    adopt_orphan(service, run.clone(), process, context).await;
                    continue;
                }
                // A run whose task has ended without an end has no entry, and belongs to no call.
                HostProcess::This if service.registry.get(&run.key).is_none() => {}
                HostProcess::None => {}
                HostProcess::This | HostProcess::Other => {
                    if !std::mem::replace(&mut is_shown, true) {
                        show_wait(call, &place, run);
                    }
                    if let Err(reason) = pause(call).await {
                        return Claimed::Result(Box::new(ready.aborted(&reason)));
                    }
                    continue;
                }
            }
        }
        if let Err(reason) = admit(open.as_ref(), &mut is_admitted) {
            return Claimed::Result(Box::new(ready.aborted(&reason)));
        }
        match begin(service, ready.clone(), &place, known, note).await {
            // Another process was first.
            Ok(None) => {
                if let Err(reason) = pause(call).await {
                    return Claimed::Result(Box::new(ready.aborted(&reason)));
                }
            }
            Ok(Some(Begun { ready, record, from_start })) => {
                return Claimed::Run(Box::new(KeyedRun { ready, record: Some(record), from_start, lead }));
            }
            Err(problem) => return unstored(ready, &problem, lead),
        }
    }
}

/// Counts a run that is about to start for its workflow, once. Returns the reason if the run may not start.
fn admit(open: Option<&Arc<OpenWorkflow>>, is_admitted: &mut bool) -> Result<(), CancelReason> {
    match open {
        Some(open) if !std::mem::replace(is_admitted, true) => open.admit(),
        _ => Ok(()),
    }
}

/// Waits before the next look at the key. Returns the reason if the call is aborted.
async fn pause(call: &Call) -> Result<(), CancelReason> {
    select! {
        biased;
        reason = call.control.cancel.cancelled() => Err(reason),
        () = sleep(POLL_INTERVAL) => Ok(()),
    }
}

/// A run whose record is stored.
struct Begun {
    ready: AdmittedRun,
    record: RunRecord,
    from_start: Option<AdmittedRun>,
}

/// Stores the run that works on a key: an interrupted run that continues, or a new run. `None`: another process was first.
async fn begin(
    service: &Arc<BackgroundService>,
    mut ready: AdmittedRun,
    place: &WorkflowRun,
    known: Option<(RunRecord, NamedRun)>,
    note: Option<String>,
) -> Result<Option<Begun>, WorkflowStoreError> {
    let shown = note.as_ref().map(|note| format!("key {}: {note}{RAN_AGAIN}", quoted(&place.key)));
    ready.builder.diagnostics.extend(shown);
    let mut from_start = None;
    let interrupted = known.as_ref().map(|(run, _)| run).filter(|run| {
        note.is_none() && run.outcome == Some(RunOutcome::Interrupted) && run.archived_ms.is_none()
    });
    let mut record = None;
    if let Some(run) = interrupted
        && let (Some(session), Some(directory)) = (&run.transcript, &run.directory)
        && until_idle(directory.clone()).await
        && knows_task(session.clone(), &ready).await
    {
        from_start = Some(ready.clone());
        let resumption =
            Resumption { run_id: run.run_id.clone(), directory: directory.clone(), session: session.clone() };
        ready.continue_session(resumption, CONTINUE_PROMPT, Used::of(&run.progress.usage));
        ready.note(CONTINUED.to_owned());
        record = Some(RunRecord { is_foreground: true, ..resumed(run) });
    }
    let mut record = record.unwrap_or_else(|| {
        let session = ready.spec.context.session().map(str::to_owned);
        record_of(&ready, session.unwrap_or_else(|| workflow_account(&place.workflow_key())))
    });
    record.workflow = Some(place.clone());
    for ready in std::iter::once(&mut ready).chain(&mut from_start) {
        ready.is_charged_by_record = true;
    }
    let workflow = stored_workflow(place, &ready.resolved.config);
    let (stored, place) = (record.clone(), place.clone());
    let known = known.map(|(_, named)| named);
    let claim = move |service: &BackgroundService| {
        service.store.claim_key(&stored, &place, known.as_ref(), &workflow)
    };
    let is_claimed = service.blocking(claim).await?;
    Ok(is_claimed.then_some(Begun { ready, record, from_start }))
}

/// Names the parts of a request that differ from its last run, as far as the record of that run has them.
fn changes(run: &RunRecord, ready: &AdmittedRun) -> String {
    let now = record_of(ready, String::new());
    let is_other_thinking = run.thinking.is_some() && run.thinking != ready.resolved.thinking;
    let parts = [
        (run.agent != now.agent, "agent"),
        (run.task != now.task, "task"),
        (run.output_schema != now.output_schema, "schema"),
        (run.cwd != now.cwd, "working directory"),
        (is_other_thinking, "thinking level"),
    ];
    let parts: Vec<_> = parts.into_iter().filter_map(|(is_other, name)| is_other.then_some(name)).collect();
    match &parts[..] {
        [] => "its request has changed since its last run (its agent's file, its model, its thinking level or the end of a \
               long task)"
            .to_owned(),
        [part] => format!("its {part} has changed since its last run"),
        [parts @ .., last] => format!("its {} and {last} have changed since its last run", parts.join(", ")),
    }
}

/// Waits until no process works in the directory of a run any more. `false`: one still does. Files that a killed warden has left
/// stay, and only the lock counts then.
async fn until_idle(directory: PathBuf) -> bool {
    let since = Instant::now();
    loop {
        let place = directory.clone();
        let is_late = since.elapsed() >= CHILD_TIMEOUT;
        let check: fn(&Path) -> bool = if is_late { is_unlocked } else { is_idle };
        if blocking(move || check(&place)).await {
            return true;
        }
        if is_late {
            return false;
        }
        sleep(CHILD_INTERVAL).await;
    }
}

/// Returns true if a child has written its task into its session. pi writes it with the first answer, and a child that continues
/// an empty session would not know what to do.
async fn knows_task(session: PathBuf, ready: &AdmittedRun) -> bool {
    let sanitizer = Arc::clone(&ready.builder.sanitizer);
    let newest = Wanted { entries: 1, tools: true, skip: 0 };
    blocking(move || read_transcript(&session, newest, &sanitizer))
        .await
        .is_ok_and(|transcript| !transcript.entries.is_empty())
}

/// A run whose result cannot be kept.
fn unstored(mut ready: AdmittedRun, problem: &WorkflowStoreError, lead: Lead) -> Claimed {
    ready.note(format!("the result is not kept for the workflow: {problem}"));
    Claimed::Run(Box::new(KeyedRun { ready, record: None, from_start: None, lead }))
}

/// The row of a workflow that no process hosts, because its runs come one by one.
fn stored_workflow(place: &WorkflowRun, config: &Config) -> StoredWorkflow {
    let now = now_ms();
    StoredWorkflow {
        key: place.workflow_key(),
        started_ms: now,
        expires_ms: expiry(now, config),
        body: WorkflowRecord::of_runs(place, now).to_json(),
        ..StoredWorkflow::default()
    }
}

/// Keeps a workflow for another period.
async fn touch(service: &Arc<BackgroundService>, place: &WorkflowRun, config: &Config) {
    let (key, expires_ms) = (place.workflow_key(), expiry(now_ms(), config));
    let touch = move |service: &BackgroundService| {
        // A failure only removes the workflow earlier.
        service.store.workflows().map(|store| drop(store.touch_workflow(&key, expires_ms)))
    };
    let _ = service.blocking(touch).await;
}

/// Shows that another process works on the key.
fn show_wait(call: &Call, place: &WorkflowRun, run: &RunRecord) {
    let text = format!(
        "(waits for run {} of another process, which has the key {}...)",
        run.run_id,
        quoted(&place.key)
    );
    let progress = Progress { blocked_by: Some(run.run_id.as_str().into()), ..Progress::default() };
    let details =
        RunDetails { streaming: Some(TaskProgress::of_call(progress)), ..RunDetails::single(&call.id.get()) };
    call.updates.send_replace(Some(ToolResult { text, is_error: false, usage: None, details }));
}

/// The result of a call whose key is used for another task at the same time.
fn conflict(place: &WorkflowRun, call: &Call) -> ToolResult {
    let message = format!(
        "key {} of workflow {} has another agent or task in a call that has not ended: give each task its own key",
        quoted(&place.key),
        quoted(&place.id),
    );
    let error = CallError { code: ErrorCode::InvalidInput, message: message.clone() };
    let details = RunDetails { error: Some(error), ..RunDetails::single(&call.id.get()) };
    ToolResult { text: message, is_error: true, usage: None, details }
}
