//! Reads and writes: transactions, and waiting for other processes.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connect::BUSY_TIMEOUT;
use super::error::StoreError;
use super::open::{Open, Store};
use super::presence::Presence;
use sanitizer::figures::epoch_ms;

/// The maximum wait of a write for another process that holds the database.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between two attempts. `SQLite` has already waited in each of them.
const PAUSE: Duration = Duration::from_millis(20);
/// The time after a failed wait during which no other write waits as long. A process that may read the database can hold its lock
/// for good, and must not cost each run the whole wait.
const SHORT_WAIT_PERIOD: Duration = Duration::from_secs(60);
/// The maximum wait of a statement in that time.
const SHORT_BUSY_TIMEOUT: Duration = Duration::from_millis(20);

impl Store {
    /// Reads without a transaction.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection, &Presence) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut open = self.ready()?;
        let done = work(&open.connection, &open.presence);
        done.map_err(|source| self.failed_in(&mut open, source))
    }

    /// Writes in one transaction, and waits up to five seconds for another process that holds the database. After such
    /// a wait has failed, writes hardly wait for the next minute.
    pub(super) fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>, &Presence) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let since = Instant::now();
        loop {
            // Other threads of this process can use the store between two attempts.
            let mut open = self.ready()?;
            let done = open.transact(&work).map_err(|source| self.failed_in(&mut open, source));
            if !done.as_ref().is_err_and(StoreError::is_busy) {
                open.set_busy_since(None);
                return done;
            }
            let known = open.busy_since.filter(|busy_since| busy_since.elapsed() < SHORT_WAIT_PERIOD);
            if known.is_some() || since.elapsed() >= WRITE_TIMEOUT {
                open.set_busy_since(known.or_else(|| Some(Instant::now())));
                return done;
            }
            drop(open);
            thread::sleep(PAUSE);
        }
    }
}

impl Open {
    /// Records the time since which another process has held the database, or `None` if the last write did not wait in
    /// vain.
    fn set_busy_since(&mut self, busy_since: Option<Instant>) {
        if busy_since.is_some() != self.busy_since.is_some() {
            // Fails only if the connection is in use, and nothing else has it.
            let _ = self.connection.busy_timeout(if busy_since.is_some() {
                SHORT_BUSY_TIMEOUT
            } else {
                BUSY_TIMEOUT
            });
        }
        self.busy_since = busy_since;
    }

    fn transact<T>(
        &mut self,
        work: impl Fn(&Transaction<'_>, &Presence) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction, &self.presence)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// The time of day in milliseconds since 1970.
#[must_use]
pub fn now_ms() -> i64 {
    epoch_ms(SystemTime::now())
}
