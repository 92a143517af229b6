//! Removing old rows.

use std::time::{Duration, Instant};

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::open::Store;
use crate::transact::now_ms;
use crate::workflows;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The age up to which these are kept: delivered ends, archived runs, and ended runs that a call has waited for, which are not
/// archived.
const RUNS_MS: i64 = 30 * DAY_MS;
/// The time for which the sum of a session is kept after its last spending.
const SPENDING_MS: i64 = 90 * DAY_MS;
/// The number of rows of each kind that are removed at once, so that other processes wait only briefly. The next call removes
/// more.
const BATCH: usize = 500;
/// Interval between two searches for old rows.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

const RUN: &str = "run";
/// The table of each kind of row, and the condition for an old row; the parameter is the oldest time to keep. Each part of a
/// condition has an index.
const OLD_ROWS: [(&str, &str, &str, i64); 3] = [
    ("delivery", "seq", "delivered_ms < ?1", RUNS_MS),
    // A delivery that is still pending needs its run, and so does a workflow.
    (
        RUN,
        "seq",
        "(archived_ms < ?1 OR (is_foreground AND ended_ms < ?1)) AND NOT is_live AND NOT EXISTS (SELECT 1 FROM delivery
         WHERE delivery.key = run.key AND delivered_ms IS NULL) AND NOT EXISTS (SELECT 1 FROM workflow_run
         WHERE workflow_run.run = run.key)",
        RUNS_MS,
    ),
    ("spending", "session", "touched_ms < ?1", SPENDING_MS),
];

/// Removes runs, but keeps the paths of their directories.
fn forget(transaction: &Transaction<'_>, which: &str, before: [i64; 1]) -> rusqlite::Result<usize> {
    let sql = format!("DELETE FROM run WHERE seq IN ({which}) RETURNING directory, created_ms");
    let mut query = transaction.prepare(&sql)?;
    let removed = query.query_map(before, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let removed = removed.collect::<rusqlite::Result<Vec<(Option<String>, i64)>>>()?;
    let mut insert =
        transaction.prepare("INSERT OR IGNORE INTO forgotten (directory, created_ms) VALUES (?1, ?2)")?;
    for (directory, created_ms) in &removed {
        if let Some(directory) = directory {
            insert.execute(params![directory, created_ms])?;
        }
    }
    Ok(removed.len())
}

impl Store {
    /// Removes old rows, some hundreds of each kind at once: deliveries, archived runs and ended runs of calls after 30
    /// days, and the sums of sessions that have spent nothing for 90 days. Pending deliveries are kept, so that a clock that
    /// jumps cannot cost a result. Workflows are removed at the time that they name. Returns how many rows were removed.
    /// [`Store::directories`] still has the directories of the runs.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then removed.
    pub fn prune(&self, now_ms: i64) -> Result<usize, StoreError> {
        let is_due = self.read(|connection, _| {
            // An older release does not record when it adds spending.
            let mut is_due =
                connection.prepare("SELECT 1 FROM spending WHERE touched_ms IS NULL")?.exists(())?;
            for (table, _, old, max_age) in OLD_ROWS {
                let sql = format!("SELECT 1 FROM {table} WHERE {old}");
                is_due |= connection.prepare(&sql)?.exists([now_ms.saturating_sub(max_age)])?;
            }
            Ok(is_due || workflows::is_due(connection, now_ms)?)
        })?;
        if !is_due {
            return Ok(0);
        }
        self.write(|transaction, own| {
            transaction.execute("UPDATE spending SET touched_ms = ?1 WHERE touched_ms IS NULL", [now_ms])?;
            let mut removed = workflows::prune(transaction, own, now_ms, BATCH)?;
            for (table, id, old, max_age) in OLD_ROWS {
                let which = format!("SELECT {id} FROM {table} WHERE {old} LIMIT {BATCH}");
                let before = [now_ms.saturating_sub(max_age)];
                removed += if table == RUN {
                    forget(transaction, &which, before)?
                } else {
                    transaction.execute(&format!("DELETE FROM {table} WHERE {id} IN ({which})"), before)?
                };
            }
            Ok(removed)
        })
    }

    /// Removes directories of forgotten runs from the list, because their files no longer exist.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then removed.
    pub fn drop_forgotten(&self, directories: &[&str]) -> Result<(), StoreError> {
        self.write(|transaction, _| {
            let mut drop_one = transaction.prepare("DELETE FROM forgotten WHERE directory = ?1")?;
            directories.iter().try_for_each(|directory| drop_one.execute([directory]).map(drop))
        })
    }

    /// Prunes at most once an hour. Ignores failures, which only cost space.
    pub(super) fn prune_if_due(&self) {
        let now = Instant::now();
        let mut open = self.lock();
        if open.pruned.is_some_and(|pruned| now.duration_since(pruned) < PRUNE_INTERVAL) {
            return;
        }
        open.pruned = Some(now);
        drop(open);
        drop(self.prune(now_ms()));
    }
}
