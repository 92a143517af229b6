//! Records of background runs.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, Transaction, params};

use super::deliveries::{Delivery, add_delivery};
use super::requests::forget_requests;
use crate::error::StoreError;
use crate::open::Store;
use crate::presence::Presence;
use crate::spending::add_spending;

/// The columns of a run, in the order in which they are read.
const COLUMNS: &str = "key, run_id, session_key, session, process, is_live, created_ms, ended_ms, archive_at_ms, \
                       archived_ms, directory, is_foreground, body, account, cost, tokens";
/// The number of due runs returned at once. The next call returns the rest.
const DUE: usize = 256;

/// A background run. Times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRun {
    /// A UUID.
    pub key: String,
    /// Its short id.
    pub run_id: String,
    /// Its key as a session.
    pub session_key: String,
    /// The session that started it, which gets its deliveries.
    pub session: String,
    /// The process that works on it while it is live; `None` means this process.
    pub process: Option<String>,
    /// True if the run has not ended.
    pub is_live: bool,
    /// The time of the request.
    pub created_ms: i64,
    /// The time of its end.
    pub ended_ms: Option<i64>,
    /// The time at which its transcript is due to be archived.
    pub archive_at_ms: Option<i64>,
    /// The time at which its transcript was archived.
    pub archived_ms: Option<i64>,
    /// Its directory.
    pub directory: Option<String>,
    /// True if a call has waited for it.
    pub is_foreground: bool,
    /// The rest of the record. The store does not read it.
    pub body: String,
    /// The account that pays for the run, if the store charges it: see [`Store::put_run`].
    pub account: Option<String>,
    /// The run's cost so far, in USD.
    pub cost: f64,
    /// The run's tokens so far.
    pub tokens: i64,
}

/// The directory of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDirectory {
    /// The run's key; `None` if the run is forgotten.
    pub key: Option<String>,
    /// The path of the directory.
    pub directory: String,
    /// True if the run has not ended.
    pub is_live: bool,
    /// True if its transcript was archived.
    pub is_archived: bool,
    /// True if it has a name in a workflow, which needs its files.
    pub is_named: bool,
    /// The time at which its end was delivered, or at which it ended if there is nothing to deliver, in milliseconds
    /// since 1970. `None`: not delivered yet.
    pub delivered_ms: Option<i64>,
}

