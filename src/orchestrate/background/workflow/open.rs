//! Workflows whose scripts run in this process.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::sleep;

use super::record::{WorkflowLimits, WorkflowRecord, expiry};
use crate::orchestrate::background::ending::adopt_orphan;
use crate::orchestrate::background::live_run::{EndReason, LiveRun};
use crate::orchestrate::background::run_store::WorkflowStoreError;
use crate::orchestrate::background::service::{BackgroundService, background};
use crate::run::{
    HostContext, RunRecord, WorkflowState, blocking, charge_others, forget_account, load_config, spawn_task,
    workflow_key,
};
use agents::config::Config;
use files::canonical;
use sanitizer::{floor_char_boundary, quoted};
use store::{HostProcess, NamedRun, Store, StoreError, StoredWorkflow, now_ms, workflow_account};
use supervisor::{Cancel, CancelReason};

/// The pause between two looks for a request to stop, and for tokens above the limit.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The default limit of the runs that start in one execution of a workflow.
const MAX_RUNS: u64 = 100;
/// The maximum number of phases that are kept. A script that counts its phases would fill the record.
const MAX_PHASES: usize = 256;
/// The longest name of a phase that is kept, in bytes.
const MAX_PHASE_BYTES: usize = 512;
/// The longest error of a script that is kept, in bytes.
const MAX_ERROR_BYTES: usize = 4096;

/// The workflows that are open in this process, by agent directory and key.
static OPEN: LazyLock<Mutex<Open>> = LazyLock::new(Mutex::default);

/// Workflows by agent directory and key.
type Open = HashMap<(PathBuf, String), Arc<OpenWorkflow>>;

/// The workflows that this process is opening. Two calls that open one workflow at once must not both succeed.
static OPENING: LazyLock<Mutex<HashSet<(PathBuf, String)>>> = LazyLock::new(Mutex::default);

/// The right to open a workflow.
struct Opening((PathBuf, String));

impl Opening {
    /// `None`: another call of this process is opening it.
    fn enter(place: (PathBuf, String)) -> Option<Self> {
        OPENING.lock().insert(place.clone()).then(|| Self(place))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        OPENING.lock().remove(&self.0);
    }
}

/// Stores a workflow.
type Put = fn(&Store, &StoredWorkflow) -> Result<bool, StoreError>;

/// A request to open a workflow.
#[derive(Clone, Debug, Default)]
pub struct WorkflowRequest {
    /// Its id, which is unique in its project.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// The file of its script.
    pub file: Option<PathBuf>,
    /// The id of the workflow that starts it.
    pub parent: Option<String>,
    /// Its limits.
    pub limits: WorkflowLimits,
}

/// The reason why a workflow cannot be opened or changed.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// It is open.
    #[error("workflow {} already runs in {where_}", quoted(id))]
    Runs {
        /// Its id.
        id: String,
        /// The process that hosts it.
        where_: String,
    },
    /// The store of runs fails.
    #[error("workflow {} cannot keep its results: {source}", quoted(id))]
    NoStore {
        /// Its id.
        id: String,
        /// The reason.
        source: WorkflowStoreError,
    },
    /// The configuration is not valid.
    #[error("{0}")]
    Config(String),
}

