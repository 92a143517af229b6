//! The queue, its tickets and its permits, the lock around their state, and the threads that talk to the stores.
//!
//! One thread per store runs all updates of this process, so that no other thread waits for the disk. Requests during
//! an update are combined in the next one, so that hundreds of simultaneous runs cost a few transactions. The thread polls
//! the store only while a run here waits for other processes, or while an early child may block them. It ends when it
//! has no work.

use std::future::pending;
use std::io;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::sleep_until;

use super::claims::{Claims, TicketUpdate};
use super::request::{Group, Request, WaitStatus};
use super::state::{State, WaitsFor};
use sanitizer::chain;

/// Bounds how many children exist at once, and lets them start in the order of arrival. Clones share one queue.
#[derive(Clone, Debug, Default)]
pub struct Queue(Arc<Shared>);

impl Queue {
    /// The queue that all runs of this process share.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Queue> = LazyLock::new(Queue::default);
        &SHARED
    }

    /// Takes a position at the end of the queue. Never blocks.
    pub fn enter(&self, request: Request) -> Ticket {
        let (id, status) = self.0.change(|state| state.enter(request));
        Ticket { queue: Arc::clone(&self.0), id, status, is_used: false }
    }

    /// Records that the provider has asked for a pause: no new child of it starts before `until`. The later end of two pauses
    /// counts. Admitted runs are not affected.
    pub fn pause(&self, provider: &str, until: Instant) {
        self.0.change(|state| state.pause(provider, until, false));
    }

    /// Holds back all runs of a provider whose quota is used up: no new child of it starts before `until`. Then one run tries,
    /// and the others follow once the provider has [answered](Self::answered) it. Runs that were admitted already continue.
    pub fn pause_for_quota(&self, provider: &str, until: Instant) {
        self.0.change(|state| state.pause(provider, until, true));
    }

    /// Records that a provider has answered a request.
    pub fn answered(&self, provider: &str) {
        self.0.change(|state| state.answered(provider));
    }

    /// Lets one run of each provider try its quota now. Returns the providers.
    #[must_use]
    pub fn try_quotas(&self) -> Vec<String> {
        self.0.change(super::state::State::try_now)
    }

    /// A permit for a child that no run has asked for yet: only while no run waits, while there is room, and while fewer
    /// than the request's `early_limit` exist. Never blocks: if the cap on all processes has no room, the permit is evicted
    /// later.
    #[must_use]
    pub fn early(&self, request: &Request) -> Option<EarlyPermit> {
        self.early_for(request, WaitsFor::ArrivingCall)
    }

    /// A permit for a child that waits for any call: as [`Self::early`], without a limit of its own. It counts towards
    /// no call before it is [adopted](EarlyPermit::adopt), and is evicted before the others if a run needs a slot.
    #[must_use]
    pub fn spare(&self, request: &Request) -> Option<EarlyPermit> {
        self.early_for(&Request { group: None, ..request.clone() }, WaitsFor::AnyCall)
    }

    /// A permit for the child of a run that cannot start yet. The run takes the child when it has a permit of its own, so this
    /// one counts towards no limit of this process. At most `ahead_limit` such children exist above `max_concurrent`. Never blocks,
    /// as [`Self::early`].
    #[must_use]
    pub fn ahead(&self, request: &Request) -> Option<EarlyPermit> {
        self.early_for(&Request { group: None, writes: None, ..request.clone() }, WaitsFor::NextRun)
    }

    fn early_for(&self, request: &Request, waits_for: WaitsFor) -> Option<EarlyPermit> {
        let (id, evicted) = self.0.change(|state| state.early(request, waits_for))?;
        Some(EarlyPermit { permit: Permit { queue: Arc::clone(&self.0), id }, evicted })
    }

    /// Returns true if a spare permit could be adopted for this request now.
    #[must_use]
    pub fn may_adopt(&self, request: &Request) -> bool {
        self.0.change(|state| state.may_adopt(request))
    }
}