impl Store {
    /// Stores a run. Replaces a stored run with the same key. If it has an account, charges the account in the same transaction
    /// with its cost since it was stored last, and the workflow in which it has a name with its tokens. So a process may be killed
    /// at any moment, and each cost is charged once.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn put_run(&self, run: &StoredRun) -> Result<(), StoreError> {
        self.write(|transaction, own| put_run(transaction, own, run))
    }

    /// Stores an ended run together with its delivery. A delivery with a known id stays as it is. With `claims`, this
    /// process claims it at once: no other process gets it until this one releases it or ends. Now and then prunes old
    /// rows.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; neither is then written.
    pub fn settle_run(
        &self,
        run: &StoredRun,
        delivery: Option<&Delivery>,
        claims: bool,
    ) -> Result<(), StoreError> {
        self.settle_named_run(run, delivery, claims, None)
    }

    /// Works like [`Self::settle_run`], and keeps the whole result of a completed run that has a name in a workflow, in the same
    /// transaction.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then written.
    pub fn settle_named_run(
        &self,
        run: &StoredRun,
        delivery: Option<&Delivery>,
        claims: bool,
        result: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write(|transaction, own| {
            settle(transaction, own, run, delivery, claims)?;
            result.map_or(Ok(()), |result| put_result(transaction, &run.key, result))
        })?;
        self.prune_if_due();
        Ok(())
    }

    /// Works like [`Self::settle_run`] for a run of another process, but only if that process has ended and the run is still live
    /// under its id. Returns `false` otherwise, for example if another process was first; nothing
    /// has then changed.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn adopt_run(
        &self,
        run: &StoredRun,
        from: &str,
        delivery: Option<&Delivery>,
    ) -> Result<bool, StoreError> {
        self.write(|transaction, own| {
            let mut live =
                transaction.prepare("SELECT 1 FROM run WHERE key = ?1 AND is_live AND process = ?2")?;
            if !live.exists([&run.key, from])? || !own.has_ended(from) {
                return Ok(false);
            }
            settle(transaction, own, run, delivery, false)?;
            Ok(true)
        })
    }

    /// Like [`Self::put_run`], but only if the stored run is not live, and never undoing its archiving. `false`: it is
    /// live again, archived, or missing; nothing has then changed.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn amend_run(&self, run: &StoredRun) -> Result<bool, StoreError> {
        self.replace_ended(run, |_| true)
    }

    /// Works like [`Self::amend_run`], and only if the stored run has this end. A run that was resumed in the meantime, and has
    /// ended again, has another end.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has changed then.
    pub fn resume_run(&self, run: &StoredRun, ended_ms: Option<i64>) -> Result<bool, StoreError> {
        self.replace_ended(run, |stored| stored == ended_ms)
    }

    /// Replaces an ended run if `is_meant` accepts the time of its end. Returns true if it did.
    fn replace_ended(
        &self,
        run: &StoredRun,
        is_meant: impl Fn(Option<i64>) -> bool,
    ) -> Result<bool, StoreError> {
        self.write(|transaction, own| {
            let mut query = transaction.prepare(
                "SELECT ended_ms FROM run WHERE key = ?1 AND NOT is_live AND (archived_ms IS NULL OR ?2)",
            )?;
            let ended = query.query_row(params![run.key, run.archived_ms.is_some()], |row| row.get(0));
            if !ended.optional()?.is_some_and(&is_meant) {
                return Ok(false);
            }
            put_run(transaction, own, run)?;
            Ok(true)
        })
    }

    /// Returns the live runs whose process has ended, oldest first.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn orphans(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.read(|connection, presence| {
            let mut query = connection.prepare("SELECT DISTINCT process FROM run WHERE is_live")?;
            let processes = query.query_map((), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            let mut orphans = Vec::new();
            for process in processes.iter().filter(|process| presence.has_ended(process)) {
                orphans.extend(select(connection, "WHERE is_live AND process = ?1", [process])?);
            }
            orphans.sort_by_key(|run| run.created_ms);
            Ok(orphans)
        })
    }

    /// Returns the live runs of a session, or of all sessions, the newest `limit` background runs, and the newest
    /// `limit` runs that a call has waited for; newest first.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn runs(&self, session: Option<&str>, limit: usize) -> Result<Vec<StoredRun>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let which = live_and_newest(session);
        self.read(|connection, _| select(connection, &which, params![session, limit]))
    }

    /// Returns the number of runs of a session, or of all sessions.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn count_runs(&self, session: Option<&str>) -> Result<usize, StoreError> {
        let sql = format!("SELECT count(*) FROM run WHERE {}", of_session(session));
        let count =
            self.read(|connection, _| connection.query_row(&sql, [session], |row| row.get::<_, i64>(0)))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The runs with a short id, newest first.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn runs_with_id(&self, run_id: &str) -> Result<Vec<StoredRun>, StoreError> {
        self.read(|connection, _| {
            select(connection, "WHERE run_id = ?1 ORDER BY created_ms DESC, seq DESC", [run_id])
        })
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn run(&self, key: &str) -> Result<Option<StoredRun>, StoreError> {
        self.read(|connection, _| Ok(select(connection, "WHERE key = ?1", [key])?.pop()))
    }

    /// Ended runs whose transcripts are due to be archived, longest due first, at most 256.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn due_for_archive(&self, now_ms: i64) -> Result<Vec<StoredRun>, StoreError> {
        let which = format!(
            "WHERE archived_ms IS NULL AND NOT is_live AND archive_at_ms <= ?1 ORDER BY archive_at_ms LIMIT {DUE}"
        );
        self.read(|connection, _| select(connection, &which, [now_ms]))
    }

    /// Returns the directories of runs, oldest first, including those of forgotten runs. This reads much less than the runs
    /// themselves.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn directories(&self, limit: usize) -> Result<Vec<StoredDirectory>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|connection, _| {
            let mut query = connection.prepare(
                "SELECT run.key, run.directory, run.is_live, run.archived_ms IS NOT NULL,
                        iif(told.is_open, NULL, coalesce(told.ms, run.ended_ms)), run.created_ms, run.seq,
                        EXISTS (SELECT 1 FROM workflow_run WHERE workflow_run.run = run.key)
                 FROM run LEFT JOIN (SELECT key, max(delivered_ms) AS ms, max(delivered_ms IS NULL) AS is_open
                                     FROM delivery GROUP BY key) AS told ON told.key = run.key
                 WHERE run.directory IS NOT NULL
                 UNION ALL
                 SELECT NULL, directory, 0, 1, created_ms, created_ms, 0, 0 FROM forgotten
                 ORDER BY 6, 7 LIMIT ?1",
            )?;
            let read = |row: &Row<'_>| {
                Ok(StoredDirectory {
                    key: row.get(0)?,
                    directory: row.get(1)?,
                    is_live: row.get(2)?,
                    is_archived: row.get(3)?,
                    delivered_ms: row.get(4)?,
                    is_named: row.get(7)?,
                })
            };
            query.query_map([limit], read)?.collect()
        })
    }

    /// A number that changes when another process has changed something, or when the database was replaced.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        let open = self.ready()?;
        let version = open.connection.query_row("PRAGMA data_version", (), |row| row.get::<_, i64>(0));
        // `SQLite` counts per connection.
        Ok(version.map_err(|source| self.failed(source))? + (i64::from(open.connections) << 32))
    }
}

