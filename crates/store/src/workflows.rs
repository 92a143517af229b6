//! Workflows: scripts of runs. Each run of a workflow has a name in it, and its result is kept under that name as long as the
//! workflow.
//!
//! A claim compares the run that its caller has seen with the stored run and replaces it in one transaction. So two processes
//! never work on one name, and each name has at most one result.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::error::StoreError;
use crate::open::Store;
use crate::presence::Presence;
use crate::runs::{StoredRun, put_run, runs_where};

const COLUMNS: &str = "key, process, is_live, started_ms, expires_ms, is_stopping, body";
/// The change of a stored workflow. A request to end it may come at any time, so it stays.
const CHANGED: &str =
    "UPDATE SET process = excluded.process, is_live = excluded.is_live, started_ms = excluded.started_ms,
    expires_ms = excluded.expires_ms, body = excluded.body";
/// The change of a stored workflow that starts.
const OPENED: &str =
    "UPDATE SET process = excluded.process, is_live = excluded.is_live, started_ms = excluded.started_ms,
    expires_ms = excluded.expires_ms, body = excluded.body, is_stopping = excluded.is_stopping, continued_by = NULL";

/// Returns the account of a workflow, whose runs share its budget. It is removed with the workflow.
#[must_use]
pub fn workflow_account(key: &str) -> String {
    format!("workflow:{key}")
}

/// A workflow. Times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredWorkflow {
    /// The key, which the caller derives from the workflow's project and its id there.
    pub key: String,
    /// The process that hosts it while it is live; `None` means this process.
    pub process: Option<String>,
    /// True if it has not ended.
    pub is_live: bool,
    /// The time of its first start.
    pub started_ms: i64,
    /// The time at which it is removed with its results, unless something happens in it before that.
    pub expires_ms: i64,
    /// True if its host was asked to end it.
    pub is_stopping: bool,
    /// The rest of the record. The store does not read it.
    pub body: String,
}

/// The process that works on a run or hosts a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostProcess {
    /// No process: it has ended.
    None,
    /// This process.
    This,
    /// Another process, which is alive.
    Other,
    /// A process that has ended.
    Dead,
}

/// The run that has a name in a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedRun {
    /// The run.
    pub run: StoredRun,
    /// The digest of its request.
    pub digest: String,
    /// The whole result, if the run has completed.
    pub result: Option<String>,
    /// The process that works on it.
    pub host: HostProcess,
}

/// A new run for a name in a workflow.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The key of the workflow.
    pub workflow: &'a str,
    /// The name.
    pub name: &'a str,
    /// The digest of the request.
    pub digest: &'a str,
    /// The run. It may be the known run, which then continues.
    pub run: &'a StoredRun,
    /// The run that has the name as far as the caller knows.
    pub known: Option<&'a NamedRun>,
}

