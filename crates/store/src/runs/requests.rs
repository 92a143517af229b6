//! Requests to the process that works on a run.

use rusqlite::{Connection, Transaction};

use crate::error::StoreError;
use crate::open::Store;

/// A request to the process that works on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The run.
    pub key: String,
    /// The action, in words that sender and receiver agree on.
    pub action: String,
    /// The argument of the action.
    pub text: String,
}

/// Requests for live runs of one process.
const OWN_REQUESTS: &str = "FROM request JOIN run USING (key) WHERE run.is_live AND run.process = ?1";

impl Store {
    /// Sends a request to the process that works on a run. `false`: the run is not live, or not known.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then sent.
    pub fn send_request(&self, key: &str, action: &str, text: &str) -> Result<bool, StoreError> {
        self.write(|transaction, _| {
            let asked = transaction.execute(
                "INSERT INTO request (key, action, text) SELECT key, ?2, ?3 FROM run WHERE key = ?1 AND is_live",
                [key, action, text],
            )?;
            Ok(asked > 0)
        })
    }

    /// Removes and returns the requests for runs of this process, in sending order.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then removed.
    pub fn take_requests(&self) -> Result<Vec<Request>, StoreError> {
        // There are nearly always none, and each write wakes the other processes.
        if self.read(|connection, presence| list(connection, presence.id()))?.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction, own| {
            let found = list(transaction, own.id())?;
            transaction.execute(
                &format!("DELETE FROM request WHERE seq IN (SELECT request.seq {OWN_REQUESTS})"),
                [own.id()],
            )?;
            Ok(found)
        })
    }
}

fn list(connection: &Connection, process: &str) -> rusqlite::Result<Vec<Request>> {
    let sql = format!("SELECT request.key, request.action, request.text {OWN_REQUESTS} ORDER BY request.seq");
    connection
        .prepare(&sql)?
        .query_map([process], |row| Ok(Request { key: row.get(0)?, action: row.get(1)?, text: row.get(2)? }))?
        .collect()
}

/// Removes the requests to a finished run.
pub(super) fn forget_requests(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM request WHERE key = ?1", [key])?;
    Ok(())
}
