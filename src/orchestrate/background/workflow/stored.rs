//! All workflows that the store has, whichever process hosts them: lists, stops and removes them, and claims interrupted ones.

use std::path::Path;
use std::sync::Arc;

use super::open::{find, read_record};
use super::record::{KeyedRecord, WorkflowRecord};
use crate::orchestrate::background::conversation::view::ConversationScope;
use crate::orchestrate::background::run_store::WorkflowStoreError;
use crate::orchestrate::background::service::{BackgroundService, background};
use crate::run::{HostContext, RunRecord, blocking, workflow_key};
use files::canonical;
use store::{HostProcess, NamedRun, Store, StoredWorkflow, workflow_account};

/// Returns the workflows of a project, or all, the newest first.
///
/// # Errors
///
/// If the store cannot be used.
pub async fn workflows(
    cwd: &Path,
    context: &HostContext,
    is_all: bool,
) -> Result<Vec<WorkflowRecord>, WorkflowStoreError> {
    let (cwd, agent_dir) = (cwd.to_owned(), context.agent_dir.clone());
    blocking(move || {
        let service = background(&agent_dir);
        let project = canonical(&cwd);
        let store = service.store.workflows()?;
        let rows = store.workflows()?;
        let mut found = Vec::new();
        for (row, host) in rows {
            let record = read_record(&row);
            if is_all || record.project == project {
                found.push(whole(&service, &store, &row, record, host)?);
            }
        }
        Ok(found)
    })
    .await
}

/// Returns the workflows with these keys in the store.
pub(crate) async fn workflows_with_keys(
    context: &HostContext,
    keys: Vec<String>,
) -> Result<Vec<WorkflowRecord>, WorkflowStoreError> {
    let agent_dir = context.agent_dir.clone();
    blocking(move || {
        let service = background(&agent_dir);
        let store = service.store.workflows()?;
        let mut found = Vec::new();
        for key in keys {
            if let Some((row, host)) = store.workflow(&key)? {
                found.push(whole(&service, &store, &row, read_record(&row), host)?);
            }
        }
        Ok(found)
    })
    .await
}

/// Asks the process that hosts a workflow to end it. `false`: no process does.
///
/// # Errors
///
/// If the store cannot be used.
pub async fn stop_workflow(cwd: &Path, context: &HostContext, id: &str) -> Result<bool, WorkflowStoreError> {
    let (service, key) = named(cwd, context, id).await;
    let open = find(&service, &key);
    if let Some(open) = &open {
        open.stop();
    }
    let is_open = open.is_some();
    let stop = move |service: &BackgroundService| {
        let store = service.store.workflows()?;
        if is_open {
            // It counts as stopped even if this process ends before its script does.
            store.stop_workflow(&key)?;
            return Ok(true);
        }
        let host = store.workflow(&key)?.map(|(_, host)| host);
        // A stopped workflow whose process has died does not continue at the next start of pi.
        if !matches!(host, Some(HostProcess::Other | HostProcess::Dead)) {
            return Ok(false);
        }
        Ok(store.stop_workflow(&key)?)
    };
    service.blocking(stop).await
}

/// Claims the right to continue interrupted workflows of a project, so that no other process starts them at the same time. Returns
/// the ids of the claimed ones.
pub(crate) async fn claim_continuations(scope: &ConversationScope, ids: Vec<String>) -> Vec<String> {
    let (cwd, agent_dir) = (scope.cwd.clone(), scope.context.agent_dir.clone());
    blocking(move || {
        let service = background(&agent_dir);
        let project = canonical(&cwd);
        let Ok(store) = service.store.workflows() else { return Vec::new() };
        let claim = |id: &String| store.claim_continuation(&workflow_key(&project, id)).unwrap_or(false);
        ids.into_iter().filter(claim).collect()
    })
    .await
}

/// Removes a workflow and its results, unless a process hosts it. Its runs stay until they are old. `false`: it is hosted, or
/// not known.
///
/// # Errors
///
/// If the store cannot be used.
pub async fn remove_workflow(
    cwd: &Path,
    context: &HostContext,
    id: &str,
) -> Result<bool, WorkflowStoreError> {
    let (service, key) = named(cwd, context, id).await;
    let remove = move |service: &BackgroundService| Ok(service.store.workflows()?.remove_workflow(&key)?);
    service.blocking(remove).await
}

async fn named(cwd: &Path, context: &HostContext, id: &str) -> (Arc<BackgroundService>, String) {
    let (cwd, agent_dir, id) = (cwd.to_owned(), context.agent_dir.clone(), id.to_owned());
    blocking(move || (background(&agent_dir), workflow_key(&canonical(&cwd), &id))).await
}

/// Returns a workflow with its runs. Runs of this process have their newest facts.
fn whole(
    service: &BackgroundService,
    store: &Store,
    row: &StoredWorkflow,
    record: WorkflowRecord,
    host: HostProcess,
) -> Result<WorkflowRecord, WorkflowStoreError> {
    let runs = store.named_runs(&row.key)?;
    let entries = runs.into_iter().filter_map(|(name, NamedRun { run, host, .. })| {
        let live = service.registry.get(&run.key).map(|live| live.record());
        let run = live.or_else(|| RunRecord::from_json(&run.body).ok())?;
        Some(KeyedRecord::of(name, &run, host == HostProcess::Dead))
    });
    let entries = entries.collect();
    let open = find(service, &row.key);
    // A handle that was dropped leaves its row.
    let host = if host == HostProcess::This && open.is_none() { HostProcess::None } else { host };
    // Runs without a script may use the account of a session, which has paid for other runs, too.
    let has_account = record.account == workflow_account(&row.key);
    let spent = if has_account { store.spent(&record.account).unwrap_or_default() } else { 0.0 };
    let record = open.map_or(record, |open| open.record());
    Ok(WorkflowRecord { cost: spent, ..record }.with_runs(host, row.is_stopping, entries))
}
