//! Accepts a run: sends the receipt as soon as the decision is made, and does the rest in a separate task.

use std::sync::Arc;

use tokio::sync::{Notify, oneshot};

use super::plan::{SpawnPlan, plan};
use super::refusal::{max_runs, too_many};
use super::request::{Handoff, SpawnRequest};
use crate::orchestrate::CallOrder;
use crate::orchestrate::admission::EarlyChildren;
use crate::orchestrate::background::drive::drive;
use crate::orchestrate::background::live_run::{EndReason, LiveRun};
use crate::orchestrate::background::registry::Registration;
use crate::orchestrate::background::run_store::STOP;
use crate::orchestrate::background::service::BackgroundService;
use crate::orchestrate::background::watch::watch_others;
use crate::orchestrate::early::claim_all;
use crate::present::Receipt;
use crate::run::{
    AdmittedRun, ErrorCode, HostCallbacks, RunId, RunRecord, SharedRunId, ToolResult, blocking, look_up,
    prepare_with, spawn_task,
};
use agents::config::Config;
use supervisor::Cancel;

/// The note that the model reads after a run was accepted.
const NOTE: &str = "The result will arrive as a message when the run ends. Do not wait or poll for it; \
                    continue, or end your turn.";
/// The note that the model reads if the user must consent first.
const ASKED: &str = "The user is being asked whether this agent may run. The result, or the refusal, will arrive as a message. \
                     Do not wait or poll for it.";
const NO_STORE: &str = "a run that continues after pi has ended (`background.onExit` is `keep`) needs the \
                        store of runs, which cannot be used, as `/subagents doctor` says";

/// Accepts a run, or says why not. Never waits for a slot, a model or a person. If a person must be asked first, the
/// run is accepted, and its end reports the answer.
pub async fn spawn(
    service: &Arc<BackgroundService>,
    request: SpawnRequest,
    callbacks: Arc<dyn HostCallbacks>,
) -> Receipt {
    let hosted = service.registry.background_count();
    let ends_with = request.ends_with.clone().unwrap_or_default();
    let host_id = request.host_id.clone();
    let order = Arc::clone(&request.order);
    let model = match request.model.as_deref().map(str::trim).filter(|model| !model.is_empty()) {
        Some(asked) => look_up(asked, &*callbacks).await,
        None => None,
    };
    let plan = match blocking(move || plan(request, hosted, model.as_ref())).await {
        Ok(plan) => plan,
        Err(refused) => return *refused,
    };
    let (sender, receipt) = oneshot::channel();
    spawn_task(begin(Arc::clone(service), plan, ends_with, (host_id, order), callbacks, sender));
    receipt.await.unwrap_or_else(|_| Receipt::error("the run could not be started"))
}

/// Decides about a run, sends the receipt, and drives the run to its end.
async fn begin(
    service: Arc<BackgroundService>,
    SpawnPlan { spec, settings, config, record, warnings, handoff }: SpawnPlan,
    ends_with: Cancel,
    (host_id, order): (Option<String>, Arc<CallOrder>),
    callbacks: Arc<dyn HostCallbacks>,
    receipt: oneshot::Sender<Receipt>,
) {
    let live = Arc::new(LiveRun::new(record, config, &ends_with));
    let id = SharedRunId::new(RunId::of_key(&live.key()));
    let asked = Notify::new();
    let mut preparing =
        Box::pin(prepare_with(settings, spec, id, &*callbacks, &live.control.cancel, Some(&asked)));
    let prepared = tokio::select! {
        biased;
        () = asked.notified() => None,
        prepared = &mut preparing => Some(prepared),
    };
    // The caller may be gone. An accepted run continues.
    let reply = |answer| drop(receipt.send(answer));
    let accepted = |awaits_consent: bool, undo_note: Option<&str>| {
        let RunRecord { run_id, session_key, .. } = live.record();
        let warnings = warnings.into_iter().chain(undo_note.map(str::to_owned)).collect();
        let note = if awaits_consent { ASKED } else { NOTE }.to_owned();
        Receipt::Accepted { run_id, session_key, note, warnings, awaits_consent }
    };
    let mut early = None;
    let (registration, ready) = if let Some(prepared) = prepared {
        match accept(&service, &live, prepared, handoff).await {
            Ok((registration, ready)) => {
                // The host ends the unclaimed children of a call as soon as it has the receipt.
                if let Some(host_id) = host_id {
                    early = claim_all(&host_id, 1).await.pop().flatten();
                }
                reply(accepted(false, ready.resolved.undo_note));
                (registration, Ok(ready))
            }
            Err(answer) => {
                tracing::info!(
                    target: "agent", run = live.key(), ?answer,
                    "the background run does not start here"
                );
                return reply(answer);
            }
        }
    } else {
        let Some(registration) = host(&service, &live).await else {
            return reply(Receipt::forbidden(too_many(&live.config).to_string()));
        };
        reply(accepted(true, None));
        match after_consent(&service, &live, preparing.await, handoff).await {
            Some(ready) => (registration, ready),
            None => return,
        }
    };
    let early = EarlyChildren::Claimed(early.map(Box::new));
    Box::pin(drive(&service, registration, ready, (early, &order), &*callbacks)).await;
}

