//! The shared state of a queue, its tickets and its permits, and the threads that talk to the stores.
//!
//! One thread per store runs all updates of this process, so that no other thread waits for the disk. Requests during
//! an update are combined in the next one, so that hundreds of simultaneous runs cost a few transactions. The thread polls
//! the store only while a run here waits for other processes, or while an early child may block them. It ends when it
//! has no work.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::claims::{Claims, TicketUpdate};
use super::state::State;
use sanitizer::chain;

/// The state of a queue, behind its lock.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<State>);

impl Shared {
    /// Changes the queue, admits every run that may start, and has the stores asked if there is something to ask.
    pub(super) fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> R) -> R {
        // The clock of tokio, so that tests can move it.
        let now = tokio::time::Instant::now().into_std();
        let mut state = self.0.lock();
        state.end_pauses(now);
        let result = change(&mut state);
        state.settle(now);
        for store in 0..state.claims.len() {
            if let Err(error) = self.wake(&mut state.claims[store], store) {
                state.give_up(store, &format!("no thread can be started: {}", chain(&error)));
                state.settle(now);
            }
        }
        result
    }

    /// Wakes the thread of a store if it has work, or starts it.
    fn wake(self: &Arc<Self>, claims: &mut Claims, store: usize) -> io::Result<()> {
        match claims.due_in() {
            Some(_) if !claims.has_thread => {
                let shared = Arc::clone(self);
                let name = "subagent-queue".into();
                thread::Builder::new().name(name).spawn(move || shared.run_updates(store))?;
                claims.has_thread = true;
            }
            Some(Duration::ZERO) => drop(claims.has_work_now.notify_one()),
            _ => (),
        }
        Ok(())
    }

    /// Runs the updates of a store until there is no work. Runs on the store's thread.
    fn run_updates(self: &Arc<Self>, store: usize) {
        while let Some(mut update) = self.next_update(store) {
            let result = update.run();
            self.change(|state| state.finish_update(store, update, result));
        }
    }

    /// Waits until there is something to do. `None` ends the thread.
    fn next_update(&self, store: usize) -> Option<TicketUpdate> {
        let mut state = self.0.lock();
        loop {
            let claims = &mut state.claims[store];
            let Some(due) = claims.due_in() else {
                claims.has_thread = false;
                return None;
            };
            let has_work = Arc::clone(&claims.has_work_now);
            if due.is_zero() || has_work.wait_for(&mut state, due).timed_out() {
                return Some(state.claims[store].begin_update());
            }
        }
    }
}
