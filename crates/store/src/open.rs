//! The store itself: opening it, and recovering when its files are removed.
//!
//! There is one store per agent directory, and one warning when it cannot be used.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use files::exclusive::identity;
use files::{FileError, layout, private};
use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::connect::{connect, is_damage, is_remote};
use crate::error::StoreError;
use crate::presence::{Heartbeat, LockFile, Presence, lock_of};
use crate::schema;

/// The maximum wait while another process opens the database, which takes milliseconds. Only one process migrates, and
/// if it is stopped, it blocks all others.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// The state shared by the processes of one user. Clones are cheap and share one connection. Every method blocks.
#[derive(Clone)]
pub struct Store(pub(super) Arc<Inner>);

pub(super) struct Inner {
    path: PathBuf,
    /// The path to which a damaged file was moved when the store was opened.
    aside: Option<PathBuf>,
    /// The time of the last attach.
    attached: Mutex<Instant>,
    open: Mutex<Open>,
}

/// The content guarded by the mutex. The connection closes before the presence lock is released.
pub(super) struct Open {
    pub connection: Connection,
    pub presence: Presence,
    /// Identity of the file that the connection has open.
    identity: Option<(u64, u64)>,
    /// True if there is currently no connection.
    is_lost: bool,
    /// The number of times the database was replaced by another file.
    pub generation: u32,
    /// The number of times the database was opened.
    pub connections: u32,
    pub heartbeat: Heartbeat,
    /// The time at which old rows were last pruned.
    pub pruned: Option<Instant>,
    /// The time at which a write last gave up waiting for another process, unless a later write has succeeded.
    pub busy_since: Option<Instant>,
    /// Held because each copy of this addon brings its own copy of `SQLite`. File locks belong to the process, so each
    /// copy would release the locks of the other.
    only_copy: Option<LockFile>,
}

impl Store {
    /// Opens the store of an agent directory: `subagents/runs.db`, readable by its owner only. Removes lock files that
    /// dead processes left there.
    ///
    /// Use [`crate::open`] instead, which opens each store once.
    ///
    /// # Errors
    ///
    /// If it cannot be used. A damaged file is kept under another name and replaced by a new one. The file of a newer release is
    /// not changed.
    pub fn open(agent_dir: &Path) -> Result<Self, StoreError> {
        let path = layout::store(agent_dir);
        let processes = layout::processes(agent_dir);
        private::create_dir_all(&processes).map_err(FileError::at(&processes))?;
        if is_remote(&processes) {
            return Err(StoreError::NotShared(path));
        }
        // Held to the end: a sweep takes each lock for a moment, which a process that is about to take its own would
        // mistake for a second copy.
        let lock = lock_store(&processes)?;
        let only_copy = only_copy(&processes, &path)?;
        let presence = Presence::show(&processes)?;
        let connected = connect(&path)?;
        presence.sweep();
        drop(lock);
        Ok(Self::new(path, connected, presence, only_copy))
    }

    /// Returns a store in memory with the same tables, for writes that the store on disk refuses at the moment. Only this process
    /// sees it, and it is dropped with its last clone; [`Self::move_runs_to`] saves its content.
    ///
    /// # Errors
    ///
    /// If memory is exhausted.
    pub fn in_memory() -> Result<Self, StoreError> {
        // An empty path names no file, so this store never counts as lost.
        let path = PathBuf::new();
        let failed = |source| StoreError::Database { path: PathBuf::from(":memory:"), source };
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        schema::migrate(&mut connection).map_err(failed)?;
        Ok(Self::new(path, (connection, None), Presence::unshared(), None))
    }

    fn new(
        path: PathBuf,
        (connection, aside): (Connection, Option<PathBuf>),
        presence: Presence,
        only_copy: Option<LockFile>,
    ) -> Self {
        let open = Mutex::new(Open {
            connection,
            presence,
            identity: identity(&path),
            is_lost: false,
            generation: 0,
            connections: 1,
            heartbeat: Heartbeat::default(),
            pruned: None,
            busy_since: None,
            only_copy,
        });
        Self(Arc::new(Inner { path, aside, attached: Mutex::new(Instant::now()), open }))
    }

    /// The id of this process in the store. It changes when its lock file is removed by hand; the rows of this process
    /// move to the new id.
    #[must_use]
    pub fn process(&self) -> String {
        self.lock().presence.id().to_owned()
    }