/// Selects what [`Store::runs`] returns. The limit is the second parameter. Each part has an index, so that the cost does not
/// grow with the number of stored runs.
fn live_and_newest(session: Option<&str>) -> String {
    let of = of_session(session);
    let newest = |is_foreground: u8| {
        format!(
            "SELECT * FROM (SELECT seq FROM run WHERE is_foreground = {is_foreground} AND {of}
                            ORDER BY created_ms DESC, seq DESC LIMIT ?2)"
        )
    };
    // The plus keeps `SQLite` from reading all runs of the session to find the few that are live, and `ALL` keeps it from reading
    // all runs in order to merge the parts.
    format!(
        "WHERE seq IN (SELECT seq FROM run WHERE is_live AND +{of} UNION ALL {} UNION ALL {})
         ORDER BY created_ms DESC, seq DESC",
        newest(0),
        newest(1),
    )
}

/// The condition for the runs of a session, so that they are found by the index, or for all.
fn of_session(session: Option<&str>) -> &'static str {
    if session.is_some() { "session = ?1" } else { "?1 IS NULL" }
}

fn settle(
    transaction: &Transaction<'_>,
    own: &Presence,
    run: &StoredRun,
    delivery: Option<&Delivery>,
    claims: bool,
) -> rusqlite::Result<()> {
    put_run(transaction, own, run)?;
    delivery.map_or(Ok(()), |delivery| add_delivery(transaction, delivery, claims.then_some(own.id())))
}

/// Keeps the whole result of a run that has a name in a workflow. A run that has lost its name keeps none.
fn put_result(transaction: &Transaction<'_>, run: &str, result: &str) -> rusqlite::Result<()> {
    transaction.execute("UPDATE workflow_run SET result = ?2 WHERE run = ?1", [run, result])?;
    Ok(())
}