impl Store {
    /// Stores a workflow that starts. Like [`Self::put_workflow`], but also replaces an earlier request to end it.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn open_workflow(&self, workflow: &StoredWorkflow) -> Result<bool, StoreError> {
        self.replace_workflow(workflow, OPENED)
    }

    /// Stores a workflow. Replaces a stored workflow with the same key except for a request to end it, unless another process
    /// that is alive hosts it: then nothing has changed, and the answer is `false`.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn put_workflow(&self, workflow: &StoredWorkflow) -> Result<bool, StoreError> {
        self.replace_workflow(workflow, CHANGED)
    }

    fn replace_workflow(&self, workflow: &StoredWorkflow, conflict: &str) -> Result<bool, StoreError> {
        self.write(|transaction, own| {
            let known = workflow_of(transaction, &workflow.key)?;
            if known.is_some_and(|known| {
                host_of(own, known.is_live, known.process.as_deref()) == HostProcess::Other
            }) {
                return Ok(false);
            }
            put_workflow(transaction, own, workflow, conflict)?;
            Ok(true)
        })
    }

    /// Returns a workflow and its host.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn workflow(&self, key: &str) -> Result<Option<(StoredWorkflow, HostProcess)>, StoreError> {
        self.read(|connection, own| Ok(workflow_of(connection, key)?.map(|found| with_host(own, found))))
    }

    /// Returns all workflows with their hosts, the newest first.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn workflows(&self) -> Result<Vec<(StoredWorkflow, HostProcess)>, StoreError> {
        self.read(|connection, own| {
            let sql = format!("SELECT {COLUMNS} FROM workflow ORDER BY started_ms DESC, key");
            let found = connection.prepare(&sql)?.query_map((), read)?.collect::<Result<Vec<_>, _>>()?;
            Ok(found.into_iter().map(|found| with_host(own, found)).collect())
        })
    }

    /// Returns the tokens of all runs that have had a name in a workflow, by the key of the workflow.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn workflow_tokens(&self, key: &str) -> Result<u64, StoreError> {
        self.read(|connection, _| {
            let mut query = connection.prepare("SELECT tokens FROM workflow WHERE key = ?1")?;
            let tokens: Option<i64> = query.query_row([key], |row| row.get(0)).optional()?;
            Ok(tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default())
        })
    }

    /// Asks the host of a workflow to end it. `false`: it is not live, or not known.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn stop_workflow(&self, key: &str) -> Result<bool, StoreError> {
        self.write(|transaction, _| {
            let sql = "UPDATE workflow SET is_stopping = 1 WHERE key = ?1 AND is_live";
            Ok(transaction.execute(sql, [key])? > 0)
        })
    }

    /// Claims the right to continue a workflow whose host has ended. At most one process gets it, and each process only once until
    /// the workflow starts again. `false`: the workflow is hosted, was stopped, or is not known, or the right is taken.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn claim_continuation(&self, key: &str) -> Result<bool, StoreError> {
        self.write(|transaction, own| {
            let Some(known) = workflow_of(transaction, key)? else { return Ok(false) };
            let host = host_of(own, known.is_live, known.process.as_deref());
            let mut query = transaction.prepare("SELECT continued_by FROM workflow WHERE key = ?1")?;
            let claimed: Option<String> = query.query_row([key], |row| row.get(0))?;
            let is_taken = claimed.is_some_and(|by| own.current(&by) == own.id() || !own.has_ended(&by));
            if known.is_stopping || is_taken || matches!(host, HostProcess::This | HostProcess::Other) {
                return Ok(false);
            }
            let sql = "UPDATE workflow SET continued_by = ?2 WHERE key = ?1";
            transaction.execute(sql, [key, own.id()])?;
            Ok(true)
        })
    }

    /// Moves the time at which a workflow is removed.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn touch_workflow(&self, key: &str, expires_ms: i64) -> Result<(), StoreError> {
        self.write(|transaction, _| {
            let sql = "UPDATE workflow SET expires_ms = ?2 WHERE key = ?1";
            transaction.execute(sql, params![key, expires_ms]).map(drop)
        })
    }

    /// Removes a workflow and its results, unless a process that is alive hosts it. Its runs stay until they are old.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn remove_workflow(&self, key: &str) -> Result<bool, StoreError> {
        self.write(|transaction, own| {
            let Some(known) = workflow_of(transaction, key)? else { return Ok(false) };
            let host = host_of(own, known.is_live, known.process.as_deref());
            if matches!(host, HostProcess::This | HostProcess::Other) {
                return Ok(false);
            }
            remove(transaction, key)?;
            Ok(true)
        })
    }

    /// Returns the current runs of a workflow with their names, but without their results, which may be long. The name given first
    /// comes first.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn named_runs(&self, workflow: &str) -> Result<Vec<(String, NamedRun)>, StoreError> {
        self.read(|connection, own| {
            let mut query = connection
                .prepare("SELECT name, digest, run FROM workflow_run WHERE workflow = ?1 ORDER BY seq")?;
            let rows = query.query_map([workflow], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let rows = rows.collect::<Result<Vec<(String, String, String)>, _>>()?;
            let mut runs = Vec::with_capacity(rows.len());
            for (name, digest, run) in rows {
                let Some(run) = runs_where(connection, "WHERE key = ?1", [run])?.pop() else { continue };
                let host = host_of(own, run.is_live, run.process.as_deref());
                runs.push((name, NamedRun { run, digest, result: None, host }));
            }
            Ok(runs)
        })
    }

    /// Returns the run that has a name in a workflow, with its result.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn named_run(&self, workflow: &str, name: &str) -> Result<Option<NamedRun>, StoreError> {
        self.read(|connection, own| named_run(connection, own, workflow, name))
    }

    /// Gives a name in a workflow to a live run of this process, and stores the run. Without a stored workflow, `workflow` is
    /// stored as well. `false`: the name has another run than the caller knows, or another process works on the known run, and
    /// nothing has changed.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn claim_name(&self, claim: &Claim<'_>, workflow: &StoredWorkflow) -> Result<bool, StoreError> {
        self.write(|transaction, own| {
            let stored = named_run(transaction, own, claim.workflow, claim.name)?;
            let is_known = match (&stored, claim.known) {
                (None, None) => true,
                (Some(stored), Some(known)) => {
                    stored.run.key == known.run.key
                        && stored.run.ended_ms == known.run.ended_ms
                        && stored.run.is_live == known.run.is_live
                        && stored.host != HostProcess::Other
                }
                _ => false,
            };
            if !is_known {
                return Ok(false);
            }
            put_workflow(transaction, own, workflow, "NOTHING")?;
            let sql = "UPDATE workflow SET expires_ms = max(expires_ms, ?2) WHERE key = ?1";
            transaction.execute(sql, params![claim.workflow, workflow.expires_ms])?;
            put_run(transaction, own, claim.run)?;
            transaction.execute(
                "INSERT INTO workflow_run (workflow, name, run, digest, result) VALUES (?1, ?2, ?3, ?4, NULL)
                 ON CONFLICT (workflow, name) DO UPDATE SET run = excluded.run, digest = excluded.digest, result = NULL",
                params![claim.workflow, claim.name, claim.run.key, claim.digest],
            )?;
            Ok(true)
        })
    }
}

