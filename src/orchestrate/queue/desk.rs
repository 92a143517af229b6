//! What speaks to the store for the lane, so that nobody else has to wait for it.
//!
//! One thread takes all turns of this process. Whatever comes up while a turn is taken is done together in the next one,
//! so that hundreds of runs at once cost a few transactions. It looks at the store again and again only while somebody
//! here waits for another process, or while an early child might stand in another one's way; it ends when it has had
//! nothing to do for a while.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

pub(super) use crate::store::Kind;
use crate::store::Store;

use super::claims::{Answer, Claims, Next, Turn};
use super::entrance::Shared;

/// How long the thread stays without work. A call that starts several runs one after the other finds it still there.
const LINGER: Duration = Duration::from_secs(5);

/// The one who speaks to a store.
#[derive(Debug)]
pub(super) struct Desk {
    store: Store,
    queue: Weak<Shared>,
    state: Mutex<Claims>,
    work: Condvar,
}

/// A part of the cap on all processes, or a place in the queue for it. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Claim {
    number: u64,
    desk: Arc<Desk>,
}

impl Claim {
    /// What it is known by; no two claims of a process have the same.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The early child is used now, so it counts, whatever the answer was.
    pub(super) fn keep(&self) {
        let mut state = self.desk.lock();
        if state.keep(self.number) {
            self.desk.wake(&mut state);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut state = self.desk.lock();
        if state.give_back(self.number) {
            self.desk.wake(&mut state);
        }
    }
}

impl Desk {
    pub(super) fn new(store: Store, queue: Weak<Shared>) -> Arc<Self> {
        Arc::new(Self { store, queue, state: Mutex::default(), work: Condvar::new() })
    }

    /// Whether this is the desk of that store.
    pub(super) fn serves(&self, store: &Store) -> bool {
        self.store.is(store)
    }

    /// Asks for a part of the cap. The answer comes later; `None` means that there is no cap now.
    pub(super) fn claim(self: &Arc<Self>, cap: usize, kind: Kind) -> Option<Claim> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut state = self.lock();
        if state.is_paused() || !self.wake(&mut state) {
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        state.add(number, cap, kind);
        Some(Claim { number, desk: Arc::clone(self) })
    }

    /// Why there is no cap, once.
    pub(super) fn take_notice(&self) -> Option<String> {
        self.lock().take_notice()
    }

    fn lock(&self) -> MutexGuard<'_, Claims> {
        self.state.lock()
    }

    /// Gets the work done. `false` when there is nobody who could do it.
    fn wake(self: &Arc<Self>, state: &mut Claims) -> bool {
        if state.is_served {
            self.work.notify_one();
            return true;
        }
        let desk = Arc::clone(self);
        match thread::Builder::new().name("subagent-lane".into()).spawn(move || desk.serve()) {
            Ok(_) => state.is_served = true,
            Err(error) => state.warn(&format!("no thread can be started: {error}")),
        }
        state.is_served
    }

    /// The life of the thread.
    fn serve(&self) {
        while let Some(mut turn) = self.next_turn() {
            let result = self.store.take_turn(&turn.leaving, &mut turn.bids, turn.spare);
            let answers = {
                let mut state = self.lock();
                match result {
                    Ok(wanting) => state.apply(turn, wanting),
                    Err(error) => state.fail(&error, turn.leaving),
                }
            };
            self.tell(&answers);
        }
    }

    /// Waits until there is something to do. `None` ends the thread.
    fn next_turn(&self) -> Option<Turn> {
        let mut state = self.lock();
        loop {
            let pause = match state.next() {
                Next::Now => break,
                Next::After(pause) => Some(pause),
                Next::Idle => None,
            };
            if self.work.wait_for(&mut state, pause.unwrap_or(LINGER)).timed_out() {
                if pause.is_some() {
                    break;
                }
                if matches!(state.next(), Next::Idle) {
                    state.is_served = false;
                    return None;
                }
            }
        }
        Some(state.turn())
    }

    /// Tells the lane, which may call us again meanwhile.
    fn tell(&self, answers: &[Answer]) {
        let Some(queue) = self.queue.upgrade().filter(|_| !answers.is_empty()) else { return };
        let mut notice = self.take_notice();
        queue.change(|state| {
            for answer in answers {
                match answer {
                    Answer::Started(number) => state.started(&queue, *number, &mut notice),
                    Answer::Refused(number) => state.refused(*number),
                }
            }
        });
        self.lock().put_back(notice);
    }
}