/// A workflow whose script runs in this process.
pub struct OpenWorkflow {
    service: Arc<BackgroundService>,
    key: String,
    config: Config,
    /// Cancelled when a person stops it.
    stop: Cancel,
    /// Cancelled when it is no longer open.
    closed: Cancel,
    state: Mutex<State>,
    /// Held during each write to the store.
    writing: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct State {
    record: WorkflowRecord,
    /// The runs that have started since it was opened.
    started: u64,
    /// The tokens of runs that have ended.
    tokens: u64,
    is_changed: bool,
}

/// Opens a workflow of a project: its script begins, or begins again after its process has ended. Runs of a dead process become
/// interrupted first, so that their cost counts.
///
/// # Errors
///
/// If another script with this id runs, or if the store cannot be used.
pub async fn open_workflow(
    cwd: &Path,
    context: &Arc<HostContext>,
    request: WorkflowRequest,
) -> Result<Arc<OpenWorkflow>, WorkflowError> {
    let project = cwd.to_owned();
    let (dir, load) = (context.agent_dir.clone(), Arc::clone(context));
    let (service, project, loaded) = blocking(move || {
        let loaded = load_config(&project, &load);
        (background(&dir), canonical(&project), loaded)
    })
    .await;
    let config = loaded.map_err(|refusal| WorkflowError::Config(refusal.to_string()))?.config;
    let key = workflow_key(&project, &request.id);
    let id = request.id.clone();
    let Some(_opening) = Opening::enter(place(&service, &key)) else {
        return Err(WorkflowError::Runs { id, where_: "this process".to_owned() });
    };
    let failed = |source| WorkflowError::NoStore { id: id.clone(), source };
    for (run, process) in orphans(&service, &key).await.map_err(failed)? {
        adopt_orphan(&service, run, process, Arc::clone(context)).await;
    }
    let account = workflow_account(&key);
    let (at, own) = (key.clone(), account.clone());
    let read = move |service: &BackgroundService| {
        let store = service.store.workflows()?;
        let known = store.workflow(&at)?;
        let cost = store.spent(&own).unwrap_or_default();
        let tokens = tokens_with_inner(&store, &at)?;
        Ok((known, cost, tokens))
    };
    let (known, cost, tokens) = service.blocking(read).await.map_err(failed)?;
    if let Some((row, host @ (HostProcess::This | HostProcess::Other))) = &known {
        // An entry of this process without a handle was dropped.
        let is_open = *host == HostProcess::Other || find(&service, &key).is_some();
        if is_open {
            return Err(WorkflowError::Runs { id, where_: where_of(*host, &read_record(row)) });
        }
    }
    if known.is_none() {
        // It is new, or it was removed together with its spending.
        forget_account(&account);
    } else {
        charge_others(&account, cost);
    }
    let before = known.as_ref().map(|(row, _)| read_record(row)).unwrap_or_default();
    let now = now_ms();
    let WorkflowRequest { id, name, file, parent, mut limits } = request;
    limits.max_runs.get_or_insert(MAX_RUNS);
    let record = WorkflowRecord {
        id,
        name,
        project,
        file,
        parent,
        state: WorkflowState::Running,
        started_ms: if before.started_ms > 0 { before.started_ms } else { now },
        starts: before.starts + 1,
        limits,
        account,
        cost,
        tokens,
        host_pid: Some(std::process::id()),
        ..WorkflowRecord::default()
    };
    let state = State { tokens: record.tokens, record, ..State::default() };
    let opened = Arc::new(OpenWorkflow {
        service,
        key: key.clone(),
        config,
        stop: Cancel::new(),
        closed: Cancel::new(),
        state: Mutex::new(state),
        writing: Arc::default(),
    });
    if !opened.save(Store::open_workflow).await.map_err(failed)? {
        let id = opened.state.lock().record.id.clone();
        return Err(WorkflowError::Runs { id, where_: "another process".to_owned() });
    }
    OPEN.lock().insert(place(&opened.service, &key), Arc::clone(&opened));
    spawn_task(watch(Arc::clone(&opened)));
    Ok(opened)
}

impl OpenWorkflow {
    /// Its key in the store.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The account of its runs.
    #[must_use]
    pub fn account(&self) -> String {
        workflow_account(&self.key)
    }

    /// Waits until a person stops it. `false`: it is closed, and no one has stopped it.
    pub async fn stopped(&self) -> bool {
        tokio::select! {
            biased;
            _ = self.stop.cancelled() => true,
            _ = self.closed.cancelled() => false,
        }
    }

    /// Enters a phase. Runs that start from now on belong to it.
    pub fn enter_phase(&self, name: &str) {
        let mut state = self.state.lock();
        let State { record, is_changed, .. } = &mut *state;
        let name = clipped(name, MAX_PHASE_BYTES);
        if record.phases.len() < MAX_PHASES && record.phases.iter().all(|known| known != name) {
            record.phases.push(name.to_owned());
        }
        record.phase = Some(name.to_owned());
        *is_changed = true;
    }

    /// Ends it. Its results are kept.
    ///
    /// # Errors
    ///
    /// If its end cannot be stored. It then counts as interrupted once its process has ended.
    pub async fn finish(&self, end: WorkflowState, error: Option<String>) -> Result<(), WorkflowError> {
        self.close();
        let id = {
            let mut state = self.state.lock();
            let record = &mut state.record;
            record.state = end;
            record.error = error.map(|error| clipped(&error, MAX_ERROR_BYTES).to_owned());
            record.ended_ms = Some(now_ms());
            record.phase = None;
            record.id.clone()
        };
        self.save(Store::put_workflow).await.map(drop).map_err(|source| WorkflowError::NoStore { id, source })
    }

    /// Ends all of its runs, and starts no further ones.
    pub fn stop(&self) {
        self.stop.cancel(CancelReason::Caller(None));
        for live in self.live_runs() {
            live.end(EndReason::Stopped);
        }
    }

