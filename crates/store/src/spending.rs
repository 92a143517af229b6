//! Each session's spending on delegated work.

use rusqlite::{Connection, OptionalExtension, params};

use super::error::StoreError;
use super::open::Store;
use super::transact::now_ms;

impl Store {
    /// Returns the session's spending, in USD; 0 for an unknown session.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn spent(&self, session: &str) -> Result<f64, StoreError> {
        self.read(|connection, _| {
            let mut query = connection.prepare("SELECT cost FROM spending WHERE session = ?1")?;
            Ok(query.query_row([session], |row| row.get(0)).optional()?.unwrap_or(0.0))
        })
    }

    /// Adds to the session's spending, counted over all processes. A cost that is negative, infinite or not a number counts as 0.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then added.
    pub fn add_spending(&self, session: &str, cost: f64) -> Result<(), StoreError> {
        let open = self.ready()?;
        add_spending(&open.connection, session, cost).map_err(|source| self.failed(source))
    }
}

/// Adds to the spending of an account. A cost that is negative, infinite or not a number counts as 0.
pub(crate) fn add_spending(connection: &Connection, session: &str, cost: f64) -> rusqlite::Result<()> {
    if !cost.is_finite() || cost <= 0.0 {
        return Ok(());
    }
    connection.execute(
        "INSERT INTO spending (session, cost, touched_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (session) DO UPDATE
         SET cost = cost + excluded.cost, touched_ms = excluded.touched_ms",
        params![session, cost, now_ms()],
    )?;
    Ok(())
}
