//! Removing old rows.

use std::time::{Duration, Instant};

use crate::store::error::StoreError;
use crate::store::open::Store;
use crate::store::transact::now_ms;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How long marked deliveries and archived runs are kept.
const RUNS_MS: i64 = 30 * DAY_MS;
/// How long the sum of a session is kept that spends nothing more.
const SPENDING_MS: i64 = 90 * DAY_MS;
/// How many rows of each kind are removed at once, so that others wait briefly. The rest go the next time.
const BATCH: usize = 500;
/// How often old rows are looked for.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// Where each kind of row is, and which are old: those that match when the parameter is the oldest time that stays.
const OLD: [(&str, &str, &str, i64); 3] = [
    ("delivery", "seq", "delivered_ms < ?1", RUNS_MS),
    // What is not delivered yet needs its run.
    (
        "run",
        "seq",
        "archived_ms < ?1 AND NOT is_live AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.key = run.key
         AND delivered_ms IS NULL)",
        RUNS_MS,
    ),
    ("spending", "session", "touched_ms < ?1", SPENDING_MS),
];

impl Store {
    /// Removes rows that are old at this time, some hundreds of each kind at once: what was delivered and runs that were
    /// archived 30 days before, and what sessions have spent that spent nothing for 90 days. What waits to be delivered stays:
    /// a clock that jumps must not cost a result. Returns how many were removed.
    ///
    /// # Errors
    ///
    /// When the database cannot be used; nothing is removed then.
    pub fn prune(&self, now_ms: i64) -> Result<usize, StoreError> {
        let is_due = self.read(|connection, _| {
            // An older release does not say when it has added something.
            let mut is_due: bool = connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM spending WHERE touched_ms IS NULL)",
                (),
                |row| row.get(0),
            )?;
            for (table, _, old, keep) in OLD {
                let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {old})");
                is_due |=
                    connection.query_row(&sql, [now_ms.saturating_sub(keep)], |row| row.get::<_, bool>(0))?;
            }
            Ok(is_due)
        })?;
        if !is_due {
            return Ok(0);
        }
        self.write(|transaction, _| {
            transaction.execute("UPDATE spending SET touched_ms = ?1 WHERE touched_ms IS NULL", [now_ms])?;
            let mut removed = 0;
            for (table, id, old, keep) in OLD {
                let sql = format!(
                    "DELETE FROM {table} WHERE {id} IN (SELECT {id} FROM {table} WHERE {old} LIMIT {BATCH})"
                );
                removed += transaction.execute(&sql, [now_ms.saturating_sub(keep)])?;
            }
            Ok(removed)
        })
    }

    /// Removes old rows, at most once an hour. A failure costs space and nothing else, so it is ignored.
    pub(super) fn prune_now_and_then(&self) {
        let now = Instant::now();
        let mut open = self.lock();
        if open.pruned.is_some_and(|pruned| now.duration_since(pruned) < EVERY) {
            return;
        }
        open.pruned = Some(now);
        drop(open);
        drop(self.prune(now_ms()));
    }
}
