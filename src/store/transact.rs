//! Reads and writes: transactions, and waiting for other processes.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::StoreError;
use super::open::{Open, Store};
use super::presence::Presence;
use crate::text::figures::epoch_ms;

/// How long a write waits for another process that holds the database.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two attempts. `SQLite` has already waited in each of them.
const PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Reads without a transaction.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection, &Presence) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let open = self.ready()?;
        work(&open.connection, &open.presence).map_err(|source| self.failed(source))
    }

    /// Writes in one transaction, and waits up to five seconds for another process that holds the database.
    pub(super) fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>, &Presence) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let since = Instant::now();
        loop {
            // Other threads of this process can use the store between two attempts.
            let done =
                self.ready().and_then(|mut open| open.transact(&work).map_err(|source| self.failed(source)));
            match done {
                Err(error) if error.is_busy() && since.elapsed() < PATIENCE => thread::sleep(PAUSE),
                done => return done,
            }
        }
    }
}

impl Open {
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
pub(crate) fn now_ms() -> i64 {
    epoch_ms(SystemTime::now())
}
