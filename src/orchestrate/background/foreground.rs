//! Foreground runs: the runs that a call waits for. They are listed next to the background runs of their conversation:
//! people see them, read their transcripts, send them messages and stop them in the same way. They are stored when they
//! have ended, so that the conversation can continue them. They are not announced.
//!
//! A moved run continues unchanged, and is a background run from then on: it is stored, ends with its host instead of its call,
//! and its end is delivered. One lock decides whether the call or the conversation gets the end.

use std::sync::Arc;

use uuid::Uuid;

use super::drive::accompany;
use super::ending::{finish, finish_after_panic};
use super::live_run::{LiveRun, ResultOwner};
use super::question::ConversationCallbacks;
use super::registry::Registration;
use super::service::{BackgroundService, background};
use super::spawn::{SpawnRefusal, max_runs, refusal, too_many};
use super::watch::watch_others;
use super::workflow::note_ended;
use crate::orchestrate::CallOrder;
use crate::orchestrate::admission::{Admission, EarlyChildren, Queued};
use crate::orchestrate::background_move::MoveError;
use crate::orchestrate::call::Call;
use crate::run::{
    AdmittedRun, Control, HostCallbacks, HostContext, Progress, RunOutcome, RunRecord, RunState, ToolResult,
    blocking, find_agents, is_allowed,
};
use agents::config::OnExit;
use sanitizer::figures::millis;
use store::now_ms;
use supervisor::Cancel;

/// The note of a run that starts again because it cannot continue.
const STARTED_AGAIN: &str =
    "the process of this run had ended, and its session cannot be continued; the run started again";
/// The note of a run whose end could not be stored.
const NOT_KEPT: &str = "the result is not kept for the workflow: the store of runs could not be written";
/// The notice of a moved run if `background.onExit` is `store_ended`.
const NOT_DETACHED: &str =
    "it still ends with this pi: `background.onExit` applies to runs that start in the background";

/// A run that a call waits for, until it is moved to the background. It leaves the list when it has ended, or is dropped.
pub(crate) struct ForegroundRun {
    service: Arc<BackgroundService>,
    registration: Registration,
    context: Arc<HostContext>,
}

/// Runs it as soon as it is admitted. `listed` is its entry in the list of runs, if its call belongs to a conversation.
/// `show` gets its progress.
pub(crate) async fn run_listed(
    listed: Option<Arc<ForegroundRun>>,
    queued: Queued,
    ready: AdmittedRun,
    callbacks: &dyn HostCallbacks,
    control: &Control,
    show: &mut (dyn FnMut(Progress) + Send),
) -> ToolResult {
    let Some(run) = listed else { return queued.run(ready, callbacks, control, show).await };
    let mut result = run.work(queued, ready, callbacks, show).await;
    if run.end(&mut result).await == ResultOwner::Conversation {
        run.deliver(&result).await;
    }
    result
}

/// Works like [`run_listed`] for a run with a key in a workflow. If the run continues an earlier one and its session cannot be
/// opened, `from_start` runs.
pub(crate) async fn run_keyed(
    run: &ForegroundRun,
    queued: Queued,
    ready: AdmittedRun,
    from_start: Option<AdmittedRun>,
    callbacks: &dyn HostCallbacks,
    control: &Control,
    show: &mut (dyn FnMut(Progress) + Send),
) -> ToolResult {
    let mut result = run.work(queued, ready, callbacks, show).await;
    if let Some(mut ready) = from_start.filter(|_| could_not_start(&result)) {
        ready.note(STARTED_AGAIN.to_owned());
        run.live().change(|record| (record.transcript, record.directory) = (None, None));
        let order = CallOrder::now();
        let admission = Admission { early: EarlyChildren::Claimed(None), group: None, order: &order };
        let queued = admission.enter_one(&ready, &control.cancel).await;
        result = run.work(queued, ready, callbacks, show).await;
    }
    if run.end(&mut result).await == ResultOwner::Conversation {
        run.deliver(&result).await;
    }
    // Only now: a live run counts with its tokens so far.
    note_ended(&run.service, &run.live().record());
    result
}