    /// Removes it from the open workflows of this process, without an end.
    pub fn close(&self) {
        self.closed.cancel(CancelReason::Dropped);
        let place = place(&self.service, &self.key);
        let mut all = OPEN.lock();
        // It may have been opened again.
        if all.get(&place).is_some_and(|open| std::ptr::eq(Arc::as_ptr(open), self)) {
            all.remove(&place);
        }
    }

    /// Returns its record as it is now.
    pub(super) fn record(&self) -> WorkflowRecord {
        self.state.lock().record.clone()
    }

    /// The phase that it is in.
    pub(super) fn phase(&self) -> Option<String> {
        self.state.lock().record.phase.clone()
    }

    /// Counts a run that is about to start, or returns the reason why it may not.
    pub(super) fn admit(&self) -> Result<(), CancelReason> {
        self.admit_own()?;
        let outer = self.outer();
        for (count, workflow) in outer.iter().enumerate() {
            if let Err(reason) = workflow.admit_own() {
                // The run does not start, so the workflows before this one do not count it.
                self.state.lock().started -= 1;
                outer[..count].iter().for_each(|counted| counted.state.lock().started -= 1);
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Counts a run that is about to start, or returns the reason why its own limits forbid it.
    fn admit_own(&self) -> Result<(), CancelReason> {
        if let Some(reason) = self.stop.reason() {
            return Err(reason);
        }
        let used = self.tokens();
        let mut state = self.state.lock();
        let WorkflowLimits { max_runs, max_tokens, .. } = state.record.limits;
        if let Some(max) = max_runs.filter(|max| state.started >= *max) {
            return Err(CancelReason::Bound(format!(
                "the workflow has started {max} runs, its `maxRuns`. Reused results do not count"
            )));
        }
        if let Some(max) = max_tokens.filter(|max| used >= *max) {
            return Err(CancelReason::Bound(too_many_tokens(used, max)));
        }
        state.started += 1;
        Ok(())
    }

    /// The open workflows that it works in, the innermost first.
    fn outer(&self) -> Vec<Arc<Self>> {
        let parent_of = |workflow: &Self| {
            let state = workflow.state.lock();
            let key = workflow_key(&state.record.project, state.record.parent.as_ref()?);
            drop(state);
            find(&workflow.service, &key)
        };
        let mut outer: Vec<Arc<Self>> = Vec::new();
        let mut next = parent_of(self);
        // A script that starts again under another workflow could close a circle.
        while let Some(workflow) =
            next.filter(|next| next.key != self.key && outer.iter().all(|known| known.key != next.key))
        {
            next = parent_of(&workflow);
            outer.push(workflow);
        }
        outer
    }

    /// Counts the tokens of a run that has ended.
    fn note_ended(&self, tokens: u64) {
        let mut state = self.state.lock();
        state.tokens = state.tokens.saturating_add(tokens);
        state.is_changed = true;
    }

    /// The tokens of all runs so far, with the runs of workflows within it.
    fn tokens(&self) -> u64 {
        let live = self.live_runs().iter().map(|live| tokens_of(&live.record())).sum::<u64>();
        self.state.lock().tokens.saturating_add(live)
    }

    fn live_runs(&self) -> Vec<Arc<LiveRun>> {
        let mut runs = self.service.registry.all(None);
        runs.retain(|live| {
            let run = live.record();
            run.is_live() && run.workflow.is_some_and(|place| self.contains(&place.workflow_key()))
        });
        runs
    }

    /// Returns true if the key is its own, or the key of an open workflow within it.
    fn contains(&self, key: &str) -> bool {
        key == self.key
            || find(&self.service, key)
                .is_some_and(|inner| inner.outer().iter().any(|outer| outer.key == self.key))
    }

    /// Stores its record. `false`: another process hosts it.
    async fn save(&self, put: Put) -> Result<bool, WorkflowStoreError> {
        let writing = Arc::clone(&self.writing).lock_owned().await;
        let record = {
            let mut state = self.state.lock();
            state.is_changed = false;
            state.record.tokens = state.tokens;
            state.record.clone()
        };
        let row = StoredWorkflow {
            key: self.key.clone(),
            process: None,
            is_live: record.state == WorkflowState::Running,
            started_ms: record.started_ms,
            expires_ms: expiry(now_ms(), &self.config),
            is_stopping: false,
            body: record.to_json(),
        };
        let store = move |service: &BackgroundService| {
            let stored = put(&service.store.workflows()?, &row);
            drop(writing);
            Ok(stored?)
        };
        self.service.blocking(store).await
    }
}

/// Counts the tokens of a run that has ended for its workflow and for the workflows around that, if they are open here.
pub(crate) fn note_ended(service: &BackgroundService, run: &RunRecord) {
    let Some(place) = &run.workflow else { return };
    if let Some(open) = find(service, &place.workflow_key()) {
        let tokens = tokens_of(run);
        open.note_ended(tokens);
        open.outer().iter().for_each(|outer| outer.note_ended(tokens));
    }
}

/// Finds a workflow that is open in this process.
pub(super) fn find(service: &BackgroundService, key: &str) -> Option<Arc<OpenWorkflow>> {
    OPEN.lock().get(&place(service, key)).cloned()
}

/// Returns the runs of a workflow whose processes have died.
async fn orphans(
    service: &Arc<BackgroundService>,
    key: &str,
) -> Result<Vec<(RunRecord, String)>, WorkflowStoreError> {
    let key = key.to_owned();
    let read = move |service: &BackgroundService| {
        let runs = service.store.workflows()?.named_runs(&key)?;
        let dead = runs.into_iter().filter(|(_, named)| named.host == HostProcess::Dead);
        let orphans = dead.filter_map(|(_, NamedRun { run, .. })| {
            let process = run.process.clone()?;
            Some((RunRecord::from_json(&run.body).ok()?, process))
        });
        Ok(orphans.collect())
    };
    service.blocking(read).await
}

/// Returns the tokens of a workflow and of all workflows within it.
fn tokens_with_inner(store: &Store, key: &str) -> Result<u64, StoreError> {
    let all = store.workflows()?;
    let parents: Vec<(&str, String)> = all
        .iter()
        .filter_map(|(row, _)| {
            let record = read_record(row);
            Some((row.key.as_str(), workflow_key(&record.project, &record.parent?)))
        })
        .collect();
    // A workflow that starts again under another one could close a circle.
    let mut counted = vec![key];
    let mut next = 0;
    while let Some(outer) = counted.get(next).copied() {
        let inner = parents.iter().filter(|(inner, parent)| parent == outer && !counted.contains(inner));
        let inner: Vec<&str> = inner.map(|(inner, _)| *inner).collect();
        counted.extend(inner);
        next += 1;
    }
    counted.iter().map(|key| store.workflow_tokens(key)).sum()
}

/// Carries out requests to stop, ends the runs once they have used too many tokens, and stores changes of the record.
async fn watch(workflow: Arc<OpenWorkflow>) {
    while find(&workflow.service, &workflow.key).is_some_and(|open| Arc::ptr_eq(&open, &workflow)) {
        tokio::select! {
            biased;
            _ = workflow.closed.cancelled() => return,
            () = sleep(CHECK_INTERVAL) => {}
        }
        let key = workflow.key.clone();
        let read = move |service: &BackgroundService| {
            let found = service.store.workflows().ok()?.workflow(&key).ok()??;
            Some(found.0.is_stopping)
        };
        if workflow.service.blocking(read).await == Some(true) {
            workflow.stop();
        }
        let max_tokens = workflow.state.lock().record.limits.max_tokens;
        if let Some(max) = max_tokens {
            let used = workflow.tokens();
            if used >= max {
                for live in workflow.live_runs() {
                    live.control.cancel.cancel(CancelReason::Bound(too_many_tokens(used, max)));
                }
            }
        }
        let is_changed = workflow.state.lock().is_changed;
        if is_changed && find(&workflow.service, &workflow.key).is_some() {
            // The next change tries again.
            let _ = workflow.save(Store::put_workflow).await;
        }
    }
}

/// The beginning of a text of a script.
fn clipped(text: &str, max_bytes: usize) -> &str {
    &text[..floor_char_boundary(text, max_bytes)]
}

fn too_many_tokens(used: u64, max: u64) -> String {
    format!("`budget.maxTokens` of the workflow reached: {used} of {max} tokens")
}

/// The tokens of the part of a run that this process has worked on.
fn tokens_of(run: &RunRecord) -> u64 {
    run.progress.usage.tokens().saturating_sub(run.spent_before.tokens())
}

fn place(service: &BackgroundService, key: &str) -> (PathBuf, String) {
    (service.store.agent_dir.clone(), key.to_owned())
}

fn where_of(host: HostProcess, record: &WorkflowRecord) -> String {
    match (host, record.host_pid) {
        (HostProcess::This, _) => "this process".to_owned(),
        (_, Some(pid)) => format!("process {pid}"),
        _ => "another process".to_owned(),
    }
}

pub(super) fn read_record(row: &StoredWorkflow) -> WorkflowRecord {
    // A newer release may have written another form.
    serde_json::from_str(&row.body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Host, RunOutcome, WorkflowRun};
    use store::{Claim, StoredRun};

    fn context(dir: &Path) -> Arc<HostContext> {
        Arc::new(HostContext {
            agent_dir: dir.to_owned(),
            home: None,
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
            host: Host::default(),
        })
    }

    /// Opens a workflow without a script.
    async fn open(dir: &Path, id: &str, parent: Option<&str>, max_runs: u64) -> Arc<OpenWorkflow> {
        let context = context(dir);
        let limits =
            WorkflowLimits { max_runs: Some(max_runs), max_tokens: Some(100), ..WorkflowLimits::default() };
        let parent = parent.map(str::to_owned);
        let request = WorkflowRequest { id: id.to_owned(), parent, limits, ..WorkflowRequest::default() };
        open_workflow(dir, &context, request).await.expect("the workflow is opened")
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_one_of_two_calls_at_once_opens_a_workflow() {
        let dir = tempfile::tempdir().expect("a temporary directory is created");
        let context = context(dir.path());
        let request = || WorkflowRequest { id: "w".to_owned(), ..WorkflowRequest::default() };
        let (one, two) = tokio::join!(
            open_workflow(dir.path(), &context, request()),
            open_workflow(dir.path(), &context, request())
        );
        assert_eq!(u8::from(one.is_ok()) + u8::from(two.is_ok()), 1);
        for workflow in [one, two].into_iter().flatten() {
            workflow.close();
        }
        assert!(open_workflow(dir.path(), &context, request()).await.is_ok(), "the handle was dropped");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn long_texts_of_a_script_are_clipped() {
        let dir = tempfile::tempdir().expect("a temporary directory is created");
        let workflow = open(dir.path(), "w", None, 1).await;
        workflow.enter_phase(&"ä".repeat(MAX_PHASE_BYTES));
        assert_eq!(workflow.phase().map(|phase| phase.len()), Some(MAX_PHASE_BYTES));
        let error = format!("a{}", "ä".repeat(MAX_ERROR_BYTES));
        workflow.finish(WorkflowState::Failed, Some(error)).await.expect("the end is stored");
        let error = workflow.state.lock().record.error.clone();
        assert_eq!(error.map(|error| error.len()), Some(MAX_ERROR_BYTES - 1));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn tokens_of_a_killed_process_count_when_the_workflow_opens_again() {
        let dir = tempfile::tempdir().expect("a temporary directory is created");
        let killed = open(dir.path(), "w", None, 1).await;
        let mut run = RunRecord { outcome: Some(RunOutcome::Interrupted), ..RunRecord::default() };
        run.progress.usage.input = 60;
        let body = serde_json::to_string(&run).expect("a run is JSON");
        let account = Some(killed.account());
        let run = StoredRun { key: "run".to_owned(), is_live: true, body, account, ..StoredRun::default() };
        let claim = Claim { workflow: killed.key(), name: "key", digest: "d", run: &run, known: None };
        let workflow = StoredWorkflow { key: killed.key().to_owned(), ..StoredWorkflow::default() };
        let store = killed.service.store.workflows().expect("the store is usable");
        assert!(store.claim_name(&claim, &workflow).expect("the claim is decided"));
        store.put_run(&StoredRun { tokens: 60, ..run }).expect("the run is stored");
        killed.close();
        let opened = open(dir.path(), "w", None, 1).await;
        assert_eq!(opened.tokens(), 60);
        opened.close();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn runs_of_an_inner_workflow_count_for_the_outer_ones() {
        let dir = tempfile::tempdir().expect("a temporary directory is created");
        let outer = open(dir.path(), "outer", None, 2).await;
        let middle = open(dir.path(), "middle", Some("outer"), 9).await;
        let inner = open(dir.path(), "inner", Some("middle"), 9).await;
        assert!(inner.admit().is_ok() && middle.admit().is_ok());
        assert!(inner.admit().is_err(), "the outer workflow has started two runs");
        let started = [&outer, &middle, &inner].map(|workflow| workflow.state.lock().started);
        assert_eq!(started, [2, 2, 1], "a refused run counts nowhere");
        let place =
            WorkflowRun { project: canonical(dir.path()), id: "inner".to_owned(), ..WorkflowRun::default() };
        let mut run = RunRecord { workflow: Some(place), ..RunRecord::default() };
        run.progress.usage.input = 60;
        note_ended(&inner.service, &run);
        assert_eq!([&outer, &middle, &inner].map(|workflow| workflow.tokens()), [60, 60, 60]);
        for workflow in [inner, middle, outer] {
            workflow.close();
        }
    }
}
