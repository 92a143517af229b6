//! The request of a run to the queue, its wait for a slot, and its wait without a slot for its provider's quota.

use std::future::pending;
use std::pin::pin;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::select;
use tokio::time::{sleep, sleep_until};

use super::queue::{Group, Permit, Queue, QuotaWait, Request, Ticket, UserCap, WaitStatus};
use super::writers::writes;
use crate::run::{
    AdmittedRun, BoxFuture, HostCallbacks, ProviderGate, QuotaWaitTooLong, off_thread, store_of,
};
use pi_events::RateLimit;

/// The longest wait for a quota, and its setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxWait(Duration, &'static str);

impl MaxWait {
    pub(super) fn of(ready: &AdmittedRun, callbacks: &dyn HostCallbacks) -> Self {
        let quota = &ready.resolved.config.quota;
        if callbacks.is_interactive() {
            Self(quota.max_wait, "quota.maxWaitMs")
        } else {
            Self(quota.headless_max_wait, "quota.headlessMaxWaitMs")
        }
    }

    fn exceeded(self, QuotaWait { provider, until }: &QuotaWait) -> QuotaWaitTooLong {
        let Self(limit, setting) = self;
        let next = until.map(|until| until.saturating_duration_since(Instant::now()));
        QuotaWaitTooLong { provider: provider.to_string(), next, limit, setting }
    }
}

/// Returns the request of a run with its limits. Waits at most for the disk.
pub(super) async fn request(ready: &AdmittedRun, group: Option<(Group, usize)>) -> Request {
    let config = &ready.resolved.config;
    let agent_dir = ready.spec.context.agent_dir.clone();
    if let Some((launcher, max_concurrent)) = ready.launcher() {
        return Request {
            provider: ready.provider().map(str::to_owned),
            max_concurrent,
            lane: Some(launcher.to_owned()),
            early_limit: 0,
            ahead_limit: 0,
            per_user: None,
            group,
            writes: None,
        };
    }
    let store = off_thread(move || store_of(&agent_dir)).await.ok().flatten();
    Request {
        provider: ready.provider().map(str::to_owned),
        max_concurrent: config.max_concurrent,
        lane: None,
        early_limit: config.parallel_concurrency,
        ahead_limit: config.boot_ahead,
        per_user: store.map(|store| UserCap { store, cap: config.max_concurrent_per_user }),
        group,
        writes: writes(ready),
    }
}

/// Waits for the permit. `show` gets each status of a wait that is longer than `notice_delay`.
///
/// # Errors
///
/// Fails if a wait for the provider's quota would be longer than `max_wait`.
pub(super) async fn permit(
    mut ticket: Ticket,
    max_wait: MaxWait,
    notice_delay: Duration,
    mut show: impl FnMut(WaitStatus),
) -> Result<Permit, QuotaWaitTooLong> {
    let mut status = ticket.status();
    let mut notice_due = pin!(sleep(notice_delay));
    let mut is_shown = false;
    let mut waits_since = None;
    loop {
        let seen = status.borrow_and_update().clone();
        if let WaitStatus { position: Some(position), reason, blocked_by, .. } = &seen {
            tracing::debug!(target: "queue", position, reason, blocked_by = blocked_by.as_deref(), "the run waits");
        }
        let limit = match &seen.quota {
            None => {
                waits_since = None;
                None
            }
            Some(quota) => {
                let now = Instant::now();
                let limit = *waits_since.get_or_insert(now) + max_wait.0;
                if quota.until.unwrap_or(now).max(now) > limit {
                    return Err(max_wait.exceeded(quota));
                }
                Some(limit)
            }
        };
        if is_shown && seen.position.is_some() && !seen.is_unanswered {
            show(seen);
        }
        let at_limit = async {
            match limit {
                Some(limit) => sleep_until(limit.into()).await,
                None => pending().await,
            }
        };
        select! {
            biased;
            permit = ticket.admitted() => return Ok(permit),
            Ok(()) = status.changed() => {}
            () = &mut notice_due, if !is_shown => is_shown = true,
            () = at_limit => {}
        }
    }
}

/// The slot of a run, and its provider.
pub(super) struct Gate {
    request: Request,
    max_wait: MaxWait,
    /// The newest is the slot. The older ones keep the write lock of the run.
    permits: Mutex<Vec<Permit>>,
}

impl Gate {
    pub(super) async fn new(ready: &AdmittedRun, permit: Permit, max_wait: MaxWait) -> Self {
        let request = request(ready, permit.group()).await;
        // A run whose provider is unknown shares its wait with no other run.
        let own = || format!("the provider of {}", ready.id().get());
        let provider = Some(request.provider.unwrap_or_else(own));
        // The first permit keeps the write lock.
        let request = Request { writes: None, provider, ..request };
        Self { request, max_wait, permits: Mutex::new(vec![permit]) }
    }
}

impl ProviderGate for Gate {
    fn limited(&self, limit: RateLimit) {
        let Some((provider, until)) =
            self.request.provider.as_deref().zip(Instant::now().checked_add(limit.delay))
        else {
            return;
        };
        if limit.is_quota {
            Queue::shared().pause_for_quota(provider, until);
        } else {
            Queue::shared().pause(provider, until);
        }
    }

    fn answered(&self) {
        if let Some(provider) = &self.request.provider {
            Queue::shared().answered(provider);
        }
    }

    fn wait_for_quota<'a>(
        &'a self,
        show: &'a (dyn Fn(Option<Duration>) + Sync),
    ) -> BoxFuture<'a, Result<(), QuotaWaitTooLong>> {
        Box::pin(async move {
            for permit in &*self.permits.lock() {
                permit.park();
            }
            let ticket = Queue::shared().enter(self.request.clone());
            let shown = |seen: WaitStatus| {
                let until = seen.quota.and_then(|quota| quota.until);
                show(until.map(|until| until.saturating_duration_since(Instant::now())));
            };
            let permit = permit(ticket, self.max_wait, Duration::ZERO, shown).await?;
            self.permits.lock().push(permit);
            Ok(())
        })
    }
}
