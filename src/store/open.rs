//! The store as a whole.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, TransactionBehavior};

use super::connect::{connect, is_remote};
use super::error::StoreError;
#[cfg(unix)]
use super::presence::take;
use super::presence::{Heartbeat, LockFile, Presence, identity, lock_of, refused};
use super::schema;
use crate::files::{layout, private};

/// How long another process may take to open the database before we go on without it. It takes milliseconds; only one of
/// them migrates, and a process that is stopped meanwhile holds up all others.
const OPENING: Duration = Duration::from_secs(5);

/// What the processes of one user share. Clones are cheap and speak of the same connection. Every method blocks.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

pub(super) struct Inner {
    path: PathBuf,
    /// Where the damaged file went that was found, if there was one.
    aside: Option<PathBuf>,
    open: Mutex<Open>,
}

/// What one caller at a time uses. The connection is closed before others may think that we are gone.
pub(super) struct Open {
    pub connection: Connection,
    pub presence: Presence,
    path: PathBuf,
    /// What the file is known by that the connection is to.
    identity: Option<(u64, u64)>,
    /// Whether there is no connection at the moment.
    is_lost: bool,
    /// How often another file was found at its path.
    pub generation: u32,
    /// How often the database was opened.
    pub connections: u32,
    /// The names under which this process was known before.
    pub former: Vec<String>,
    pub heartbeat: Heartbeat,
    /// When old rows were last looked for.
    pub pruned: Option<Instant>,
    /// Two copies of this addon in one process bring two copies of `SQLite`, each of which would undo the locks of the other:
    /// those are the process's, not the copy's.
    #[cfg(unix)]
    _only_copy: Option<LockFile>,
}

impl Store {
    /// Opens the store of an agent directory: `subagents/runs.db` in it, readable by its owner only. What dead processes
    /// have left beside it is removed.
    ///
    /// [`super::attach`] is the way to come by one: this here opens it again each time.
    ///
    /// # Errors
    ///
    /// When it cannot be used. A damaged file is kept under another name and a new one begun; a newer one is not touched.
    pub fn open(agent_dir: &Path) -> Result<Self, StoreError> {
        let directory = agent_dir.join(layout::SUBAGENTS);
        let path = layout::store(agent_dir);
        let processes = directory.join("processes");
        private::create_dir_all(&processes)
            .map_err(|source| StoreError::Io { path: processes.clone(), source })?;
        if is_remote(&processes) {
            return Err(StoreError::NotShared { path });
        }
        // To the end: whoever sweeps holds each lock for a moment, and that of a process that is about to take its own would
        // look to it like a second copy.
        let alone = alone(&processes)?;
        #[cfg(unix)]
        let only_copy = take(&lock_of(&processes, &this_process()))?
            .ok_or_else(|| StoreError::SecondCopy { path: path.clone() })?;
        let presence = Presence::show(&processes)?;
        let connected = connect(&path)?;
        presence.sweep();
        drop(alone);
        let open = Open {
            path: path.clone(),
            identity: identity(&path),
            is_lost: false,
            generation: 0,
            connections: 1,
            former: Vec::new(),
            connection: connected.connection,
            presence,
            heartbeat: Heartbeat::default(),
            pruned: None,
            #[cfg(unix)]
            _only_copy: Some(only_copy),
        };
        Ok(Self(Arc::new(Inner { path, aside: connected.aside, open: Mutex::new(open) })))
    }