/// A position in the queue. Dropping it leaves the queue, and the later tickets move up.
///
/// It must be awaited or dropped: a ticket that is only kept holds its position in the queue, and the slot that it
/// gets.
#[derive(Debug)]
#[must_use = "dropping this leaves the queue"]
pub struct Ticket {
    queue: Arc<Shared>,
    id: u64,
    status: watch::Receiver<WaitStatus>,
    /// True if its permit was handed out.
    is_used: bool,
}

impl Ticket {
    /// Returns a receiver of its current and later states.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<WaitStatus> {
        self.status.clone()
    }

    /// Waits for the permit. Cancel safe: the position in the queue, or the permit, stays with this value. Gives one permit;
    /// after that it never resolves again.
    pub async fn admitted(&mut self) -> Permit {
        while !self.is_used {
            let WaitStatus { position, rate_limited_until, .. } = self.status.borrow_and_update().clone();
            if position.is_none() {
                self.is_used = true;
                return Permit { queue: Arc::clone(&self.queue), id: self.id };
            }
            let end_of_pause = async {
                match rate_limited_until {
                    Some(until) => sleep_until(until.into()).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                Ok(()) = self.status.changed() => {}
                // Nothing else happens then.
                () = end_of_pause => self.queue.change(|_| ()),
            }
        }
        pending().await
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_used {
            self.queue.change(|state| state.leave(self.id));
        }
    }
}

/// The right to have one child. Dropping it frees the slot, for this process and for all others of the user.
#[derive(Debug)]
pub struct Permit {
    queue: Arc<Shared>,
    id: u64,
}

impl Permit {
    /// Returns the notice for the user if the cap on all processes of this user is not active. Given once per process,
    /// and taken once.
    pub fn take_notice(&mut self) -> Option<String> {
        self.queue.change(|state| state.take_notice(self.id))
    }

    /// Returns the call that this permit counts towards, with its limit.
    #[must_use]
    pub fn group(&self) -> Option<(Group, usize)> {
        self.queue.change(|state| state.group_of(self.id))
    }

    /// Frees the slot while the run waits for its provider's quota. The run keeps its write lock until the permit is dropped.
    pub fn park(&self) {
        self.queue.change(|state| state.park(self.id));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.queue.change(|state| state.release(self.id));
    }
}

/// The right to have a child that no run has asked for yet. Dropping it frees the slot.
#[derive(Debug)]
pub struct EarlyPermit {
    permit: Permit,
    evicted: watch::Receiver<bool>,
}

impl EarlyPermit {
    /// Waits until a run needs this slot and could not start otherwise. The permit must then be dropped soon. Cancel safe.
    pub async fn evicted(&mut self) {
        if self.evicted.wait_for(|evicted| *evicted).await.is_err() {
            // Unreachable: the queue holds the sender as long as this permit exists.
            pending::<()>().await;
        }
    }

    /// Lets a spare permit count towards the call of this request from now on, as an early one. `false` if it was evicted before,
    /// if the call runs its maximum number at once, or while its provider pauses: the permit must be dropped.
    #[must_use]
    pub fn adopt(&self, request: &Request) -> bool {
        self.permit.queue.change(|state| state.adopt(self.permit.id, request))
    }

    /// Lets the run of this request write to its work tree from now on. `false` while another run does or waits for it: the
    /// permit must be dropped, and the run must enter the queue.
    #[must_use]
    pub fn write(&self, request: &Request) -> bool {
        self.permit.queue.change(|state| state.write(self.permit.id, request))
    }

    /// Returns the permit of the run that the child was booted for. Never refused: the slot is counted already.
    #[must_use]
    pub fn into_permit(self) -> Permit {
        let Self { permit, .. } = self;
        permit.queue.change(|state| state.confirm(permit.id));
        permit
    }
}

/// The state of a queue, behind its lock.
#[derive(Debug, Default)]
struct Shared(Mutex<State>);

impl Shared {
    /// Changes the queue, admits every run that may start, and has the stores asked if there is something to ask.
    fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> R) -> R {
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