/// Accepts a run that was prepared without asking the user. Otherwise returns the answer: why it was refused, or that a
/// host process has it.
async fn accept(
    service: &Arc<BackgroundService>,
    live: &Arc<LiveRun>,
    prepared: Result<AdmittedRun, ToolResult>,
    handoff: Option<Handoff>,
) -> Result<(Registration, AdmittedRun), Receipt> {
    let ready = prepared.map_err(|result| refusal_of(&result))?;
    if let Some(unmet) = ready.unmet() {
        return Err(Receipt::error(unmet.to_string()));
    }
    if let Some(exceeded) = ready.over_budget().await {
        return Err(Receipt::forbidden(exceeded.to_string()));
    }
    if let Some(handoff) = handoff {
        if has_too_many(service, &live.config).await {
            return Err(Receipt::forbidden(too_many(&live.config).to_string()));
        }
        let answer = handoff.hand_over(&live.key()).await;
        tracing::info!(
            target: "run", run = live.key(), ?answer,
            "the run is handed to a detached host process"
        );
        if matches!(answer, Receipt::Accepted { .. }) {
            note_handed_over(service, live);
        }
        return Err(answer);
    }
    live.note_prepared(&ready);
    let Some(registration) = host(service, live).await else {
        return Err(Receipt::forbidden(too_many(&live.config).to_string()));
    };
    let key = live.key();
    let is_detached = live.record().is_detached;
    if is_detached && service.store.is_in_memory(&key) {
        // No other process could see the run, stop it, or deliver its result.
        service.store.forget(&key);
        return Err(Receipt::error(NO_STORE));
    }
    Ok((registration, ready))
}

/// Continues with an accepted run after the user has answered. `None`: a host process has it.
async fn after_consent(
    service: &Arc<BackgroundService>,
    live: &LiveRun,
    prepared: Result<AdmittedRun, ToolResult>,
    handoff: Option<Handoff>,
) -> Option<Result<AdmittedRun, ToolResult>> {
    let Ok(ready) = prepared else { return Some(prepared) };
    if let Some(handoff) = handoff {
        return match handoff.hand_over(&live.key()).await {
            Receipt::Accepted { .. } => {
                // The run belongs to the host process from now on, so a stop that came in the meantime is passed on to
                // it.
                if live.end_reason() == Some(EndReason::Stopped) {
                    let key = live.key();
                    service.blocking(move |service| service.store.request(&key, STOP, "")).await;
                }
                note_handed_over(service, live);
                None
            }
            Receipt::Forbidden { error } | Receipt::Error { error } => Some(Err(ready.not_started(&error))),
        };
    }
    live.note_prepared(&ready);
    Some(Ok(ready))
}

/// Hosts a run from now on, and stores it. `None`: there are too many runs.
async fn host(service: &Arc<BackgroundService>, live: &Arc<LiveRun>) -> Option<Registration> {
    let registration = service.registry.host(live, max_runs(&live.config)).ok()?;
    service.save(live).await;
    service.registry.notify();
    watch_others(service);
    Some(registration)
}

/// Returns true if all processes together already have as many live runs as one process may have.
async fn has_too_many(service: &Arc<BackgroundService>, config: &Config) -> bool {
    let max_runs = max_runs(config);
    service.blocking(move |service| service.store.count_live()).await >= max_runs
}

fn note_handed_over(service: &BackgroundService, live: &LiveRun) {
    let RunRecord { session, key, .. } = live.record();
    if let Some(view) = service.conversations.get(&session) {
        view.note_handed_over(key);
    }
    service.invalidate(false);
}

/// The receipt that says why a run was refused.
fn refusal_of(result: &ToolResult) -> Receipt {
    let error = result.details.error.as_ref();
    let message = error.map_or_else(|| result.text.clone(), |error| error.message.clone());
    let is_forbidden = error.is_some_and(|error| {
        matches!(
            error.code,
            ErrorCode::SubagentDisabled | ErrorCode::SubagentsDisabled | ErrorCode::SubagentDepthExceeded
        )
    });
    if is_forbidden { Receipt::forbidden(message) } else { Receipt::error(message) }
}
