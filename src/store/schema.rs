//! The tables, and how older files become newer ones.

use rusqlite::{Connection, TransactionBehavior};

/// One step for each version, forward only. A step that was released is never changed.
const MIGRATIONS: &[&str] = &[
    // 1: the queue of all processes of this user, and what sessions have spent.
    "CREATE TABLE place (
        seq INTEGER PRIMARY KEY,
        process TEXT NOT NULL,
        started INTEGER NOT NULL,
        cap INTEGER NOT NULL,
        beat INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE spending (
        session TEXT PRIMARY KEY,
        cost REAL NOT NULL
    ) STRICT, WITHOUT ROWID;",
];

/// The newest version that is known here.
pub(super) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).expect("there are a handful of migrations")
}

/// The version of a file; 0 is a new one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", (), |row| row.get(0))
}

/// Brings the file to the newest version, all steps or none.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= newest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while we waited.
    let done = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "user_version", newest())?;
    }
    transaction.commit()
}