pub(crate) fn put_run(
    transaction: &Transaction<'_>,
    own: &Presence,
    run: &StoredRun,
) -> rusqlite::Result<()> {
    charge(transaction, run)?;
    let process = run.process.as_deref().map_or(own.id(), |process| own.current(process));
    transaction.execute(
        &format!(
            "INSERT INTO run ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id, session_key = excluded.session_key,
             session = excluded.session, process = excluded.process, is_live = excluded.is_live,
             created_ms = excluded.created_ms, ended_ms = excluded.ended_ms, archive_at_ms = excluded.archive_at_ms,
             archived_ms = excluded.archived_ms, directory = excluded.directory,
             is_foreground = excluded.is_foreground, body = excluded.body, account = excluded.account,
             cost = max(cost, excluded.cost), tokens = max(tokens, excluded.tokens)"
        ),
        params![
            run.key,
            run.run_id,
            run.session_key,
            run.session,
            run.is_live.then_some(process),
            run.is_live,
            run.created_ms,
            run.ended_ms,
            run.archive_at_ms,
            run.archived_ms,
            run.directory,
            run.is_foreground,
            run.body,
            run.account,
            run.cost,
            run.tokens,
        ],
    )?;
    // No process is left to act on them.
    if run.is_live { Ok(()) } else { forget_requests(transaction, &run.key) }
}

/// Charges the account and the workflow of a run with its usage since it was stored last.
fn charge(transaction: &Transaction<'_>, run: &StoredRun) -> rusqlite::Result<()> {
    let Some(account) = &run.account else { return Ok(()) };
    let mut query = transaction.prepare("SELECT cost, tokens FROM run WHERE key = ?1")?;
    let charged = query.query_row([&run.key], |row| Ok((row.get(0)?, row.get(1)?)));
    let (cost, tokens): (f64, i64) = charged.optional()?.unwrap_or_default();
    add_spending(transaction, account, run.cost - cost)?;
    if run.tokens > tokens {
        transaction.execute(
            "UPDATE workflow SET tokens = tokens + ?2 WHERE key IN (SELECT workflow FROM workflow_run WHERE run = ?1)",
            params![run.key, run.tokens - tokens],
        )?;
    }
    Ok(())
}

/// The runs that a condition selects, in its order.
pub(crate) fn select(
    connection: &Connection,
    which: &str,
    params: impl Params,
) -> rusqlite::Result<Vec<StoredRun>> {
    connection.prepare(&format!("SELECT {COLUMNS} FROM run {which}"))?.query_map(params, read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    Ok(StoredRun {
        key: row.get(0)?,
        run_id: row.get(1)?,
        session_key: row.get(2)?,
        session: row.get(3)?,
        process: row.get(4)?,
        is_live: row.get(5)?,
        created_ms: row.get(6)?,
        ended_ms: row.get(7)?,
        archive_at_ms: row.get(8)?,
        archived_ms: row.get(9)?,
        directory: row.get(10)?,
        is_foreground: row.get(11)?,
        body: row.get(12)?,
        account: row.get(13)?,
        cost: row.get(14)?,
        tokens: row.get(15)?,
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_list_of_runs_costs_the_same_however_many_are_stored() {
        let store = Store::in_memory().expect("the store is opened");
        let steps = |session: Option<&str>| {
            let sql = format!("SELECT {COLUMNS} FROM run {}", live_and_newest(session));
            let count = |connection: &Connection| {
                let mut query = connection.prepare(&sql)?;
                let rows = query.query_map(params![session, 10], read)?.count();
                Ok((rows, query.get_status(StatementStatus::VmStep)))
            };
            store.read(|connection, _| count(connection)).expect("the runs are readable")
        };
        for is_foreground in [false, true] {
            let mut found = Vec::new();
            for count in [20_i64, 500] {
                for created_ms in 0..count {
                    let key = format!("{is_foreground} {created_ms}");
                    let session = "s".to_owned();
                    let run = StoredRun { key, session, created_ms, is_foreground, ..StoredRun::default() };
                    store.put_run(&run).expect("the run is stored");
                }
                found.push((steps(Some("s")), steps(None)));
            }
            assert_eq!(found[0], found[1]);
        }
    }
}
