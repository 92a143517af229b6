//! The thread that talks to a store for the queue, so that nothing else waits for the disk.
//!
//! It takes all turns of this process. What comes up during a turn is done together in the next one, so that hundreds of
//! runs at once cost a few transactions. It polls the store only while a run here waits for other processes, or while an
//! early child may stand in their way; it ends when it has had nothing to do for a while.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::claims::{Answers, Batch, Claims};
use crate::store::{Store, WhenFull};

/// How long the thread stays without work. A call that starts several runs one after the other finds it still there.
const LINGER: Duration = Duration::from_secs(5);

/// Hears what the store says to the claims. It may call the worker.
pub(super) trait StoreListener: Debug + Send + Sync {
    fn answered(&self, answers: Answers);
}

/// Claims parts of the cap on all processes in one store.
#[derive(Debug)]
pub(super) struct StoreWorker {
    store: Store,
    listener: Weak<dyn StoreListener>,
    claims: Mutex<Claims>,
    work: Condvar,
}

/// A part of the cap on all processes, or a place in the queue for it. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Claim {
    number: u64,
    worker: Arc<StoreWorker>,
}

impl Claim {
    /// No two claims of a process have the same.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The early child is used now, so it counts, whatever the answer was.
    pub(super) fn keep(&self) {
        self.worker.change(|claims| claims.keep(self.number));
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.worker.change(|claims| claims.give_back(self.number));
    }
}

impl StoreWorker {
    pub(super) fn new(store: Store, listener: Weak<dyn StoreListener>) -> Arc<Self> {
        Arc::new(Self { store, listener, claims: Mutex::default(), work: Condvar::new() })
    }

    /// Whether this is the worker of that store.
    pub(super) fn serves(&self, store: &Store) -> bool {
        self.store.is(store)
    }

    /// Asks for a part of the cap. The answer comes later.
    ///
    /// # Errors
    ///
    /// When no cap is in force now; the first time with the reason, in words for the user.
    pub(super) fn claim(self: &Arc<Self>, cap: usize, when_full: WhenFull) -> Result<Claim, Option<String>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut claims = self.claims.lock();
        if claims.is_paused() || !self.wake(&mut claims) {
            return Err(claims.take_notice());
        }
        claims.add(number, cap, when_full);
        Ok(Claim { number, worker: Arc::clone(self) })
    }

    /// Changes the claims, and has the work done if the change says that there is some.
    fn change(self: &Arc<Self>, change: impl FnOnce(&mut Claims) -> bool) {
        let mut claims = self.claims.lock();
        if change(&mut claims) {
            self.wake(&mut claims);
        }
    }

    /// Wakes the thread, or starts one. `false` when that is impossible.
    fn wake(self: &Arc<Self>, claims: &mut Claims) -> bool {
        if claims.has_thread {
            self.work.notify_one();
            return true;
        }
        let worker = Arc::clone(self);
        match thread::Builder::new().name("subagent-queue".into()).spawn(move || worker.run()) {
            Ok(_) => claims.has_thread = true,
            Err(error) => claims.warn(&format!("no thread can be started: {error}")),
        }
        claims.has_thread
    }

    /// What the thread does.
    fn run(&self) {
        while let Some(mut batch) = self.next_batch() {
            let result = self.store.take_turn(&batch.leaving, &mut batch.requests, batch.spare);
            let answers = {
                let mut claims = self.claims.lock();
                match result {
                    Ok(wanting) => claims.apply(batch, wanting),
                    Err(error) => claims.fail(&error, batch.leaving),
                }
            };
            if let Some(listener) = self.listener.upgrade().filter(|_| answers != Answers::default()) {
                listener.answered(answers);
            }
        }
    }

    /// Waits until there is something to do. `None` ends the thread.
    fn next_batch(&self) -> Option<Batch> {
        let mut claims = self.claims.lock();
        loop {
            let due = claims.due_in();
            if due.is_some_and(|due| due.is_zero()) {
                break;
            }
            let is_over = self.work.wait_for(&mut claims, due.unwrap_or(LINGER)).timed_out();
            if is_over && due.is_some() {
                break;
            }
            if is_over && claims.due_in().is_none() {
                claims.has_thread = false;
                return None;
            }
        }
        Some(claims.batch())
    }
}
