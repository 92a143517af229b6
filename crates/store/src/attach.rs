//! One store per agent directory, and one warning when it cannot be used.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::error::StoreError;
use super::open::{Inner, Store};
use files::private;

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