/// Returns true if a run has failed before it had a child.
fn could_not_start(result: &ToolResult) -> bool {
    let single = result.details.results.first();
    single.is_some_and(|single| single.outcome == RunOutcome::Failed && single.attempts == 0)
}

impl Drop for ForegroundRun {
    fn drop(&mut self) {
        finish_after_panic(&self.service, self.live());
    }
}

impl ForegroundRun {
    /// Lists a run of a call that belongs to a conversation.
    pub(crate) async fn list(ready: &AdmittedRun, call: &Call) -> Option<Arc<Self>> {
        let record = record_of(ready, ready.spec.context.session()?.to_owned());
        Some(Self::list_as(record, ready, call).await)
    }

    /// Lists a run of a call under a record.
    pub(crate) async fn list_as(record: RunRecord, ready: &AdmittedRun, call: &Call) -> Arc<Self> {
        let agent_dir = ready.spec.context.agent_dir.clone();
        let service = blocking(move || background(&agent_dir)).await;
        let live = LiveRun::of_call(record, ready.resolved.config.clone(), call);
        live.note_prepared(ready);
        let registration = service.registry.list(&Arc::new(live));
        service.registry.notify();
        if registration.live.record().workflow.is_some() {
            watch_others(&service);
        }
        Arc::new(Self { service, registration, context: Arc::clone(&ready.spec.context) })
    }

    fn live(&self) -> &Arc<LiveRun> {
        &self.registration.live
    }

    /// Runs it as soon as it is admitted. [`Self::end`] then decides who gets its result.
    pub(crate) async fn work(
        &self,
        queued: Queued,
        ready: AdmittedRun,
        callbacks: &dyn HostCallbacks,
        show: &mut (dyn FnMut(Progress) + Send),
    ) -> ToolResult {
        let live = self.live();
        let id = ready.id().clone();
        let mut listed = |progress: Progress| {
            live.update(&progress);
            // A run that was moved to the background keeps the id of its receipt.
            if live.is_foreground() {
                live.change(|run| run.run_id = id.get().into());
            }
            self.service.registry.notify();
            show(progress);
        };
        // Once it is moved to the background, its conversation is asked.
        let callbacks = &ConversationCallbacks { service: &self.service, live, host: callbacks };
        let work = Box::pin(queued.run(ready, callbacks, &live.control, &mut listed));
        accompany(&self.service, live, work).await
    }

    /// Decides who gets the end of the run. The call gets it at once. If the conversation gets it, the caller must
    /// [deliver](Self::deliver) it, for a chain after the remaining steps.
    pub(crate) async fn end(&self, result: &mut ToolResult) -> ResultOwner {
        let live = self.live();
        let _deciding = live.deciding.lock().await;
        let owner = *live.owner.borrow();
        if owner == ResultOwner::Call {
            live.owner.send_replace(ResultOwner::NoOne);
            let run_id = self.store_ended(result).await;
            let record = live.record();
            // The card and the lists show the same duration.
            let lasted = record.ended_ms.zip(record.started_ms).filter(|_| run_id.is_some());
            let lasted = lasted.and_then(|(ended, started)| u64::try_from(ended - started).ok());
            // A run in memory has lost its key.
            let is_lost = record.workflow.is_some() && self.service.store.is_in_memory(&live.key());
            for single in &mut result.details.results {
                single.run_id.clone_from(&run_id);
                single.duration_ms = lasted.unwrap_or(single.duration_ms);
                if is_lost && single.outcome == RunOutcome::Completed {
                    single.diagnostics.push(NOT_KEPT.to_owned());
                }
            }
            self.service.registry.remove(live);
            return ResultOwner::Call;
        }
        for single in &result.details.results {
            live.change(|run| {
                run.progress.context = single.context.or(run.progress.context);
                run.note_used(&single.usage, single.resources.as_ref());
            });
        }
        owner
    }

    /// Delivers the end of a moved run to its conversation.
    pub(crate) async fn deliver(&self, result: &ToolResult) {
        finish(&self.service, self.live(), result).await;
    }