    /// A store in memory, with the same tables, for what the one on disk does not take at the moment. Only this process sees
    /// it, and it is gone with its last clone; [`Self::move_runs_to`] saves what it holds.
    ///
    /// # Errors
    ///
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        // An empty path names no file, so that this store is never taken for lost.
        let path = PathBuf::new();
        let failed = |source| StoreError::Database { path: PathBuf::from(":memory:"), source };
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        schema::migrate(&mut connection).map_err(failed)?;
        let open = Open {
            path: path.clone(),
            identity: None,
            is_lost: false,
            generation: 0,
            connections: 1,
            former: Vec::new(),
            connection,
            presence: Presence::unshared(),
            heartbeat: Heartbeat::default(),
            pruned: None,
            #[cfg(unix)]
            _only_copy: None,
        };
        Ok(Self(Arc::new(Inner { path, aside: None, open: Mutex::new(open) })))
    }

    /// The name under which this process is known to the others. It changes when somebody removes the sign that this
    /// process is alive; what is known of this process moves along.
    #[must_use]
    pub fn process(&self) -> String {
        self.lock().presence.id().to_owned()
    }

    /// Whether both are the same one.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Where the damaged file went that was found at the start, if there was one.
    #[must_use]
    pub fn set_aside(&self) -> Option<&Path> {
        self.0.aside.as_deref()
    }

    /// Recovers after somebody has removed files of ours, or another process has set the database aside.
    pub(super) fn mend(&self, open: &mut Open) -> Result<(), StoreError> {
        let directory = open.presence.directory().to_owned();
        let presence = Presence::show(&directory)?;
        // Asked while the file is open: the number of one that is gone is given to the next.
        if !open.is_lost && identity(&self.0.path) != open.identity {
            open.identity = None;
        }
        // Closed before the file is opened again, which would let go of this one's locks.
        open.is_lost = true;
        open.connection = Connection::open_in_memory().map_err(|source| self.failed(source))?;
        let alone = alone(&directory)?;
        let mut connected = connect(&self.0.path)?;
        drop(alone);
        move_along(&mut connected.connection, open.presence.id(), presence.id())
            .map_err(|source| self.failed(source))?;
        let found = identity(&self.0.path);
        open.generation += u32::from(connected.aside.is_some() || open.identity != found);
        open.connections += 1;
        open.identity = found;
        open.is_lost = false;
        open.connection = connected.connection;
        open.former.push(open.presence.id().to_owned());
        open.presence = presence;
        Ok(())
    }

    /// What one caller at a time uses, after [`Self::mend`] where that is needed.
    pub(super) fn ready(&self) -> Result<MutexGuard<'_, Open>, StoreError> {
        let mut open = self.lock();
        if !open.is_intact() {
            self.mend(&mut open)?;
        }
        Ok(open)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock()
    }

    /// What `SQLite` says, as an error of the store.
    pub(super) fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.0.path.clone(), source }
    }

    pub(super) fn downgrade(&self) -> std::sync::Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    pub(super) fn upgrade(inner: &std::sync::Weak<Inner>) -> Option<Self> {
        inner.upgrade().map(Self)
    }
}

impl Open {
    /// Whether others can see that we are alive, and use the same database.
    pub(super) fn is_intact(&self) -> bool {
        !self.is_lost && self.presence.is_shown() && identity(&self.path) == self.identity
    }
}

/// Gives what a process has to its next name.
fn move_along(connection: &mut Connection, from: &str, to: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for table in ["place", "run", "delivery"] {
        transaction.execute(&format!("UPDATE {table} SET process = ?1 WHERE process = ?2"), [to, from])?;
    }
    transaction.commit()
}

/// No other process opens or sweeps the store for as long as this value lives.
fn alone(processes: &Path) -> Result<LockFile, StoreError> {
    let opening = lock_of(processes, "opening");
    LockFile::take(&opening, OPENING)
        .map_err(|source| refused(&opening, source))?
        .ok_or(StoreError::Busy { path: opening })
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Store").field(&self.0.path).finish()
    }
}

/// What all copies of this addon in this process call it, and no other process. Process ids are told apart by the boot and
/// by the namespace that they belong to, because containers may share an agent directory.
#[cfg(unix)]
fn this_process() -> String {
    let namespace = std::fs::read_link("/proc/self/ns/pid")
        .map(|link| link.to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>());
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned());
    let mut name = format!("process-{}", std::process::id());
    // Where there is no such thing, there are no such containers either.
    for part in [namespace, boot].into_iter().flatten() {
        name.push('-');
        name.push_str(&part);
    }
    name
}
