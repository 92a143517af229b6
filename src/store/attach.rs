//! One store for each agent directory, and one warning when there is none.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::error::StoreError;
use super::open::{Inner, Store};
use crate::files::private;

/// How long to wait before the next try after a failure, which may have taken seconds.
const RETRY: Duration = Duration::from_secs(60);
/// How long a store that this process has let go of may take to be closed.
const CLOSING: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// What [`attach`] found.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// The store; without one, what it would keep lives in memory and what it would share is not shared.
    pub store: Option<Store>,
    /// What the user must know of it. Said once per process and directory.
    pub notice: Option<String>,
}

/// What is known of an agent directory.
#[derive(Default)]
struct Known {
    store: Weak<Inner>,
    /// Whether there ever was one.
    had_store: bool,
    failed: Option<Instant>,
    warned: bool,
}

/// The store of an agent directory: the one that is open, or a new one. Blocks, at the first call for milliseconds.
///
/// Where it cannot be used nothing fails: there is none then, a notice says so, and a later call tries again.
#[must_use]
pub fn attach(agent_dir: &Path) -> Attached {
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);
    // The same directory has to be the same one in all its spellings: a second connection would be a second copy.
    // Only what exists has one spelling. Where it cannot be made, opening says why.
    let _ = private::create_dir_all(agent_dir);
    let directory = std::fs::canonicalize(agent_dir)
        .or_else(|_| std::path::absolute(agent_dir))
        .unwrap_or_else(|_| agent_dir.to_owned());
    let mut known = KNOWN.lock();
    let known = known.entry(directory.clone()).or_default();
    if let Some(store) = Store::upgrade(&known.store) {
        return Attached { store: Some(store), notice: None };
    }
    if known.failed.is_some_and(|failed| failed.elapsed() < RETRY) {
        return Attached::default();
    }
    match open(&directory, known.had_store) {
        Ok(store) => {
            known.store = store.downgrade();
            known.had_store = true;
            known.failed = None;
            let notice = store.set_aside().map(|aside| {
                format!(
                    "the store of runs was damaged; it is kept as `{}`, and a new one was begun",
                    aside.display()
                )
            });
            Attached { store: Some(store), notice }
        }
        Err(error) => {
            known.failed = Some(Instant::now());
            let notice = format!(
                "`maxConcurrentPerUser` is not in force and what sessions spend is not kept: {}",
                error.in_full()
            );
            Attached { store: None, notice: (!std::mem::replace(&mut known.warned, true)).then_some(notice) }
        }
    }
}

/// Opens a store. Another thread of this process may still be closing the one that was open `before`; that looks like a
/// second copy of the addon for a moment.
fn open(directory: &Path, before: bool) -> Result<Store, StoreError> {
    let deadline = Instant::now() + CLOSING;
    loop {
        match Store::open(directory) {
            Err(StoreError::SecondCopy { .. }) if before && Instant::now() < deadline => sleep(PAUSE),
            opened => return opened,
        }
    }
}