    /// Returns true if both are clones of one store.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the path to which a damaged file was moved when the store was opened, if there was one.
    #[must_use]
    pub fn set_aside(&self) -> Option<&Path> {
        self.0.aside.as_deref()
    }

    /// Returns the number of times the database was replaced by an empty one, because its file was removed or damaged.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn times_replaced(&self) -> Result<u32, StoreError> {
        Ok(self.ready()?.generation)
    }

    /// Closes all files until the store is used again, unless something in it belongs to this process.
    fn rest(&self) {
        // A store in use needs its files.
        let Some(mut open) = self.0.open.try_lock() else { return };
        let own = "SELECT EXISTS (SELECT 1 FROM place WHERE process = ?1)
                   OR EXISTS (SELECT 1 FROM run WHERE is_live AND process = ?1)
                   OR EXISTS (SELECT 1 FROM workflow WHERE is_live AND process = ?1)
                   OR EXISTS (SELECT 1 FROM delivery WHERE delivered_ms IS NULL AND process = ?1)";
        let has_own = |open: &Open| open.connection.query_row(own, [open.presence.id()], |row| row.get(0));
        if open.is_lost || has_own(&open).unwrap_or(true) {
            return;
        }
        let Ok(nothing) = Connection::open_in_memory() else { return };
        open.is_lost = true;
        open.connection = nothing;
        open.presence.hide();
        open.only_copy = None;
    }

    /// Reopens the database after its files were removed, or after another process has set it aside.
    pub(super) fn reopen(&self, open: &mut Open) -> Result<(), StoreError> {
        let presence = open.presence.show_again()?;
        // Compared while the file is open, because the inode number of a deleted file is reused.
        if !open.is_lost && identity(&self.0.path) != open.identity {
            open.identity = None;
        }
        // Closed before the file is opened again: closing later would release the locks of the new connection.
        open.is_lost = true;
        open.connection = Connection::open_in_memory().map_err(|source| self.failed(source))?;
        let lock = lock_store(presence.directory())?;
        if open.only_copy.is_none() {
            open.only_copy = only_copy(presence.directory(), &self.0.path)?;
        }
        let (mut connection, aside) = connect(&self.0.path)?;
        drop(lock);
        move_rows(&mut connection, open.presence.id(), presence.id())
            .map_err(|source| self.failed(source))?;
        let found = identity(&self.0.path);
        open.generation += u32::from(aside.is_some() || open.identity != found);
        open.connections += 1;
        open.identity = found;
        open.is_lost = false;
        open.connection = connection;
        open.busy_since = None;
        open.presence = presence;
        Ok(())
    }

    /// Locks the state, and recovers with [`Self::reopen`] if necessary.
    pub(super) fn ready(&self) -> Result<MutexGuard<'_, Open>, StoreError> {
        let mut open = self.lock();
        if !self.is_intact(&open) {
            self.reopen(&mut open)?;
        }
        Ok(open)
    }

    /// Returns true if there is a connection, our presence lock still exists, and the database file was not replaced.
    pub(super) fn is_intact(&self, open: &Open) -> bool {
        !open.is_lost && open.presence.is_shown() && identity(&self.0.path) == open.identity
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock()
    }

    /// Converts an error of `SQLite`. If the file was replaced or is damaged, the next use opens it again, and moves a
    /// damaged file away.
    pub(super) fn failed_in(&self, open: &mut Open, source: rusqlite::Error) -> StoreError {
        open.is_lost |= is_damage(&source) || source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
        self.failed(source)
    }

    /// Converts an error of `SQLite`.
    pub(super) fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::of(&self.0.path, source)
    }
}

/// Moves the rows of this process from its old id to the new one.
fn move_rows(connection: &mut Connection, from: &str, to: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for table in ["place", "run", "delivery", "workflow"] {
        transaction.execute(&format!("UPDATE {table} SET process = ?1 WHERE process = ?2"), [to, from])?;
    }
    transaction.commit()
}

/// Keeps other copies of this addon in this process out. On Windows its lock files do.
fn only_copy(processes: &Path, store: &Path) -> Result<Option<LockFile>, StoreError> {
    #[cfg(unix)]
    return LockFile::try_acquire(&lock_of(processes, &this_process()))?
        .map(Some)
        .ok_or_else(|| StoreError::SecondCopy(store.to_owned()));
    #[cfg(not(unix))]
    {
        let _ = (processes, store);
        Ok(None)
    }
}