/// Removes the workflows that are due, at most `limit` of them. Returns how many were removed.
pub(crate) fn prune(
    transaction: &Transaction<'_>,
    own: &Presence,
    now_ms: i64,
    limit: usize,
) -> rusqlite::Result<usize> {
    let sql = format!("SELECT {COLUMNS} FROM workflow WHERE expires_ms < ?1 ORDER BY expires_ms");
    let due = transaction.prepare(&sql)?.query_map([now_ms], read)?.collect::<Result<Vec<_>, _>>()?;
    let is_over = |workflow: &StoredWorkflow| {
        let host = host_of(own, workflow.is_live, workflow.process.as_deref());
        matches!(host, HostProcess::None | HostProcess::Dead)
    };
    let mut removed = 0;
    for workflow in due.iter().filter(|workflow| is_over(workflow)).take(limit) {
        remove(transaction, &workflow.key)?;
        removed += 1;
    }
    Ok(removed)
}

/// Returns true if workflows are due.
pub(crate) fn is_due(connection: &Connection, now_ms: i64) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM workflow WHERE expires_ms < ?1")?.exists([now_ms])
}

fn remove(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM workflow_run WHERE workflow = ?1", [key])?;
    // The workflow may start again under this key, and has then spent nothing.
    transaction.execute("DELETE FROM spending WHERE session = ?1", [workflow_account(key)])?;
    transaction.execute("DELETE FROM workflow WHERE key = ?1", [key]).map(drop)
}

fn named_run(
    connection: &Connection,
    own: &Presence,
    workflow: &str,
    name: &str,
) -> rusqlite::Result<Option<NamedRun>> {
    let mut query = connection
        .prepare("SELECT run, digest, result FROM workflow_run WHERE workflow = ?1 AND name = ?2")?;
    let found = query.query_row([workflow, name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let Some((run, digest, result)): Option<(String, String, Option<String>)> = found.optional()? else {
        return Ok(None);
    };
    let Some(run) = runs_where(connection, "WHERE key = ?1", [run])?.pop() else { return Ok(None) };
    let host = host_of(own, run.is_live, run.process.as_deref());
    Ok(Some(NamedRun { run, digest, result, host }))
}

fn put_workflow(
    transaction: &Transaction<'_>,
    own: &Presence,
    workflow: &StoredWorkflow,
    conflict: &str,
) -> rusqlite::Result<()> {
    let process = workflow.process.as_deref().map_or(own.id(), |process| own.current(process));
    transaction.execute(
        &format!(
            "INSERT INTO workflow ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO {conflict}"
        ),
        params![
            workflow.key,
            workflow.is_live.then_some(process),
            workflow.is_live,
            workflow.started_ms,
            workflow.expires_ms,
            workflow.is_stopping,
            workflow.body,
        ],
    )?;
    Ok(())
}

fn workflow_of(connection: &Connection, key: &str) -> rusqlite::Result<Option<StoredWorkflow>> {
    let sql = format!("SELECT {COLUMNS} FROM workflow WHERE key = ?1");
    connection.prepare(&sql)?.query_row([key], read).optional()
}

fn with_host(own: &Presence, workflow: StoredWorkflow) -> (StoredWorkflow, HostProcess) {
    let host = host_of(own, workflow.is_live, workflow.process.as_deref());
    (workflow, host)
}

fn host_of(own: &Presence, is_live: bool, process: Option<&str>) -> HostProcess {
    match process {
        _ if !is_live => HostProcess::None,
        Some(process) if own.current(process) == own.id() => HostProcess::This,
        Some(process) if !own.has_ended(process) => HostProcess::Other,
        _ => HostProcess::Dead,
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredWorkflow> {
    Ok(StoredWorkflow {
        key: row.get(0)?,
        process: row.get(1)?,
        is_live: row.get(2)?,
        started_ms: row.get(3)?,
        expires_ms: row.get(4)?,
        is_stopping: row.get(5)?,
        body: row.get(6)?,
    })
}