    /// Continues with the next step of a chain that was moved to the background, under the same key.
    pub(crate) async fn continue_with(&self, step: &AdmittedRun, label: String) {
        self.live().note_prepared(step);
        self.live().change(|run| {
            run.agent.clone_from(&step.resolved.agent.name);
            run.task = step.shown_task();
            run.cwd.clone_from(&step.spec.cwd);
            run.call_timeout_ms = step.resolved.timeout.map(millis);
            run.label = Some(label);
            run.spent_before = run.progress.usage.clone();
            run.state = RunState::default();
            run.progress.clear_transient();
            // The artifacts of the previous step belong to another agent.
            (run.transcript, run.directory) = (None, None);
        });
        self.service.save(self.live()).await;
        self.service.registry.notify();
    }

    /// Returns the token whose cancellation ends it.
    pub(crate) fn cancel(&self) -> &Cancel {
        self.live().cancel()
    }

    /// Returns the reason why it may not continue in the background, or why `others`, the agents of the following steps, may not.
    /// `before_it` is the number of runs that are moved before this one.
    pub(crate) async fn refusal(&self, others: &[String], before_it: usize) -> Option<SpawnRefusal> {
        let hosted = self.service.registry.background_count() + before_it;
        let live = Arc::clone(self.live());
        let context = Arc::clone(&self.context);
        let RunRecord { agent, cwd, .. } = live.record();
        let agents = [&[agent], others].concat();
        let check = move || {
            let config = &live.config;
            let catalog = find_agents(&cwd, &context, config);
            agents
                .iter()
                .find_map(|agent| refusal(config, agent, is_allowed(config, &catalog, agent), hosted))
        };
        blocking(check).await
    }

    /// Makes it a background run, which is stored when this returns.
    ///
    /// # Errors
    ///
    /// With the reason why its call keeps waiting.
    pub(crate) async fn move_to_background(&self, label: Option<String>) -> Result<RunRecord, MoveError> {
        let live = self.live();
        let config = &live.config;
        let _deciding = live.deciding.lock().await;
        let owner = *live.owner.borrow();
        match owner {
            ResultOwner::Conversation => return Ok(live.record()),
            ResultOwner::NoOne => return Err(MoveError::Ended),
            ResultOwner::Call if live.is_ending() => return Err(MoveError::Ending),
            ResultOwner::Call => {}
        }
        // From here on the end of the call does not end the run.
        let change = |run: &mut RunRecord| {
            run.label = label;
            if config.background.on_exit == OnExit::Keep {
                run.notes = vec![NOT_DETACHED.to_owned()];
            }
        };
        if !self.service.registry.move_to_background(live, max_runs(config), change) {
            return Err(too_many(config).into());
        }
        self.service.save(live).await;
        let key = live.key();
        if self.service.store.is_in_memory(&key) {
            self.service.store.forget(&key);
            live.change(|run| run.is_foreground = true);
            return Err(MoveError::NoStore);
        }
        live.owner.send_replace(ResultOwner::Conversation);
        self.service.invalidate(false);
        watch_others(&self.service);
        Ok(live.record())
    }

    /// Stores a run that has begun and returns its id, which finds the run from now on.
    async fn store_ended(&self, result: &ToolResult) -> Option<String> {
        let live = self.live();
        if result.details.results.first()?.session_file.is_none() && live.record().workflow.is_none() {
            // A run that never began has done nothing, so no one looks for it.
            live.record().started_ms?;
        }
        finish(&self.service, live, result).await;
        Some(live.record().run_id)
    }
}

/// Returns the record of a run that a call of a session is about to start.
pub(super) fn record_of(ready: &AdmittedRun, session: String) -> RunRecord {
    let key = Uuid::new_v4().to_string();
    RunRecord {
        session_key: RunRecord::session_key(&ready.resolved.agent.name, &key),
        key,
        run_id: ready.id().get().into(),
        session,
        session_file: ready.spec.context.host.session_file.clone(),
        agent: ready.resolved.agent.name.clone(),
        task: ready.shown_task(),
        cwd: ready.spec.cwd.clone(),
        call_timeout_ms: ready.resolved.timeout.map(millis),
        output_schema: ready.spec.overrides.output_schema.clone(),
        created_ms: now_ms(),
        host_pid: Some(std::process::id()),
        is_in_process: true,
        is_foreground: true,
        ..RunRecord::default()
    }
}