/// Locks the store against being opened or swept by another process, until the value is dropped.
fn lock_store(processes: &Path) -> Result<LockFile, StoreError> {
    LockFile::acquire(&lock_of(processes, "opening"), OPEN_TIMEOUT)
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Store").field(&self.0.path).finish()
    }
}

/// An id that all copies of this addon in this process share, and no other process has. Process ids are qualified by
/// boot and pid namespace, because containers may share an agent directory.
#[cfg(unix)]
fn this_process() -> String {
    let namespace = std::fs::read_link("/proc/self/ns/pid")
        .map(|link| link.to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>());
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned());
    let mut name = format!("process-{}", std::process::id());
    // If these files do not exist, the system has no such containers.
    for part in [namespace, boot].into_iter().flatten() {
        name.push('-');
        name.push_str(&part);
    }
    name
}

/// Pause after a failed attempt to open the store, which may have taken seconds.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// The number of stores that keep their files open although this process has nothing in them. Each store has five
/// files.
const MAX_IDLE: usize = 4;
/// The maximum time that a store takes to close after this process has dropped it.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// The result of [`attach`].
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// The store. Without it, its data live in memory only, and nothing is shared with other processes.
    pub store: Option<Store>,
    /// A message for the user, given once per process and directory.
    pub notice: Option<String>,
}

/// The state of one agent directory.
#[derive(Default)]
struct Known {
    store: Weak<Inner>,
    /// True if a store has been open before.
    had_store: bool,
    failed: Option<Instant>,
    warned: bool,
}

/// Returns the store of an agent directory, and opens it if necessary. Blocks, for milliseconds at the first call.
///
/// Never fails: if the store cannot be used, there is none, a notice says why, and a later call tries again.
#[must_use]
pub fn attach(agent_dir: &Path) -> Attached {
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);
    // Every spelling of the path must lead to the same store, because a second connection counts as a second copy. Only
    // an existing directory can be canonicalized. If it cannot be created, opening the store reports why.
    let _ = private::create_dir_all(agent_dir);
    let directory = std::fs::canonicalize(agent_dir)
        .or_else(|_| std::path::absolute(agent_dir))
        .unwrap_or_else(|_| agent_dir.to_owned());
    let mut all = KNOWN.lock();
    let attached = find_or_open(all.entry(directory.clone()).or_default(), &directory);
    if let Some(store) = &attached.store {
        *store.0.attached.lock() = Instant::now();
    }
    let mut stores: Vec<_> = all.values().filter_map(|known| known.store.upgrade().map(Store)).collect();
    drop(all);
    if stores.len() > MAX_IDLE {
        stores.sort_by_cached_key(|store| Reverse(*store.0.attached.lock()));
        stores.iter().skip(MAX_IDLE).for_each(Store::rest);
    }
    attached
}

fn find_or_open(known: &mut Known, directory: &Path) -> Attached {
    if let Some(store) = known.store.upgrade().map(Store) {
        return Attached { store: Some(store), notice: None };
    }
    if known.failed.is_some_and(|failed| failed.elapsed() < RETRY_AFTER) {
        return Attached::default();
    }
    match open(directory, known.had_store) {
        Ok(store) => {
            known.store = Arc::downgrade(&store.0);
            known.had_store = true;
            known.failed = None;
            let notice = store.set_aside().map(|aside| {
                format!(
                    "the store of runs was damaged; it is kept as `{}`, and a new one was started",
                    aside.display()
                )
            });
            Attached { store: Some(store), notice }
        }
        Err(error) => {
            known.failed = Some(Instant::now());
            let notice = format!(
                "`maxConcurrentPerUser` has no effect and the spending of sessions is not saved: {}",
                error.in_full()
            );
            Attached { store: None, notice: (!std::mem::replace(&mut known.warned, true)).then_some(notice) }
        }
    }
}

/// Opens a store. Another thread of this process may still be closing the store that was open `before`, which looks like a second
/// copy of the addon for a moment.
fn open(directory: &Path, before: bool) -> Result<Store, StoreError> {
    let deadline = Instant::now() + CLOSE_TIMEOUT;
    loop {
        match Store::open(directory) {
            Err(StoreError::SecondCopy { .. }) if before && Instant::now() < deadline => sleep(PAUSE),
            opened => return opened,
        }
    }
}
