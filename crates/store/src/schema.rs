//! The tables, and the migrations from older versions.

use rusqlite::{Connection, TransactionBehavior};

/// One migration per version, forward only. A released migration never changes.
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
    // 2: background runs, deliveries of their ends, and requests from other processes. A release that knows only
    // version 1 and already has the file open leaves `touched_ms` empty.
    "CREATE TABLE run (
        seq INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        run_id TEXT NOT NULL,
        session_key TEXT NOT NULL,
        session TEXT NOT NULL,
        process TEXT,
        is_live INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        archive_at_ms INTEGER,
        archived_ms INTEGER,
        directory TEXT,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX run_of_session ON run (session, created_ms);
    CREATE INDEX run_created ON run (created_ms);
    CREATE INDEX run_live ON run (process) WHERE is_live;
    CREATE INDEX run_due ON run (archive_at_ms) WHERE archived_ms IS NULL AND NOT is_live;
    CREATE INDEX run_archived ON run (archived_ms) WHERE archived_ms IS NOT NULL;
    CREATE TABLE delivery (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        key TEXT NOT NULL,
        body TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        process TEXT,
        delivered_ms INTEGER
    ) STRICT;
    CREATE INDEX delivery_open ON delivery (session) WHERE delivered_ms IS NULL;
    CREATE INDEX delivery_of_run ON delivery (key) WHERE delivered_ms IS NULL;
    CREATE INDEX delivery_done ON delivery (delivered_ms) WHERE delivered_ms IS NOT NULL;
    CREATE TABLE request (
        seq INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        action TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX request_of_run ON request (key);
    ALTER TABLE spending ADD COLUMN touched_ms INTEGER;",
    // 3: lists of background runs omit those that a call has waited for. In a string of the body the quotes would be escaped.
    "ALTER TABLE run ADD COLUMN is_foreground INTEGER NOT NULL DEFAULT 0;
    UPDATE run SET is_foreground = 1 WHERE instr(body, '\"isForeground\":true');",
    // 4: runs that calls have waited for are forgotten by their end, and the quota still finds the directories of runs that
    // are forgotten.
    "CREATE INDEX run_waited_for ON run (ended_ms) WHERE is_foreground;
    CREATE TABLE forgotten (
        directory TEXT PRIMARY KEY,
        created_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;",
    // 5: workflows, and the run with its whole result for each name in a workflow.
    "CREATE TABLE workflow (
        key TEXT PRIMARY KEY,
        process TEXT,
        is_live INTEGER NOT NULL,
        started_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        is_stopping INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX workflow_due ON workflow (expires_ms);
    CREATE TABLE workflow_run (
        seq INTEGER PRIMARY KEY,
        workflow TEXT NOT NULL,
        name TEXT NOT NULL,
        run TEXT NOT NULL,
        digest TEXT NOT NULL,
        result TEXT,
        UNIQUE (workflow, name)
    ) STRICT;
    CREATE INDEX workflow_run_of ON workflow_run (run);",
    // 6: the account that a run has charged, and its charged cost and tokens; the tokens of all runs of a workflow, and the process
    // that continues an interrupted one.
    "ALTER TABLE run ADD COLUMN account TEXT;
    ALTER TABLE run ADD COLUMN cost REAL NOT NULL DEFAULT 0;
    ALTER TABLE run ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE workflow ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE workflow ADD COLUMN continued_by TEXT;",
    // 7: lists of the newest runs read only these.
    "DROP INDEX run_of_session;
    DROP INDEX run_created;
    CREATE INDEX run_of_session ON run (session, is_foreground, created_ms);
    CREATE INDEX run_created ON run (is_foreground, created_ms);",
];

/// The newest version that this release supports.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).expect("there are a handful of migrations")
}

/// The version of a file; 0 for a new one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", (), |row| row.get(0))
}

/// Migrates the file to the newest version, in one transaction.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= newest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated it while we waited.
    let done = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "user_version", newest())?;
    }
    transaction.commit()
}
